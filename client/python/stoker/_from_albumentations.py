"""Converts Albumentations' ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _ops as ops
from ._conversion import (
    Conversion,
    Follows,
    Forced,
    colored,
    converts,
    levels,
    numbers,
    one,
    probability,
    refuse_unless,
)
from ._op import Op

_TURNS = ("nearest", "bilinear")


def _always(op: Any) -> None:
    refuse_unless(probability(op) == 1, f"p={probability(op)} would give images of several sizes or types: p must be 1")


def _sometimes(op: Any, converted: Op) -> Op:
    return converted if probability(op) == 1 else ops.RandomApply([converted], probability(op))


_OPENCV = {0: "nearest", 1: "bilinear", 2: "bicubic", 3: "area", 4: "lanczos4", 5: "linear_exact", 6: "nearest_exact"}


def _opencv_interpolation(op: Any, known: Sequence[str] = ("nearest", "bilinear", "bicubic")) -> str:
    mode = _OPENCV.get(op.interpolation, str(op.interpolation))
    refuse_unless(mode in known, f"interpolation is OpenCV's {mode}: {', '.join(known)} are known")
    refuse_unless(getattr(op, "area_for_downscale", None) is None, "area_for_downscale: there is no area filter")
    return mode


def _black_border(op: Any) -> None:
    refuse_unless(op.border_mode == 0, "border_mode must be cv2.BORDER_CONSTANT")


def _symmetric(bounds: Any, what: str) -> float:
    low, high = _pair(bounds)
    refuse_unless(low == -high, f"{what} {(low, high)} is not symmetric about 0")
    return high


def _pair(bounds: Any) -> tuple[float, float]:
    if isinstance(bounds, (int, float)):
        return float(bounds), float(bounds)
    low, high = bounds
    return float(low), float(high)


@converts("albumentations", "RandomResizedCrop")
def _random_resized_crop(to: Conversion, op: Any, place: str) -> None:
    _always(op)
    crop = ops.RandomResizedCrop(
        numbers(op.size), numbers(op.scale), numbers(op.ratio), _opencv_interpolation(op), False
    )
    to.image(crop, linear=True)


@converts("albumentations", "Resize")
def _resize(to: Conversion, op: Any, place: str) -> None:
    _always(op)
    to.image(ops.Resize([op.height, op.width], _opencv_interpolation(op), None, False), linear=True)


@converts("albumentations", "SmallestMaxSize")
def _smallest_max_size(to: Conversion, op: Any, place: str) -> None:
    _always(op)
    refuse_unless(isinstance(op.max_size, int), "max_size must be one number")
    to.image(ops.Resize(op.max_size, _opencv_interpolation(op), None, False), linear=True)


@converts("albumentations", "CenterCrop")
def _center_crop(to: Conversion, op: Any, place: str) -> None:
    _always(op)
    if op.pad_if_needed:
        _black_border(op)
        refuse_unless(op.pad_position == "center" and not colored(op), "pads with black about the center only")
    to.image(ops.CenterCrop([op.height, op.width]))


@converts("albumentations", "RandomCrop")
def _random_crop(to: Conversion, op: Any, place: str) -> None:
    _always(op)
    refuse_unless(not op.pad_if_needed, "pad_if_needed pads otherwise than Stoker's RandomCrop: put a Pad before it")
    to.image(ops.RandomCrop([op.height, op.width]), linear=True)


@converts("albumentations", "Pad")
def _pad(to: Conversion, op: Any, place: str) -> None:
    _always(op)
    modes = {0: "constant", 1: "edge", 2: "symmetric", 4: "reflect"}
    refuse_unless(op.border_mode in modes, "border_mode wraps around")
    mode = modes[op.border_mode]
    pad = ops.Pad(numbers(op.padding), levels(op.fill) if mode == "constant" else None, mode)
    to.image(pad, linear=mode != "constant", absolute=mode == "constant" and colored(op))


@converts("albumentations", "HorizontalFlip", "VerticalFlip")
def _horizontal_flip(to: Conversion, op: Any, place: str) -> None:
    name = type(op.op if isinstance(op, Forced) else op).__name__
    to.image(getattr(ops, f"Random{name}")(probability(op)), linear=True)


@converts("albumentations", "ColorJitter")
def _color_jitter(to: Conversion, op: Any, place: str) -> None:
    jitter = ops.ColorJitter(*(numbers(value) for value in (op.brightness, op.contrast, op.saturation, op.hue)))
    to.image(_sometimes(op, jitter))


@converts("albumentations", "ToGray")
def _to_gray(to: Conversion, op: Any, place: str) -> None:
    refuse_unless(op.num_output_channels == 3, "num_output_channels must be 3: images have three channels here")
    refuse_unless(op.method == "weighted_average", "method must be 'weighted_average'")
    to.image(ops.RandomGrayscale(probability(op)))


@converts("albumentations", "InvertImg")
def _invert_img(to: Conversion, op: Any, place: str) -> None:
    to.image(ops.RandomInvert(probability(op)))


@converts("albumentations", "Posterize")
def _posterize(to: Conversion, op: Any, place: str) -> None:
    bits = op.num_bits if not isinstance(op.num_bits, int) else (op.num_bits, op.num_bits)
    same = len(bits) == 2 and bits[0] == bits[1] and isinstance(bits[0], int)
    refuse_unless(same, f"num_bits {op.num_bits} must be one number")
    to.image(ops.RandomPosterize(int(bits[0]), probability(op)))


@converts("albumentations", "Solarize")
def _solarize(to: Conversion, op: Any, place: str) -> None:
    low, high = _pair(op.threshold_range)
    refuse_unless(low == high, f"threshold_range {(low, high)} must be one number twice")
    to.image(ops.RandomSolarize(low * 255, probability(op)))  # A share of the highest value, also on floats.


@converts("albumentations", "Equalize")
def _equalize(to: Conversion, op: Any, place: str) -> None:
    same = op.mode == "pil" and op.by_channels and op.mask is None
    refuse_unless(same, "equalizes as Pillow does: mode='pil', by_channels=True, no mask")
    to.image(ops.RandomEqualize(probability(op)))


@converts("albumentations", "AutoContrast")
def _auto_contrast(to: Conversion, op: Any, place: str) -> None:
    same = (
        getattr(op, "method", "pil") == "pil" and not getattr(op, "cutoff", 0) and getattr(op, "ignore", None) is None
    )
    refuse_unless(same, "stretches as Pillow does: method='pil', cutoff=0, no ignore")
    to.image(ops.RandomAutocontrast(probability(op)))


@converts("albumentations", "GaussianBlur")
def _gaussian_blur(to: Conversion, op: Any, place: str) -> None:
    low, high = _pair(op.blur_limit)
    sigma = _pair(op.sigma_limit)
    if low == high == 0:
        high = int(sigma[1] * 3.5) * 2 + 1  # Albumentations' own, for the widest sigma.
    else:
        refuse_unless(low == high, f"blur_limit {op.blur_limit}: the kernel's size must be one number")
    to.image(_sometimes(op, ops.GaussianBlur(int(high), sigma)))


@converts("albumentations", "Rotate")
def _rotate(to: Conversion, op: Any, place: str) -> None:
    _black_border(op)
    refuse_unless(not op.crop_border, "crop_border would give images of several sizes")
    turn = ops.RandomRotation(_pair(op.limit), _opencv_interpolation(op, _TURNS), levels(op.fill))
    to.image(_sometimes(op, turn), absolute=colored(op))


@converts("albumentations", "RandomRotate90", "D4", "SquareSymmetry", "Transpose")
def _square_symmetries(to: Conversion, op: Any, place: str) -> None:
    """Quarter turns, alone or with a mirror image, all equally likely; or the one that exchanges rows and columns."""
    if to.size is None:
        raise Follows("turns images of any size: put it after an op that makes all images equal squares")
    refuse_unless(to.size[0] == to.size[1], f"turns images of {to.size[0]} × {to.size[1]} pixels: they must be squares")
    name = type(op.op if isinstance(op, Forced) else op).__name__
    quarters = [ops.RandomRotation((degrees, degrees)) for degrees in (90, 180, 270)]
    turn = ops.RandomApply([ops.RandomChoice(quarters)], 0.75)
    symmetries: dict[str, list[Op]] = {
        "RandomRotate90": [turn],
        "Transpose": [quarters[0], ops.RandomVerticalFlip(1.0)],
    }
    made = symmetries.get(name, [ops.RandomHorizontalFlip(0.5), turn])
    to.image(ops.RandomApply(made, probability(op)))


@converts("albumentations", "Affine", "ShiftScaleRotate")
def _affine(to: Conversion, op: Any, place: str) -> None:
    _black_border(op)
    refuse_unless(not op.fit_output, "fit_output would give images of several sizes")
    refuse_unless(not op.balanced_scale, "balanced_scale draws from another distribution")
    refuse_unless(getattr(op, "rotate_method", "largest_box") == "largest_box", "rotate_method must be 'largest_box'")
    for axis in ("x", "y"):
        refuse_unless(_pair(op.shear[axis]) == (0, 0), "shear is defined otherwise: use stoker.transforms.RandomAffine")
        if op.translate_px is not None:
            refuse_unless(_pair(op.translate_px[axis]) == (0, 0), "translate_px: give shares, by translate_percent")
    scale = _pair(op.scale["x"])
    same = scale == _pair(op.scale["y"]) and (op.keep_ratio or scale[0] == scale[1])
    refuse_unless(same, "scales across and down are drawn apart: keep_ratio=True")
    translate = None
    if op.translate_percent is not None:
        translate = [_symmetric(op.translate_percent[axis], "translate_percent") for axis in ("x", "y")]
    affine = ops.RandomAffine(
        _symmetric(op.rotate, "rotate"), translate, scale, None, _opencv_interpolation(op, _TURNS), levels(op.fill)
    )
    to.image(_sometimes(op, affine), absolute=colored(op))


@converts("albumentations", "RandomBrightnessContrast")
def _random_brightness_contrast(to: Conversion, op: Any, place: str) -> None:
    """Its contrast multiplies values, as ColorJitter's brightness does. Its brightness adds, which no op does."""
    adds = _pair(op.brightness_limit) != (0, 0)
    refuse_unless(not adds, "brightness_limit adds to all values, ColorJitter's brightness multiplies them: take that")
    refuse_unless(not op.ensure_safe_range, "ensure_safe_range narrows what it draws: set it to False")
    low, high = _pair(op.contrast_limit)
    refuse_unless(low >= -1, f"contrast_limit {(low, high)} inverts images: begin at -1 or above")
    to.image(_sometimes(op, ops.ColorJitter(brightness=(1 + low, 1 + high))))


@converts("albumentations", "HueSaturationValue")
def _hue_saturation_value(to: Conversion, op: Any, place: str) -> None:
    """Its hue is ColorJitter's, in steps of 180 a turn. Its saturation and value add, which no op does."""
    adds = [name for name in ("sat_shift_limit", "val_shift_limit") if _pair(getattr(op, name)) != (0, 0)]
    refuse_unless(
        not adds, f"{' and '.join(adds)} add, ColorJitter's saturation and brightness multiply: take that, or set 0"
    )
    low, high = _pair(op.hue_shift_limit)
    refuse_unless(-90 <= low and high <= 90, f"hue_shift_limit {(low, high)}: at most half a turn, 90, both ways")
    to.image(_sometimes(op, ops.ColorJitter(hue=(low / 180, high / 180))))


@converts("albumentations", "Erasing")
def _erasing(to: Conversion, op: Any, place: str) -> None:
    refuse_unless(not isinstance(op.fill, str), f"fill={op.fill!r}: give a color")
    low, high = _pair(op.ratio)
    refuse_unless(
        low == high,
        f"draws ratio {(low, high)} uniformly, Stoker by its logarithm: give one number twice, such as (1, 1)",
    )
    to.erase(probability(op), numbers(op.scale), [1 / low, 1 / low], numbers(op.fill))


_MOST_HOLES = 16


@converts("albumentations", "CoarseDropout")
def _coarse_dropout(to: Conversion, op: Any, place: str) -> None:
    """A hole of given pixels is a RandomErasing of one area and one ratio."""
    refuse_unless(not isinstance(op.fill, str), f"fill={op.fill!r}: give a color")
    erasing = _hole(to, op)
    fewest, most = (int(number) for number in op.num_holes_range)
    refuse_unless(most <= _MOST_HOLES, f"num_holes_range {(fewest, most)}: at most {_MOST_HOLES}")
    if fewest == most == 1:
        to.erase(probability(op), *erasing, numbers(op.fill))
        return
    refuse_unless(to.cast is None, "makes several holes in floats: put it before the conversion to floats")
    hole = ops.RandomErasing(1.0, *erasing, levels(op.fill))
    counts: list[Op] = [ops.RandomApply([hole] * count, p=1.0) for count in range(fewest, most + 1)]
    to.image(_sometimes(op, counts[0] if fewest == most else ops.RandomChoice(counts)))


def _hole(to: Conversion, op: Any) -> tuple[list[float], list[float]]:
    """The scale and ratio of RandomErasing for the op's holes."""
    heights, widths = _pair(op.hole_height_range), _pair(op.hole_width_range)
    one_size = heights[0] == heights[1] and widths[0] == widths[1]
    refuse_unless(
        one_size,
        f"draws holes of {heights} by {widths}: give hole_height_range and hole_width_range one number twice each, or "
        "take torchvision's RandomErasing, which draws area and ratio",
    )
    if to.size is None:
        raise Follows("makes holes in images of any size: put it after an op that gives all images one size")
    height, width = to.size
    in_pixels = heights[1] >= 1  # Else both are shares of the image's sides.
    tall, wide = (int(heights[0]), int(widths[0])) if in_pixels else (int(height * heights[0]), int(width * widths[0]))
    fits = 0 < tall < height and 0 < wide < width
    refuse_unless(fits, f"makes holes of {tall} × {wide} pixels in images of {height} × {width}: they must be smaller")
    return [tall * wide / (height * width)] * 2, [tall / wide] * 2


@converts("albumentations", "Normalize")
def _normalize(to: Conversion, op: Any, place: str) -> None:
    _always(op)
    refuse_unless(op.normalization == "standard", f"normalization={op.normalization!r} needs each image's statistics")
    refuse_unless(op.mean is not None and op.std is not None, "mean and std must be given")
    unit = 255.0 if to.cast is None else 1.0  # The highest value of the images that it finds.
    share = (op.max_pixel_value if op.max_pixel_value is not None else unit) / unit
    if to.cast is None:
        to.to_float("float32", True)
        to.channels = to.channels or "channels_last"
    mean, std = ([number * share for number in _listed(one)] for one in (op.mean, op.std))
    to.normalized(ops.Normalize(mean, std))


def _listed(value: Any) -> list[float]:
    return [float(value)] if isinstance(value, (int, float)) else [float(number) for number in value]


@converts("albumentations", "ToFloat")
def _to_float(to: Conversion, op: Any, place: str) -> None:
    _always(op)
    refuse_unless(op.max_value in (None, 255, 255.0), "max_value must be 255, or left out")
    to.to_float("float32", True)
    to.channels = to.channels or "channels_last"


@converts("albumentations", "ToTensorV2")
def _to_tensor_v2(to: Conversion, op: Any, place: str) -> None:
    to.channels_first()


@converts("albumentations", "NoOp")
def _no_op(to: Conversion, op: Any, place: str) -> None:
    pass


@converts("albumentations", "Sequential")
def _sequential(to: Conversion, op: Any, place: str) -> None:
    inside = [one for inner in to.inner(op.transforms, place) for one in inner]
    if inside:
        to.image(ops.RandomApply(inside, probability(op)))


@converts("albumentations", "OneOf")
def _one_of(to: Conversion, op: Any, place: str) -> None:
    choices = to.inner(op.transforms, place, forced=True)
    if any(not inner for inner in choices):
        refuse_unless(bool(to.refused), "one of its choices does nothing")
        return
    weights = [probability(one) for one in op.transforms]
    to.image(_sometimes(op, ops.RandomChoice([one(inner) for inner in choices], weights)))
