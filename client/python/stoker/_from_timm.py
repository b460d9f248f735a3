"""Converts the ops that timm.data.create_transform adds to torchvision's, but for those that do the same."""

from __future__ import annotations

import math
from typing import Any

from . import _ops as ops
from ._conversion import Conversion, Refusal, converts, numbers, refuse_unless
from ._from_torchvision import interpolation_of


@converts("timm", "RandomResizedCropAndInterpolation")
def _random_resized_crop(to: Conversion, op: Any, place: str) -> None:
    refuse_unless(
        not isinstance(op.interpolation, (list, tuple)),
        "draws the interpolation too: give one, such as train_interpolation='bicubic'",
    )
    crop = ops.RandomResizedCrop(numbers(op.size), numbers(op.scale), numbers(op.ratio), interpolation_of(op))
    to.image(crop, linear=True)


@converts("timm", "RandomErasing")
def _random_erasing(to: Conversion, op: Any, place: str) -> None:
    refuse_unless(not op.rand_color, "paints one drawn color: give re_mode='pixel' or re_mode='const'")
    refuse_unless(op.min_count == op.max_count == 1, "erases several rectangles: give re_count=1")
    ratio = [math.exp(bound) for bound in op.log_aspect_ratio]
    to.erase(op.probability, [op.min_area, op.max_area], ratio, None if op.per_pixel else 0)


@converts("timm", "Mixup")
def _mixup(to: Conversion, op: Any, place: str) -> None:
    """timm mixes a sample with the one at the same place of the reversed batch, Stoker with the one before it."""
    refuse_unless(op.mode in ("batch", "elem"), f"mode {op.mode!r} mixes pairs: give 'batch' or 'elem'")
    refuse_unless(op.mix_prob == 1, "prob leaves some batches alone: give 1")
    refuse_unless(op.cutmix_minmax is None, "cutmix_minmax draws rectangles otherwise: give cutmix_alpha alone")
    refuse_unless(op.correct_lam, "correct_lam=False leaves λ as it was before the rectangle was cut: give True")
    alphas = {"MixUp": op.mixup_alpha, "CutMix": op.cutmix_alpha}
    mixes = [
        getattr(ops, name)(alpha=alpha, num_classes=op.num_classes, per_sample=op.mode == "elem" or None)
        for name, alpha in alphas.items()
        if alpha > 0
    ]
    refuse_unless(bool(mixes), "mixes nothing: leave it out")
    switch = float(op.switch_prob)
    to.batch(mixes[0] if len(mixes) == 1 else ops.RandomChoice(mixes, [1 - switch, switch]))
    if op.label_smoothing > 0:
        to.batch(ops.LabelSmoothing(op.label_smoothing))


@converts("timm", "RandAugment", "AutoAugment", "AugMixAugment")
def _policy(to: Conversion, op: Any, place: str) -> None:
    raise Refusal(
        "draws other ops and magnitudes than torchvision's: leave auto_augment out and put torchvision's RandAugment or "
        "TrivialAugmentWide before MaybeToTensor"
    )
