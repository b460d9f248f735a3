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
    noise = op.rand_color or op.per_pixel
    refuse_unless(not noise, "paints noise: give re_mode='const'")
    refuse_unless(op.min_count == op.max_count == 1, "erases several rectangles: give re_count=1")
    ratio = [math.exp(bound) for bound in op.log_aspect_ratio]
    to.erase(op.probability, [op.min_area, op.max_area], ratio, 0)


@converts("timm", "RandAugment", "AutoAugment", "AugMixAugment")
def _policy(to: Conversion, op: Any, place: str) -> None:
    raise Refusal(
        "draws other ops and magnitudes than torchvision's: leave auto_augment out and put torchvision's RandAugment or "
        "TrivialAugmentWide before MaybeToTensor"
    )
