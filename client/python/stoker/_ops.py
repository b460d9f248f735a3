"""The ops by torchvision's names. Written by proto/generate_ops.py: change pipeline.proto, not this file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union

from ._op import Op, dtype_word

__all__ = [
    "AdjustBrightness",
    "AdjustContrast",
    "AdjustHue",
    "AdjustSaturation",
    "AugMix",
    "AutoAugment",
    "CenterCrop",
    "ColorJitter",
    "ConvertColor",
    "CutMix",
    "ElasticTransform",
    "GaussianBlur",
    "GaussianNoise",
    "Grayscale",
    "JPEG",
    "LabelSmoothing",
    "MixUp",
    "Mosaic",
    "Normalize",
    "OneHot",
    "Pad",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomApply",
    "RandomAudioCrop",
    "RandomAutocontrast",
    "RandomChoice",
    "RandomCrop",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomIoUCrop",
    "RandomMask",
    "RandomPerspective",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomShortestSize",
    "RandomSolarize",
    "RandomVerticalFlip",
    "RandomZoomOut",
    "Resample",
    "Resize",
    "SanitizeBoundingBoxes",
    "ScaleJitter",
    "ToDense",
    "ToDtype",
    "ToMemoryFormat",
    "ToPadded",
    "TrivialAugmentWide",
    "UnpackBits",
]


# ---- Shape ----


class RandomResizedCrop(Op):
    """Takes a crop of random area and aspect ratio, and resizes it to ``size``. On the device: nearest, bilinear,
    bicubic.

    Arguments:
        size: Output pixels: one number for a square, or height and width.
        scale: Bounds of the crop's area as a share of the image's, drawn uniformly. Default 0.08, 1.
        ratio: Bounds of the crop's width / height, drawn log-uniformly. Default 3/4, 4/3.
        interpolation: One of nearest, bilinear, bicubic, lanczos. Default bilinear.
        antialias: Whether a low-pass filter comes before reducing, as Pillow does it. Default true.
    """

    def __init__(
        self,
        size: Union[int, Sequence[int]],
        scale: Optional[Sequence[float]] = None,
        ratio: Optional[Sequence[float]] = None,
        interpolation: Any = None,
        antialias: Optional[bool] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(
            size=size, scale=scale, ratio=ratio, interpolation=interpolation, antialias=antialias, placement=placement
        )


class Resize(Op):
    """Resizes the image. On the device: nearest, bilinear, bicubic.

    Arguments:
        size: Output pixels: height and width, or one number for the shorter side, the aspect ratio kept.
        interpolation: One of nearest, bilinear, bicubic, lanczos. Default bilinear.
        max_size: With one number in ``size``: bound of the longer side; 0 is none. Default none.
        antialias: Whether a low-pass filter comes before reducing, as Pillow does it. Default true.
        multiple: Rounds both sides to the nearest multiples of this number, at least one, as models of patches want
            them; 0 is none. Not torchvision's. Default none.
    """

    def __init__(
        self,
        size: Union[int, Sequence[int]],
        interpolation: Any = None,
        max_size: Optional[int] = None,
        antialias: Optional[bool] = None,
        multiple: Optional[int] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(
            size=size,
            interpolation=interpolation,
            max_size=max_size,
            antialias=antialias,
            multiple=multiple,
            placement=placement,
        )


class ScaleJitter(Op):
    """Resizes the image by a drawn factor, the aspect ratio kept: by a factor of 1 it just fits ``target_size``. Runs
    on the servers only.

    Arguments:
        target_size: Pixels that a factor of 1 fits: width and height, in this order, which is torchvision's here.
        scale_range: Bounds of the factor, drawn uniformly. Default 0.1, 2.
        interpolation: One of nearest, bilinear, bicubic, lanczos. Default bilinear.
        antialias: Whether a low-pass filter comes before reducing, as Pillow does it. Default true.
    """

    def __init__(
        self,
        target_size: Sequence[int],
        scale_range: Optional[Sequence[float]] = None,
        interpolation: Any = None,
        antialias: Optional[bool] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(
            target_size=target_size,
            scale_range=scale_range,
            interpolation=interpolation,
            antialias=antialias,
            placement=placement,
        )


class RandomShortestSize(Op):
    """Resizes the image so that its shorter side has one of several lengths, each as likely; the aspect ratio is kept.
    Runs on the servers only.

    Arguments:
        min_size: Output pixels of the shorter side: one number, or several of which one is drawn.
        max_size: Bound of the longer side, which may make the shorter side shorter; 0 is none. Default none.
        interpolation: One of nearest, bilinear, bicubic, lanczos. Default bilinear.
        antialias: Whether a low-pass filter comes before reducing, as Pillow does it. Default true.
    """

    def __init__(
        self,
        min_size: Union[int, Sequence[int]],
        max_size: Optional[int] = None,
        interpolation: Any = None,
        antialias: Optional[bool] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(
            min_size=min_size, max_size=max_size, interpolation=interpolation, antialias=antialias, placement=placement
        )


class CenterCrop(Op):
    """Takes the image's center. An image smaller than ``size`` is padded with zeros.

    Arguments:
        size: Output pixels: one number for a square, or height and width.
    """

    def __init__(self, size: Union[int, Sequence[int]], *, placement: Optional[str] = None) -> None:
        super().__init__(size=size, placement=placement)


class RandomCrop(Op):
    """Takes a crop at a uniformly drawn place.

    Arguments:
        size: Output pixels: one number for a square, or height and width.
        padding: Pixels added before cropping: one number for all borders; left/right and top/bottom; or left, top,
            right, bottom. Default none.
        pad_if_needed: Whether images smaller than ``size`` are padded instead of refused. Default false.
        fill: Value of padded pixels, 0 to 255: one number, or red, green, blue. Default 0.
        map_fill: Value of padded pixels of label maps that lie on the image, −32768 to 32767. Default 0.
    """

    def __init__(
        self,
        size: Union[int, Sequence[int]],
        padding: Union[int, Sequence[int], None] = None,
        pad_if_needed: Optional[bool] = None,
        fill: Union[int, Sequence[int], None] = None,
        map_fill: Optional[int] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(
            size=size, padding=padding, pad_if_needed=pad_if_needed, fill=fill, map_fill=map_fill, placement=placement
        )


class Pad(Op):
    """Adds pixels around the image.

    Arguments:
        padding: Pixels to add: one number for all borders; left/right and top/bottom; or left, top, right, bottom.
        fill: Value of padded pixels, 0 to 255: one number, or red, green, blue. Default 0.
        padding_mode: What the added pixels are. One of constant, edge, reflect, symmetric. Default constant.
        map_fill: Value of added pixels of label maps that lie on the image, −32768 to 32767. Default 0.
    """

    def __init__(
        self,
        padding: Union[int, Sequence[int]],
        fill: Union[int, Sequence[int], None] = None,
        padding_mode: Optional[str] = None,
        map_fill: Optional[int] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(padding=padding, fill=fill, padding_mode=padding_mode, map_fill=map_fill, placement=placement)


class RandomZoomOut(Op):
    """Puts the image at a drawn place of a larger canvas, whose sides are a drawn factor times the image's. Liu et al.,
    "SSD: Single Shot MultiBox Detector" (2016). Runs on the servers only.

    Arguments:
        fill: Value of the canvas, 0 to 255: one number, or red, green, blue. Default 0.
        side_range: Bounds of the factor, at least 1, drawn uniformly. Default 1, 4.
        p: Probability. Default 0.5.
        map_fill: Value of the canvas of label maps that lie on the image, −32768 to 32767. Default 0.
    """

    def __init__(
        self,
        fill: Union[int, Sequence[int], None] = None,
        side_range: Optional[Sequence[float]] = None,
        p: Optional[float] = None,
        map_fill: Optional[int] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(fill=fill, side_range=side_range, p=p, map_fill=map_fill, placement=placement)


class RandomHorizontalFlip(Op):
    """Mirrors the image left to right.

    Arguments:
        p: Probability. Default 0.5.
    """

    def __init__(self, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(p=p, placement=placement)


class RandomVerticalFlip(Op):
    """Mirrors the image top to bottom.

    Arguments:
        p: Probability. Default 0.5.
    """

    def __init__(self, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(p=p, placement=placement)


# ---- Color ----


class ColorJitter(Op):
    """Changes brightness, contrast, saturation and hue, in a drawn order. Each is left alone where it is not given.

    Arguments:
        brightness: A number x for factors from max(0, 1 − x) to 1 + x, or from and to. Default none.
        contrast: As for brightness: a number, or from and to. Default none.
        saturation: As for brightness: a number, or from and to. Default none.
        hue: A number x ≤ 0.5 for shifts from −x to x, or from and to; in turns of the color wheel. Default none.
    """

    def __init__(
        self,
        brightness: Union[float, Sequence[float], None] = None,
        contrast: Union[float, Sequence[float], None] = None,
        saturation: Union[float, Sequence[float], None] = None,
        hue: Union[float, Sequence[float], None] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(brightness=brightness, contrast=contrast, saturation=saturation, hue=hue, placement=placement)


class AdjustBrightness(Op):
    """Changes brightness as ColorJitter does, by a given factor.

    Arguments:
        brightness_factor: 0 is black, 1 changes nothing.
    """

    def __init__(self, brightness_factor: float, *, placement: Optional[str] = None) -> None:
        super().__init__(brightness_factor=brightness_factor, placement=placement)


class AdjustContrast(Op):
    """Changes contrast as ColorJitter does, by a given factor.

    Arguments:
        contrast_factor: 0 is gray, 1 changes nothing.
    """

    def __init__(self, contrast_factor: float, *, placement: Optional[str] = None) -> None:
        super().__init__(contrast_factor=contrast_factor, placement=placement)


class AdjustSaturation(Op):
    """Changes saturation as ColorJitter does, by a given factor.

    Arguments:
        saturation_factor: 0 is black and white, 1 changes nothing.
    """

    def __init__(self, saturation_factor: float, *, placement: Optional[str] = None) -> None:
        super().__init__(saturation_factor=saturation_factor, placement=placement)


class AdjustHue(Op):
    """Changes hue as ColorJitter does, by a given shift.

    Arguments:
        hue_factor: −0.5 to 0.5, in turns of the color wheel.
    """

    def __init__(self, hue_factor: float, *, placement: Optional[str] = None) -> None:
        super().__init__(hue_factor=hue_factor, placement=placement)


class Grayscale(Op):
    """Makes the image gray, in three equal channels.

    Arguments:
        num_output_channels: Must be 3 (torchvision's default is 1).
    """

    def __init__(self, num_output_channels: int = 1, *, placement: Optional[str] = None) -> None:
        super().__init__(num_output_channels=num_output_channels, placement=placement)


class RandomGrayscale(Op):
    """Makes the image gray, in three equal channels.

    Arguments:
        p: Probability. Default 0.1.
    """

    def __init__(self, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(p=p, placement=placement)


class ConvertColor(Op):
    """Converts the image to another color space. Not torchvision's. Runs on the servers only.

    Arguments:
        to: The color space; YCbCr is of full range (JFIF). Must be ycbcr.
    """

    def __init__(self, to: str, *, placement: Optional[str] = None) -> None:
        super().__init__(to=to, placement=placement)


class RandomPosterize(Op):
    """Keeps the upper bits of each value.

    Arguments:
        bits: Bits kept, 0 to 8.
        p: Probability. Default 0.5.
    """

    def __init__(self, bits: int, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(bits=bits, p=p, placement=placement)


class RandomSolarize(Op):
    """Inverts bright values.

    Arguments:
        threshold: Values from here on are inverted, 0 to 255 (256 for none).
        p: Probability. Default 0.5.
    """

    def __init__(self, threshold: float, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(threshold=threshold, p=p, placement=placement)


class RandomInvert(Op):
    """Inverts all values.

    Arguments:
        p: Probability. Default 0.5.
    """

    def __init__(self, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(p=p, placement=placement)


class RandomAutocontrast(Op):
    """Stretches each channel over all values, as Pillow does it.

    Arguments:
        p: Probability. Default 0.5.
    """

    def __init__(self, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(p=p, placement=placement)


class RandomEqualize(Op):
    """Equalizes each channel's histogram, as Pillow does it.

    Arguments:
        p: Probability. Default 0.5.
    """

    def __init__(self, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(p=p, placement=placement)


# ---- Geometry ----


class RandomRotation(Op):
    """Turns the image about its center. The image keeps its size.

    Arguments:
        degrees: A number d for angles from −d to d, or from and to; in degrees, counter-clockwise.
        interpolation: One of nearest, bilinear. Default nearest.
        fill: Value of uncovered pixels, 0 to 255: one number, or red, green, blue. Default 0.
        map_fill: Value of uncovered pixels of label maps that lie on the image, −32768 to 32767. Default 0.
    """

    def __init__(
        self,
        degrees: Union[float, Sequence[float]],
        interpolation: Any = None,
        fill: Union[int, Sequence[int], None] = None,
        map_fill: Optional[int] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(
            degrees=degrees, interpolation=interpolation, fill=fill, map_fill=map_fill, placement=placement
        )


class RandomAffine(Op):
    """Turns, shifts, scales and shears the image about its center. The image keeps its size.

    Arguments:
        degrees: A number d for angles from −d to d, or from and to; in degrees, clockwise, which is torchvision's; 0
            for none.
        translate: Bounds of the shift across and down, as shares of the image's width and height. Default none.
        scale: Bounds of the factor. Default none.
        shear: Degrees: a number x for −x to x across; from and to across; or from and to across, then down. Default
            none.
        interpolation: One of nearest, bilinear. Default nearest.
        fill: Value of uncovered pixels, 0 to 255: one number, or red, green, blue. Default 0.
        map_fill: Value of uncovered pixels of label maps that lie on the image, −32768 to 32767. Default 0.
    """

    def __init__(
        self,
        degrees: Union[float, Sequence[float]],
        translate: Optional[Sequence[float]] = None,
        scale: Optional[Sequence[float]] = None,
        shear: Union[float, Sequence[float], None] = None,
        interpolation: Any = None,
        fill: Union[int, Sequence[int], None] = None,
        map_fill: Optional[int] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(
            degrees=degrees,
            translate=translate,
            scale=scale,
            shear=shear,
            interpolation=interpolation,
            fill=fill,
            map_fill=map_fill,
            placement=placement,
        )


class RandomPerspective(Op):
    """Moves the image's corners by drawn distances, as a camera that looks at it from the side. The image keeps its
    size. Runs on the servers only.

    Arguments:
        distortion_scale: How far the corners move at most, as a share of half the image's height and width, 0 to 1.
            Default 0.5.
        p: Probability. Default 0.5.
        interpolation: One of nearest, bilinear. Default bilinear.
        fill: Value of uncovered pixels, 0 to 255: one number, or red, green, blue. Default 0.
        map_fill: Value of uncovered pixels of label maps that lie on the image, −32768 to 32767. Default 0.
    """

    def __init__(
        self,
        distortion_scale: Optional[float] = None,
        p: Optional[float] = None,
        interpolation: Any = None,
        fill: Union[int, Sequence[int], None] = None,
        map_fill: Optional[int] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(
            distortion_scale=distortion_scale,
            p=p,
            interpolation=interpolation,
            fill=fill,
            map_fill=map_fill,
            placement=placement,
        )


class ElasticTransform(Op):
    """Moves each pixel by a drawn distance, which changes smoothly from pixel to pixel. Simard et al., "Best Practices
    for Convolutional Neural Networks Applied to Visual Document Analysis" (2003). The image keeps its size. Runs on the
    servers only.

    Arguments:
        alpha: How far pixels move: half of it, in pixels, where the smoothed noise is 1. One number, or across and
            down. Default 50.
        sigma: How smooth that is: the standard deviation of a Gaussian in pixels, one number, or across and down.
            Default 5.
        interpolation: One of nearest, bilinear. Default bilinear.
        fill: Value of uncovered pixels, 0 to 255: one number, or red, green, blue. Default 0.
        map_fill: Value of uncovered pixels of label maps that lie on the image, −32768 to 32767. Default 0.
    """

    def __init__(
        self,
        alpha: Union[float, Sequence[float], None] = None,
        sigma: Union[float, Sequence[float], None] = None,
        interpolation: Any = None,
        fill: Union[int, Sequence[int], None] = None,
        map_fill: Optional[int] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(
            alpha=alpha, sigma=sigma, interpolation=interpolation, fill=fill, map_fill=map_fill, placement=placement
        )


# ---- Neighborhood ----


class GaussianBlur(Op):
    """Blurs the image by a Gaussian kernel, whose standard deviation is drawn uniformly.

    Arguments:
        kernel_size: The kernel's size in pixels, odd: one number, or across and down.
        sigma: The standard deviation in pixels: one number, or from and to. Default 0.1, 2.
    """

    def __init__(
        self,
        kernel_size: Union[int, Sequence[int]],
        sigma: Union[float, Sequence[float], None] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(kernel_size=kernel_size, sigma=sigma, placement=placement)


class RandomAdjustSharpness(Op):
    """Smooths or sharpens the image.

    Arguments:
        sharpness_factor: 0 smooths, 1 changes nothing, 2 sharpens twice.
        p: Probability. Default 0.5.
    """

    def __init__(self, sharpness_factor: float, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(sharpness_factor=sharpness_factor, p=p, placement=placement)


class JPEG(Op):
    """Compresses the image as a JPEG of a drawn quality, and decodes it again. Runs on the servers only.

    Arguments:
        quality: The quality, 1 to 100, as libjpeg counts it: one number, or from and to.
    """

    def __init__(self, quality: Union[int, Sequence[int]], *, placement: Optional[str] = None) -> None:
        super().__init__(quality=quality, placement=placement)


class GaussianNoise(Op):
    """Adds Gaussian noise to each value. Runs on the servers only.

    Arguments:
        mean: The noise's mean, in units of 255 levels. Default 0.
        sigma: The noise's standard deviation, in units of 255 levels. Default 0.1.
        clip: Must be true: values below 0 and above 255 become these. Default true.
    """

    def __init__(
        self,
        mean: Optional[float] = None,
        sigma: Optional[float] = None,
        clip: Optional[bool] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(mean=mean, sigma=sigma, clip=clip, placement=placement)


# ---- Covering ----


class RandomErasing(Op):
    """Paints a rectangle over. On the device it may come after ToDtype, where torchvision's examples have it. On the
    device: floats too.

    Arguments:
        p: Probability. Default 0.5.
        scale: Bounds of the rectangle's area as a share of the image's. Default 0.02, 0.33.
        ratio: Bounds of height / width, drawn log-uniformly. Default 0.3, 3.3.
        value: One number, or red, green, blue. Before ToDtype 0 to 255; after it any, in the units of what it finds:
            after Normalize 0 is the mean color. Default 0.
        noise: Whether each value is drawn from a standard normal distribution instead: torchvision's value="random".
            Only on the device, after ToDtype. Default false.
    """

    def __init__(
        self,
        p: Optional[float] = None,
        scale: Optional[Sequence[float]] = None,
        ratio: Optional[Sequence[float]] = None,
        value: Union[float, Sequence[float], None] = None,
        noise: Optional[bool] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(p=p, scale=scale, ratio=ratio, value=value, noise=noise, placement=placement)


class RandomMask(Op):
    """Sets pixels to 0 in all channels: each is drawn, then all drawn ones take their four neighbors along. Not
    torchvision's.

    Arguments:
        ratio: Share of pixels drawn, before they grow.
        dilate: Whether drawn pixels take their neighbors along. Default true.
    """

    def __init__(self, ratio: float, dilate: Optional[bool] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(ratio=ratio, dilate=dilate, placement=placement)


# ---- Policies ----


class RandAugment(Op):
    """Applies ops that it draws. Cubuk et al., "RandAugment: Practical Automated Data Augmentation with a Reduced
    Search Space" (2020).

    Arguments:
        num_ops: How many ops are applied. Default 2.
        magnitude: How strong they are. Default 9.
        num_magnitude_bins: How many magnitudes there are. Default 31.
        interpolation: One of nearest, bilinear. Default nearest.
        fill: Value of uncovered pixels, 0 to 255: one number, or red, green, blue. Default 0.
        map_fill: Value of uncovered pixels of label maps that lie on the image, −32768 to 32767. Default 0.
    """

    def __init__(
        self,
        num_ops: Optional[int] = None,
        magnitude: Optional[int] = None,
        num_magnitude_bins: Optional[int] = None,
        interpolation: Any = None,
        fill: Union[int, Sequence[int], None] = None,
        map_fill: Optional[int] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(
            num_ops=num_ops,
            magnitude=magnitude,
            num_magnitude_bins=num_magnitude_bins,
            interpolation=interpolation,
            fill=fill,
            map_fill=map_fill,
            placement=placement,
        )


class TrivialAugmentWide(Op):
    """Applies one op, of a drawn strength. Müller and Hutter, "TrivialAugment: Tuning-free Yet State-of-the-Art Data
    Augmentation" (2021), wide space.

    Arguments:
        num_magnitude_bins: How many magnitudes there are. Default 31.
        interpolation: One of nearest, bilinear. Default nearest.
        fill: Value of uncovered pixels, 0 to 255: one number, or red, green, blue. Default 0.
        map_fill: Value of uncovered pixels of label maps that lie on the image, −32768 to 32767. Default 0.
    """

    def __init__(
        self,
        num_magnitude_bins: Optional[int] = None,
        interpolation: Any = None,
        fill: Union[int, Sequence[int], None] = None,
        map_fill: Optional[int] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(
            num_magnitude_bins=num_magnitude_bins,
            interpolation=interpolation,
            fill=fill,
            map_fill=map_fill,
            placement=placement,
        )


class AutoAugment(Op):
    """Applies one of the pairs of ops that were found best for a dataset. Cubuk et al., "AutoAugment: Learning
    Augmentation Policies from Data" (2019).

    Arguments:
        policy: The dataset that the pairs were learned from. One of imagenet, cifar10, svhn. Default imagenet.
        interpolation: One of nearest, bilinear. Default nearest.
        fill: Value of uncovered pixels, 0 to 255: one number, or red, green, blue. Default 0.
        map_fill: Value of uncovered pixels of label maps that lie on the image, −32768 to 32767. Default 0.
    """

    def __init__(
        self,
        policy: Optional[str] = None,
        interpolation: Any = None,
        fill: Union[int, Sequence[int], None] = None,
        map_fill: Optional[int] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(policy=policy, interpolation=interpolation, fill=fill, map_fill=map_fill, placement=placement)


class AugMix(Op):
    """Mixes the image with what several chains of drawn ops make of it, by drawn weights. Label maps, boxes and
    keypoints stay where they are. Hendrycks et al., "AugMix: A Simple Data Processing Method to Improve Robustness and
    Uncertainty" (2020). Runs on the servers only.

    Arguments:
        severity: How strong the ops are, 1 to 10. Default 3.
        mixture_width: How many chains there are, 1 to 16. Default 3.
        chain_depth: How many ops a chain has, up to 16; −1 draws 1 to 3 for each chain. Default −1.
        alpha: The parameter of the Beta and of the Dirichlet distribution. Default 1.
        all_ops: Whether brightness, color, contrast and sharpness are among the ops. Default true.
        interpolation: One of nearest, bilinear. Default bilinear.
        fill: Value of uncovered pixels, 0 to 255: one number, or red, green, blue. Default 0.
    """

    def __init__(
        self,
        severity: Optional[int] = None,
        mixture_width: Optional[int] = None,
        chain_depth: Optional[int] = None,
        alpha: Optional[float] = None,
        all_ops: Optional[bool] = None,
        interpolation: Any = None,
        fill: Union[int, Sequence[int], None] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(
            severity=severity,
            mixture_width=mixture_width,
            chain_depth=chain_depth,
            alpha=alpha,
            all_ops=all_ops,
            interpolation=interpolation,
            fill=fill,
            placement=placement,
        )


class RandomApply(Op):
    """Applies all of ``transforms`` or none. They run where it runs. On the device: of ops that run there and keep the
    size.

    Arguments:
        transforms: The ops, in the order of application.
        p: Probability. Default 0.5.
    """

    def __init__(self, transforms: Sequence[Op], p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(transforms=list(transforms), p=p, placement=placement)


class RandomChoice(Op):
    """Applies one of ``transforms``. A RandomApply of probability 1 stands for several in a row. They run where it
    runs, and all of them may be MixUp and CutMix. On the device: of ops that run there and keep the size.

    Arguments:
        transforms: The ops to choose from.
        p: A weight for each. Default equal.
    """

    def __init__(
        self, transforms: Sequence[Op], p: Optional[Sequence[float]] = None, *, placement: Optional[str] = None
    ) -> None:
        super().__init__(transforms=list(transforms), p=p, placement=placement)


# ---- Several samples ----


class Mosaic(Op):
    """Makes one image of four samples', each in a quarter of a canvas that is cut at a drawn point. Label maps, boxes
    and keypoints, and the rows that belong to boxes, go with them. The other three are drawn from the job's samples. It
    stands first. Bochkovskiy et al., "YOLOv4: Optimal Speed and Accuracy of Object Detection" (2020). Runs on the
    servers only.

    Arguments:
        size: Output pixels: one number for a square, or height and width.
        center_range: Bounds of the point where the four meet, as a share of height and width, drawn uniformly. Default
            0.3, 0.7.
        p: Probability. An image that is left alone is resized to ``size``. Default 1.
        fill: Value of uncovered pixels, 0 to 255: one number, or red, green, blue. Default 114.
        map_fill: Value of uncovered pixels of label maps that lie on the image, −32768 to 32767. Default 0.
        labels: Fields with a row for each box, which are joined as the boxes are, such as the boxes' labels. Default
            none.
    """

    def __init__(
        self,
        size: Union[int, Sequence[int]],
        center_range: Optional[Sequence[float]] = None,
        p: Optional[float] = None,
        fill: Union[int, Sequence[int], None] = None,
        map_fill: Optional[int] = None,
        labels: Optional[Sequence[str]] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(
            size=size, center_range=center_range, p=p, fill=fill, map_fill=map_fill, labels=labels, placement=placement
        )


# ---- Audio ----


class Resample(Op):
    """Changes the sampling rate of audio, by a windowed sinc. Runs on the servers only.

    Arguments:
        sample_rate: The new rate in samples a second.
        field: The field of the audio. Default audio.
    """

    def __init__(self, sample_rate: int, field: Optional[str] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(sample_rate=sample_rate, field=field, placement=placement)


class RandomAudioCrop(Op):
    """Takes a stretch of audio at a uniformly drawn place. Audio that is shorter is filled up with zeros. Not
    torchvision's. Runs on the servers only.

    Arguments:
        samples: How long the stretch is, in samples of each channel.
        center: Whether it is taken from the middle instead of a drawn place. Default false.
        field: The field of the audio. Default audio.
    """

    def __init__(
        self,
        samples: int,
        center: Optional[bool] = None,
        field: Optional[str] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(samples=samples, center=center, field=field, placement=placement)


# ---- Boxes ----


class RandomIoUCrop(Op):
    """Takes a crop that overlaps a box by at least a drawn intersection over union, and leaves out the boxes whose
    centers lie outside of it. Liu et al., "SSD: Single Shot MultiBox Detector" (2016). Runs on the servers only.

    Arguments:
        min_scale: The least that the crop's width and height are as a share of the image's. Both are drawn uniformly.
            Default 0.3.
        max_scale: The most. Default 1.
        min_aspect_ratio: The least of the crop's width / height. Default 0.5.
        max_aspect_ratio: The most. Default 2.
        sampler_options: The overlaps of which one is drawn; from 1 on the image stays whole. Default 0, 0.1, 0.3, 0.5,
            0.7, 0.9, 1.
        trials: How many crops are drawn until another overlap is. Default 40.
        field: The field of the boxes. Default boxes.
        labels: Fields with a row for each box, which goes where the box goes, such as the boxes' labels. Default none.
    """

    def __init__(
        self,
        min_scale: Optional[float] = None,
        max_scale: Optional[float] = None,
        min_aspect_ratio: Optional[float] = None,
        max_aspect_ratio: Optional[float] = None,
        sampler_options: Optional[Sequence[float]] = None,
        trials: Optional[int] = None,
        field: Optional[str] = None,
        labels: Optional[Sequence[str]] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(
            min_scale=min_scale,
            max_scale=max_scale,
            min_aspect_ratio=min_aspect_ratio,
            max_aspect_ratio=max_aspect_ratio,
            sampler_options=sampler_options,
            trials=trials,
            field=field,
            labels=labels,
            placement=placement,
        )


class SanitizeBoundingBoxes(Op):
    """Leaves out boxes that are too small, or that do not lie within the image, and what goes with them. Runs on the
    servers only.

    Arguments:
        min_size: The least width and height in pixels, 0 to 16384. Default 1.
        min_area: The least area in pixels, 0 to 16384². Default 1.
        field: The field of the boxes. Default boxes.
        labels: Fields with a row for each box, which goes where the box goes, such as the boxes' labels. Default none.
    """

    def __init__(
        self,
        min_size: Optional[float] = None,
        min_area: Optional[float] = None,
        field: Optional[str] = None,
        labels: Optional[Sequence[str]] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(min_size=min_size, min_area=min_area, field=field, labels=labels, placement=placement)


# ---- Floats and batches ----


class ToDtype(Op):
    """Converts images, or the numbers of another field, to another type. On the device: images; another field on either
    side.

    Arguments:
        dtype: Half floats are rounded once, to nearest even, when all is computed in float32; uint8 is for images, and
            converts nothing. One of float32, float16, bfloat16, uint8.
        scale: Whether uint8 of 0…255 becomes 0…1, and int16, such as audio, −1…1. Default false.
        field: A field of numbers that is no image. With placement server it is sent as ``dtype``. Default none, which
            is the image.
    """

    def __init__(
        self, dtype: Any, scale: Optional[bool] = None, field: Optional[str] = None, *, placement: Optional[str] = None
    ) -> None:
        super().__init__(dtype=dtype_word(dtype), scale=scale, field=field, placement=placement)


class Normalize(Op):
    """Computes (x − mean) / std for each channel, on floats. Runs on the loader's device only.

    Arguments:
        mean: One number for all channels, or one for each. Of another field: one number; one for each index of its last
            dimension; or one for each element.
        std: One number, or as many as the mean may have.
        field: A field of numbers that is no image. Default none, which is the image.
    """

    def __init__(
        self,
        mean: Union[float, Sequence[float]],
        std: Union[float, Sequence[float]],
        field: Optional[str] = None,
        *,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(mean=mean, std=std, field=field, placement=placement)


class ToMemoryFormat(Op):
    """Chooses the order of an image's axes in memory. Images arrive channels last. Not torchvision's. Runs on the
    loader's device only.

    Arguments:
        memory_format: One of channels_first, channels_last. Default channels_first.
    """

    def __init__(self, memory_format: str = "channels_first", *, placement: Optional[str] = None) -> None:
        super().__init__(memory_format=memory_format, placement=placement)


class MixUp(Op):
    """Mixes every image of a batch with the one before it (the first: with the last) to λ · itself + (1 − λ) · the
    other, and so the labels; whole numbers are made one-hot float32. λ is drawn from Beta(alpha, alpha), one for a
    batch, by its first position. It comes after all other ops on the image but ToMemoryFormat, on floats. Zhang et al.,
    "mixup: Beyond Empirical Risk Minimization" (2018), as torchvision has it. Runs on the loader's device only.

    Arguments:
        alpha: The parameter of the Beta distribution. Default 1.
        num_classes: How many classes there are, where labels are whole numbers, 0 … num_classes − 1. It is left out
            where they are floats already: one-hot, soft or multi-label. Default none.
        field: The field of the labels: one whole number a sample, or a vector of floats. Default label.
        per_sample: Whether λ is drawn for each sample, by its own position, instead of once for a batch. Default false.
    """

    def __init__(
        self,
        *,
        alpha: Optional[float] = None,
        num_classes: Optional[int] = None,
        field: Optional[str] = None,
        per_sample: Optional[bool] = None,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(alpha=alpha, num_classes=num_classes, field=field, per_sample=per_sample, placement=placement)


class CutMix(Op):
    """Gives every image of a batch a rectangle of the one before it. Its place is drawn uniformly, its sides are √(1 −
    λ) of the image's, it is cut where the image ends, and labels are mixed as MixUp's by what is left. All else is as
    with MixUp, but it works on uint8 too. Yun et al., "CutMix: Regularization Strategy to Train Strong Classifiers with
    Localizable Features" (2019), as torchvision has it. Runs on the loader's device only.

    Arguments:
        alpha: The parameter of the Beta distribution. Default 1.
        num_classes: How many classes there are, where labels are whole numbers, 0 … num_classes − 1. It is left out
            where they are floats already: one-hot, soft or multi-label. Default none.
        field: The field of the labels: one whole number a sample, or a vector of floats. Default label.
        per_sample: Whether λ and the rectangle are drawn for each sample, by its own position, instead of once for a
            batch. Default false.
    """

    def __init__(
        self,
        *,
        alpha: Optional[float] = None,
        num_classes: Optional[int] = None,
        field: Optional[str] = None,
        per_sample: Optional[bool] = None,
        placement: Optional[str] = None,
    ) -> None:
        super().__init__(alpha=alpha, num_classes=num_classes, field=field, per_sample=per_sample, placement=placement)


class OneHot(Op):
    """Makes of each whole number of a field num_classes numbers, which are 0 but for the one it names: 1. Not
    torchvision's. Runs on the loader's device only.

    Arguments:
        num_classes: How many classes there are; numbers are below it.
        field: The field of the whole numbers. Default label.
        dtype: torch's one_hot gives int64. One of float32, float16, bfloat16, uint8, int64. Default float32.
    """

    def __init__(
        self, num_classes: int, field: Optional[str] = None, dtype: Any = None, *, placement: Optional[str] = None
    ) -> None:
        super().__init__(num_classes=num_classes, field=field, dtype=dtype_word(dtype), placement=placement)


class LabelSmoothing(Op):
    """Smooths labels: makes of each number y of a field of floats (1 − smoothing) · y + smoothing / K, where K classes
    are its last dimension. Szegedy et al., "Rethinking the Inception Architecture for Computer Vision" (2016). Not
    torchvision's. Runs on the loader's device only.

    Arguments:
        smoothing: 0 to 1.
        field: The field of the labels, floats, as OneHot makes them. Default label.
    """

    def __init__(self, smoothing: float, field: Optional[str] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(smoothing=smoothing, field=field, placement=placement)


class ToPadded(Op):
    """Makes of a field whose samples differ in size one of ``rows`` rows a sample: those beyond are left out, missing
    ones are ``fill``. Not torchvision's. Runs on the loader's device only.

    Arguments:
        field: The field.
        rows: Rows of each sample.
        fill: Value of missing rows. Default 0.
    """

    def __init__(self, field: str, rows: int, fill: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(field=field, rows=rows, fill=fill, placement=placement)


class ToDense(Op):
    """Makes of a sparse field the array that it stands for, whose other elements are 0. Not torchvision's. Runs on the
    loader's device only.

    Arguments:
        field: The field.
    """

    def __init__(self, field: str, *, placement: Optional[str] = None) -> None:
        super().__init__(field=field, placement=placement)


class UnpackBits(Op):
    """Makes of a uint8 field, whose bits are 0 or 1 each, uint8 of ``shape``; bits that fill up the last byte are left
    out. It undoes numpy.packbits of the flattened array. Not torchvision's. Runs on the loader's device only.

    Arguments:
        field: The field.
        shape: What becomes of each sample, without the samples' dimension.
        bit_order: Which of a byte's bits comes first; numpy's bitorder. One of big, little. Default big.
    """

    def __init__(
        self, field: str, shape: Sequence[int], bit_order: Optional[str] = None, *, placement: Optional[str] = None
    ) -> None:
        super().__init__(field=field, shape=shape, bit_order=bit_order, placement=placement)
