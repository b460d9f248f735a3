"""Converts the ops of torchvision.transforms and of its v2."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any, Optional

from . import _ops as ops
from ._conversion import (
    FOREIGN_CODE,
    Conversion,
    Refusal,
    colored,
    converts,
    fill_of,
    levels,
    map_fill_of,
    numbers,
    one,
    refuse_unless,
)
from ._image_size import borders
from ._op import dtype_name

# Pillow's numbers, which old releases of torchvision have.
_PILLOW = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic"}


def interpolation_of(op: Any, known: Sequence[str] = ("nearest", "bilinear", "bicubic", "lanczos")) -> str:
    """The name of the op's interpolation, which must be one of ``known``."""
    mode = getattr(op, "interpolation", "bilinear")
    mode = _PILLOW.get(mode, mode) if isinstance(mode, int) else getattr(mode, "value", mode)
    if mode not in known:
        raise Refusal(f"interpolation {mode!r} is none of {', '.join(known)}")
    return str(mode)


_TURNS = ("nearest", "bilinear")


def _antialias(op: Any) -> bool:
    return getattr(op, "antialias", True) is not False  # None and "warn" are what old releases have.


@converts("torchvision", "RandomResizedCrop")
def _random_resized_crop(to: Conversion, op: Any, place: str) -> None:
    crop = ops.RandomResizedCrop(
        numbers(op.size), numbers(op.scale), numbers(op.ratio), interpolation_of(op), _antialias(op)
    )
    to.image(crop, linear=True)


@converts("torchvision", "Resize")
def _resize(to: Conversion, op: Any, place: str) -> None:
    refuse_unless(op.size is not None, "size is None")
    to.image(ops.Resize(numbers(op.size), interpolation_of(op), op.max_size, _antialias(op)), linear=True)


@converts("torchvision", "ScaleJitter")
def _scale_jitter(to: Conversion, op: Any, place: str) -> None:
    jitter = ops.ScaleJitter(
        numbers(op.target_size), numbers(op.scale_range), interpolation_of(op), _antialias(op)
    )
    to.image(jitter, linear=True)


@converts("torchvision", "RandomShortestSize")
def _random_shortest_size(to: Conversion, op: Any, place: str) -> None:
    resize = ops.RandomShortestSize(numbers(op.min_size), op.max_size, interpolation_of(op), _antialias(op))
    to.image(resize, linear=True)


@converts("torchvision", "CenterCrop")
def _center_crop(to: Conversion, op: Any, place: str) -> None:
    to.image(ops.CenterCrop(numbers(op.size)))


def _fills(op: Any) -> tuple[Any, Optional[int]]:
    """What the op paints on images and on label maps."""
    return levels(fill_of(op)), map_fill_of(op)


@converts("torchvision", "RandomCrop")
def _random_crop(to: Conversion, op: Any, place: str) -> None:
    padding = _padding_of(op)
    mode = getattr(op.padding_mode, "value", op.padding_mode)
    if mode == "constant" or not (padding or op.pad_if_needed):
        crop = ops.RandomCrop(numbers(op.size), padding, bool(op.pad_if_needed), *_fills(op))
        pads = bool(padding or op.pad_if_needed)
        to.image(crop, linear=not pads, absolute=pads and colored(op))
        return
    refuse_unless(not op.pad_if_needed, f"pads small images by padding_mode {mode!r}: set pad_if_needed=False")
    to.image(ops.Pad(padding, padding_mode=mode), linear=True)  # type: ignore[arg-type]
    to.image(ops.RandomCrop(numbers(op.size)), linear=True)


def _padding_of(op: Any) -> Optional[list[int]]:
    """Left, top, right and bottom of a RandomCrop's padding; None where it has none."""
    if op.padding in (None, 0):
        return None
    listed = borders(numbers(op.padding))
    if ".v2." in type(op).__module__:  # It keeps left, right, top, bottom.
        listed = [listed[0], listed[2], listed[1], listed[3]]
    return listed if any(listed) else None


@converts("torchvision", "Pad")
def _pad(to: Conversion, op: Any, place: str) -> None:
    mode = getattr(op.padding_mode, "value", op.padding_mode)
    fill, map_fill = _fills(op) if mode == "constant" else (None, None)
    pad = ops.Pad(borders(numbers(op.padding)), fill, mode, map_fill)
    to.image(pad, linear=mode != "constant", absolute=mode == "constant" and colored(op))


@converts("torchvision", "RandomZoomOut")
def _random_zoom_out(to: Conversion, op: Any, place: str) -> None:
    fill, map_fill = _fills(op)
    to.image(ops.RandomZoomOut(fill, numbers(op.side_range), op.p, map_fill), absolute=colored(op))


@converts("torchvision", "RandomHorizontalFlip", "RandomVerticalFlip")
def _random_horizontal_flip(to: Conversion, op: Any, place: str) -> None:
    to.image(getattr(ops, type(op).__name__)(op.p), linear=True)


@converts("torchvision", "ColorJitter")
def _color_jitter(to: Conversion, op: Any, place: str) -> None:
    to.image(ops.ColorJitter(*(numbers(value) for value in (op.brightness, op.contrast, op.saturation, op.hue))))


@converts("torchvision", "Grayscale")
def _grayscale(to: Conversion, op: Any, place: str) -> None:
    refuse_unless(op.num_output_channels == 3, "num_output_channels must be 3: images have three channels here")
    to.image(ops.Grayscale(3))


@converts("torchvision", "RandomGrayscale", "RandomEqualize", "RandomAutocontrast", "RandomInvert")
def _random_grayscale(to: Conversion, op: Any, place: str) -> None:
    to.image(getattr(ops, type(op).__name__)(op.p))


@converts("torchvision", "RandomPosterize")
def _random_posterize(to: Conversion, op: Any, place: str) -> None:
    to.image(ops.RandomPosterize(op.bits, op.p))


@converts("torchvision", "RandomSolarize")
def _random_solarize(to: Conversion, op: Any, place: str) -> None:
    to.image(ops.RandomSolarize(op.threshold, op.p), absolute=True)


@converts("torchvision", "RandomAdjustSharpness")
def _random_adjust_sharpness(to: Conversion, op: Any, place: str) -> None:
    to.image(ops.RandomAdjustSharpness(op.sharpness_factor, op.p))


@converts("torchvision", "RandomRotation")
def _random_rotation(to: Conversion, op: Any, place: str) -> None:
    refuse_unless(not op.expand, "expand would give images of several sizes")
    refuse_unless(op.center is None, "turns about the image's center only")
    turn = ops.RandomRotation(numbers(op.degrees), interpolation_of(op, _TURNS), *_fills(op))
    to.image(turn, absolute=colored(op))


@converts("torchvision", "RandomAffine")
def _random_affine(to: Conversion, op: Any, place: str) -> None:
    refuse_unless(getattr(op, "center", None) is None, "turns about the image's center only")
    interpolation = interpolation_of(op, _TURNS)
    degrees, translate, scale, shear = (numbers(value) for value in (op.degrees, op.translate, op.scale, op.shear))
    affine = ops.RandomAffine(degrees, translate, scale, shear, interpolation, *_fills(op))
    to.image(affine, absolute=colored(op))


@converts("torchvision", "RandomPerspective")
def _random_perspective(to: Conversion, op: Any, place: str) -> None:
    perspective = ops.RandomPerspective(op.distortion_scale, op.p, interpolation_of(op, _TURNS), *_fills(op))
    to.image(perspective, absolute=colored(op))


@converts("torchvision", "ElasticTransform")
def _elastic_transform(to: Conversion, op: Any, place: str) -> None:
    elastic = ops.ElasticTransform(numbers(op.alpha), numbers(op.sigma), interpolation_of(op, _TURNS), *_fills(op))
    to.image(elastic, absolute=colored(op))


@converts("torchvision", "JPEG")
def _jpeg(to: Conversion, op: Any, place: str) -> None:
    to.image(ops.JPEG(numbers(op.quality)))


@converts("torchvision", "GaussianNoise")
def _gaussian_noise(to: Conversion, op: Any, place: str) -> None:
    refuse_unless(op.clip, "clip=False lets values of uint8 wrap around: set clip=True")
    to.image(ops.GaussianNoise(op.mean, op.sigma))


@converts("torchvision", "GaussianBlur")
def _gaussian_blur(to: Conversion, op: Any, place: str) -> None:
    to.image(ops.GaussianBlur(numbers(op.kernel_size), numbers(op.sigma)))


@converts("torchvision", "RandomErasing")
def _random_erasing(to: Conversion, op: Any, place: str) -> None:
    random = isinstance(op.value, str) or op.value is None  # v2 keeps None where value="random" was given.
    to.erase(op.p, numbers(op.scale), numbers(op.ratio), None if random else numbers(op.value))


@converts("torchvision", "RandAugment")
def _rand_augment(to: Conversion, op: Any, place: str) -> None:
    to.image(
        ops.RandAugment(op.num_ops, op.magnitude, op.num_magnitude_bins, interpolation_of(op, _TURNS), *_fills(op)),
        absolute=True,
    )


@converts("torchvision", "AutoAugment")
def _auto_augment(to: Conversion, op: Any, place: str) -> None:
    policy = ops.AutoAugment(op.policy.value, interpolation_of(op, _TURNS), *_fills(op))
    to.image(policy, absolute=True)


@converts("torchvision", "AugMix")
def _aug_mix(to: Conversion, op: Any, place: str) -> None:
    mix = ops.AugMix(
        op.severity,
        op.mixture_width,
        op.chain_depth if op.chain_depth > 0 else -1,
        op.alpha,
        op.all_ops,
        interpolation_of(op, _TURNS),
        levels(fill_of(op)),
    )
    to.image(mix, absolute=True)


@converts("torchvision", "TrivialAugmentWide")
def _trivial_augment_wide(to: Conversion, op: Any, place: str) -> None:
    policy = ops.TrivialAugmentWide(op.num_magnitude_bins, interpolation_of(op, _TURNS), *_fills(op))
    to.image(policy, absolute=True)


@converts("torchvision", "RandomApply")
def _random_apply(to: Conversion, op: Any, place: str) -> None:
    inside = [one for inner in to.inner(op.transforms, place) for one in inner]
    if inside:
        to.image(ops.RandomApply(inside, op.p))


@converts("torchvision", "RandomChoice")
def _random_choice(to: Conversion, op: Any, place: str) -> None:
    choices = to.inner(op.transforms, place)
    if any(not inner for inner in choices):
        refuse_unless(bool(to.refused), "one of its choices does nothing")
        return
    choice = ops.RandomChoice([one(inner) for inner in choices], numbers(op.p))
    if all(one.name in ("MixUp", "CutMix") for inner in choices for one in inner):
        to.batch(choice)
    else:
        to.image(choice)


@converts("torchvision", "RandomOrder")
def _random_order(to: Conversion, op: Any, place: str) -> None:
    refuse_unless(len(op.transforms) <= 4, "has more than 24 orders: give four ops or fewer")
    inside = [one(inner) for inner in to.inner(op.transforms, place) if inner]
    if len(inside) > 1:
        to.image(ops.RandomChoice([ops.RandomApply(list(order), p=1.0) for order in permutations(inside)]))
    elif inside:
        to.image(inside[0])


@converts("torchvision", "RandomIoUCrop")
def _random_iou_crop(to: Conversion, op: Any, place: str) -> None:
    """Boxes are the field "boxes". What torchvision leaves to SanitizeBoundingBoxes goes here, and its rows of "labels"."""
    crop = ops.RandomIoUCrop(
        op.min_scale,
        op.max_scale,
        op.min_aspect_ratio,
        op.max_aspect_ratio,
        numbers(op.options),
        op.trials,
        labels=["labels"],
    )
    to.image(crop, linear=True)


@converts("torchvision", "SanitizeBoundingBoxes")
def _sanitize_bounding_boxes(to: Conversion, op: Any, place: str) -> None:
    """Boxes are the field "boxes", and the labels that torchvision looks for by default the field "labels"."""
    getter = op.labels_getter
    refuse_unless(
        getter is None or getter == "default",
        "labels_getter is code: put stoker.transforms.SanitizeBoundingBoxes in its place, and name in `labels` the "
        "fields that go with the boxes",
    )
    min_area = getattr(op, "min_area", None)  # Old releases have none.
    to.field(ops.SanitizeBoundingBoxes(op.min_size, min_area, labels=["labels"] if getter else None))


@converts("torchvision", "MixUp", "CutMix")
def _mix_up(to: Conversion, op: Any, place: str) -> None:
    """Without num_classes the labels are floats already, here as there."""
    to.batch(getattr(ops, type(op).__name__)(alpha=op.alpha, num_classes=op.num_classes))


@converts("timm", "MaybeToTensor")
@converts("torchvision", "ToTensor")
def _to_tensor(to: Conversion, op: Any, place: str) -> None:
    to.channels_first()
    if to.cast is None:
        to.to_float("float32", True)


@converts("timm", "MaybePILToTensor", "ToNumpy")
@converts("torchvision", "ToImage", "ToImageTensor", "PILToTensor")
def _to_image(to: Conversion, op: Any, place: str) -> None:
    to.channels_first()


@converts("torchvision", "ToDtype", "ConvertImageDtype", "ConvertDtype")
def _to_dtype(to: Conversion, op: Any, place: str) -> None:
    refuse_unless(not isinstance(op.dtype, dict), "dtype is given by type: give one for images")
    dtype = dtype_name(op.dtype)
    scale = bool(getattr(op, "scale", True))  # ConvertImageDtype always does.
    if dtype == "uint8" and to.cast is None:
        return
    refuse_unless(dtype in ("float32", "float16", "bfloat16"), f"dtype {dtype}: float32, float16 or bfloat16")
    to.to_float(dtype, scale)


@converts("torchvision", "Normalize")
def _normalize(to: Conversion, op: Any, place: str) -> None:
    to.normalized(ops.Normalize(numbers(op.mean), numbers(op.std)))


@converts("torchvision", "Identity", "ToPureTensor", "RGB")
def _identity(to: Conversion, op: Any, place: str) -> None:
    pass  # Images have three channels here, also those of gray files.


@converts("torchvision", "Lambda")
def _lambda(to: Conversion, op: Any, place: str) -> None:
    code = getattr(getattr(op, "lambd", None), "__code__", None)
    makes_rgb = code is not None and code.co_names == ("convert",) and "RGB" in code.co_consts
    refuse_unless(makes_rgb, FOREIGN_CODE)


@converts("torchvision", "ImageClassification")
def _image_classification(to: Conversion, op: Any, place: str) -> None:
    """What ``ResNet50_Weights.DEFAULT.transforms()`` and its like are."""
    to.image(ops.Resize(numbers(op.resize_size), interpolation_of(op), antialias=_antialias(op)))
    to.image(ops.CenterCrop(numbers(op.crop_size)))
    to.channels_first()
    to.to_float("float32", True)
    to.normalized(ops.Normalize(numbers(op.mean), numbers(op.std)))


@converts("torchvision", "ToPILImage")
def _to_pil_image(to: Conversion, op: Any, place: str) -> None:
    refuse_unless(to.cast is None, "comes after a conversion to floats")
