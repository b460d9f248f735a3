"""Pipelines by torchvision v2's names: what the servers, and the loader's device, do to each sample.

    transforms.Compose([
        transforms.RandomResizedCrop(224),
        transforms.RandomHorizontalFlip(),
        transforms.ToDtype("float32", scale=True),
        transforms.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
    ])

Names, arguments and defaults are torchvision's; what is left out is left to the servers, which have the same defaults.
Nothing is checked here: making a loader does, and names the op and the argument that is wrong.

Every op takes ``placement="server"`` or ``"device"``; by default shapes and colors are the server's, floats the
device's. Images are uint8, height × width × channels, until ToDtype and ToMemoryFormat. Sizes are in pixels.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from .errors import InvalidArgumentError

Document = dict[str, Any]
Size = Union[int, Sequence[int]]
Range = Union[float, Sequence[float]]
Fill = Union[int, Sequence[int]]


def _plain(value: Any) -> Any:
    """`value` as JSON knows it."""
    if isinstance(value, Op):
        return value.document()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "tolist"):  # Arrays and scalars of NumPy and torch.
        return _plain(value.tolist())
    if isinstance(getattr(value, "value", None), str):  # torchvision's InterpolationMode.
        return value.value
    return dtype_name(value)


def dtype_name(dtype: Any) -> str:
    """``"float32"`` of "float32" and of torch's, NumPy's and JAX's float32."""
    if isinstance(dtype, str):
        return dtype
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return str(name).rpartition(".")[2]


class Op:
    """One op: its name and those of its arguments that were given. Immutable."""

    def __init__(self, *, placement: Optional[str] = None, **arguments: Any) -> None:
        self._arguments = {name: _plain(value) for name, value in arguments.items() if value is not None}
        self._placement = placement

    @property
    def name(self) -> str:
        return type(self).__name__

    def document(self) -> Document:
        """As the server's YAML has it, ``{"RandomResizedCrop": {"size": 224}}``."""
        document: Document = {self.name: copy.deepcopy(self._arguments)}
        if self._placement is not None:
            document["placement"] = self._placement
        return document

    def __repr__(self) -> str:
        arguments = dict(self._arguments)
        if self._placement is not None:
            arguments["placement"] = self._placement
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Op) and self.document() == other.document()

    def __hash__(self) -> int:
        return hash(repr(self))


# ---- shape ----


class RandomResizedCrop(Op):
    """A crop of random area (``scale``, a share of the image's) and width / height (``ratio``), resized to ``size``."""

    def __init__(self, size: Size, scale: Optional[Sequence[float]] = None, ratio: Optional[Sequence[float]] = None,
                 interpolation: Any = None, antialias: Optional[bool] = None, *,
                 placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(size=size, scale=scale, ratio=ratio, interpolation=interpolation, antialias=antialias,
                         placement=placement)  # fmt: skip


class Resize(Op):
    """To height and width, or one number for the shorter side, the aspect ratio kept."""

    def __init__(self, size: Size, interpolation: Any = None, max_size: Optional[int] = None,
                 antialias: Optional[bool] = None, *, placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(size=size, interpolation=interpolation, max_size=max_size, antialias=antialias,
                         placement=placement)  # fmt: skip


class CenterCrop(Op):
    """The image's center; smaller images are padded with zeros."""

    def __init__(self, size: Size, *, placement: Optional[str] = None) -> None:
        super().__init__(size=size, placement=placement)


class RandomCrop(Op):
    """A crop at a uniformly drawn place."""

    def __init__(self, size: Size, padding: Optional[Size] = None, pad_if_needed: Optional[bool] = None,
                 fill: Optional[Fill] = None, *, placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(size=size, padding=padding, pad_if_needed=pad_if_needed, fill=fill, placement=placement)


class RandomHorizontalFlip(Op):
    def __init__(self, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(p=p, placement=placement)


class RandomVerticalFlip(Op):
    def __init__(self, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(p=p, placement=placement)


class Pad(Op):
    """``padding``: one number for all borders; left/right and top/bottom; or left, top, right, bottom."""

    def __init__(self, padding: Size, fill: Optional[Fill] = None, padding_mode: Optional[str] = None, *,
                 placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(padding=padding, fill=fill, padding_mode=padding_mode, placement=placement)


# ---- color ----


class ColorJitter(Op):
    """Each: a number x for factors from 1 − x to 1 + x (hue: shifts from −x to x of a turn), or from and to."""

    def __init__(self, brightness: Optional[Range] = None, contrast: Optional[Range] = None,
                 saturation: Optional[Range] = None, hue: Optional[Range] = None, *,
                 placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(brightness=brightness, contrast=contrast, saturation=saturation, hue=hue, placement=placement)


class Grayscale(Op):
    """Three equal channels; torchvision's default is one, which must be said here: it is refused."""

    def __init__(self, num_output_channels: int = 1, *, placement: Optional[str] = None) -> None:
        super().__init__(num_output_channels=num_output_channels, placement=placement)


class RandomGrayscale(Op):
    def __init__(self, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(p=p, placement=placement)


class ConvertColor(Op):
    """To ``"ycbcr"``, full range (JFIF). Not torchvision's."""

    def __init__(self, to: str, *, placement: Optional[str] = None) -> None:
        super().__init__(to=to, placement=placement)


class RandomPosterize(Op):
    def __init__(self, bits: int, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(bits=bits, p=p, placement=placement)


class RandomSolarize(Op):
    def __init__(self, threshold: float, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(threshold=threshold, p=p, placement=placement)


class RandomEqualize(Op):
    def __init__(self, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(p=p, placement=placement)


class RandomAutocontrast(Op):
    def __init__(self, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(p=p, placement=placement)


class RandomInvert(Op):
    def __init__(self, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(p=p, placement=placement)


class RandomAdjustSharpness(Op):
    def __init__(self, sharpness_factor: float, p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(sharpness_factor=sharpness_factor, p=p, placement=placement)


class AdjustBrightness(Op):
    """torchvision's function of that name. The same holds for contrast, saturation and hue."""

    def __init__(self, brightness_factor: float, *, placement: Optional[str] = None) -> None:
        super().__init__(brightness_factor=brightness_factor, placement=placement)


class AdjustContrast(Op):
    def __init__(self, contrast_factor: float, *, placement: Optional[str] = None) -> None:
        super().__init__(contrast_factor=contrast_factor, placement=placement)


class AdjustSaturation(Op):
    def __init__(self, saturation_factor: float, *, placement: Optional[str] = None) -> None:
        super().__init__(saturation_factor=saturation_factor, placement=placement)


class AdjustHue(Op):
    def __init__(self, hue_factor: float, *, placement: Optional[str] = None) -> None:
        super().__init__(hue_factor=hue_factor, placement=placement)


# ---- geometry, neighborhood, covering ----


class RandomRotation(Op):
    """Degrees counter-clockwise: d for −d to d, or from and to."""

    def __init__(self, degrees: Range, interpolation: Any = None, fill: Optional[Fill] = None, *,
                 placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(degrees=degrees, interpolation=interpolation, fill=fill, placement=placement)


class RandomAffine(Op):
    def __init__(self, degrees: Range, translate: Optional[Sequence[float]] = None,
                 scale: Optional[Sequence[float]] = None, shear: Optional[Range] = None, interpolation: Any = None,
                 fill: Optional[Fill] = None, *, placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(degrees=degrees, translate=translate, scale=scale, shear=shear, interpolation=interpolation,
                         fill=fill, placement=placement)  # fmt: skip


class GaussianBlur(Op):
    """``sigma``, in pixels: one number, or from and to."""

    def __init__(self, kernel_size: Size, sigma: Optional[Range] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(kernel_size=kernel_size, sigma=sigma, placement=placement)


class RandomErasing(Op):
    """A rectangle painted over with ``value``."""

    def __init__(self, p: Optional[float] = None, scale: Optional[Sequence[float]] = None,
                 ratio: Optional[Sequence[float]] = None, value: Union[float, Sequence[float], None] = None, *,
                 placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(p=p, scale=scale, ratio=ratio, value=value, placement=placement)


class RandomMask(Op):
    """Pixels set to 0, each with probability ``ratio``; with ``dilate`` their neighbors too. Not torchvision's."""

    def __init__(self, ratio: float, dilate: Optional[bool] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(ratio=ratio, dilate=dilate, placement=placement)


# ---- policies, and ops of ops ----


class RandAugment(Op):
    def __init__(self, num_ops: Optional[int] = None, magnitude: Optional[int] = None,
                 num_magnitude_bins: Optional[int] = None, interpolation: Any = None, fill: Optional[Fill] = None, *,
                 placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(num_ops=num_ops, magnitude=magnitude, num_magnitude_bins=num_magnitude_bins,
                         interpolation=interpolation, fill=fill, placement=placement)  # fmt: skip


class TrivialAugmentWide(Op):
    def __init__(self, num_magnitude_bins: Optional[int] = None, interpolation: Any = None,
                 fill: Optional[Fill] = None, *, placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(num_magnitude_bins=num_magnitude_bins, interpolation=interpolation, fill=fill,
                         placement=placement)  # fmt: skip


class RandomApply(Op):
    """All of ``transforms`` or none."""

    def __init__(self, transforms: Sequence[Op], p: Optional[float] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(transforms=list(transforms), p=p, placement=placement)


class RandomChoice(Op):
    """One of ``transforms``, by the weights ``p``."""

    def __init__(self, transforms: Sequence[Op], p: Optional[Sequence[float]] = None, *,
                 placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(transforms=list(transforms), p=p, placement=placement)


# ---- the device's ----


class ToDtype(Op):
    """``dtype``: "float32", "float16", "bfloat16", or torch's or NumPy's; ``scale`` maps 0…255 to 0…1."""

    def __init__(self, dtype: Any, scale: Optional[bool] = None, *, placement: Optional[str] = None) -> None:
        super().__init__(dtype=dtype_name(dtype), scale=scale, placement=placement)


class Normalize(Op):
    """(x − mean) / std for each channel, on floats."""

    def __init__(self, mean: Range, std: Range, *, placement: Optional[str] = None) -> None:
        super().__init__(mean=mean, std=std, placement=placement)


class ToMemoryFormat(Op):
    """``"channels_first"`` (C×H×W) or ``"channels_last"`` (H×W×C, as images arrive). Not torchvision's."""

    def __init__(self, memory_format: str = "channels_first", *, placement: Optional[str] = None) -> None:
        super().__init__(memory_format=memory_format, placement=placement)


class MixUp(Op):
    """Batches mixed with themselves rolled by one; labels become rows of ``num_classes`` float32 shares."""

    def __init__(self, *, alpha: Optional[float] = None, num_classes: Optional[int] = None, field: Optional[str] = None,
                 placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(alpha=alpha, num_classes=num_classes, field=field, placement=placement)


class CutMix(Op):
    """A rectangle taken from the batch rolled by one; labels become rows of ``num_classes`` float32 shares."""

    def __init__(self, *, alpha: Optional[float] = None, num_classes: Optional[int] = None, field: Optional[str] = None,
                 placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(alpha=alpha, num_classes=num_classes, field=field, placement=placement)


class OneHot(Op):
    """Labels as rows of ``num_classes`` numbers. Not torchvision's."""

    def __init__(self, num_classes: int, *, field: Optional[str] = None, dtype: Any = None,
                 placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(num_classes=num_classes, field=field, dtype=None if dtype is None else dtype_name(dtype),
                         placement=placement)  # fmt: skip


class UnpackBits(Op):
    """Undoes numpy.packbits of a field: uint8 of ``shape``, without the samples' dimension. Not torchvision's."""

    def __init__(self, field: str, shape: Sequence[int], *, bit_order: Optional[str] = None,
                 placement: Optional[str] = None) -> None:  # fmt: skip
        super().__init__(field=field, shape=shape, bit_order=bit_order, placement=placement)


# ---- pipelines ----


class Compose:
    """Ops in the order of application."""

    def __init__(self, transforms: Sequence[Op]) -> None:
        self.transforms: list[Op] = list(transforms)
        for op in self.transforms:
            if not isinstance(op, Op):
                raise TypeError(
                    f"{op!r} is no op of stoker.transforms; stoker.transforms.convert takes torchvision's and "
                    "Albumentations'"
                )

    def __repr__(self) -> str:
        return f"Compose({self.transforms!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compose) and self.transforms == other.transforms

    __hash__ = None  # type: ignore[assignment]

    def document(self) -> Document:
        return {"ops": [op.document() for op in self.transforms]}


class Views:
    """``count`` images of one sample under the same ops, each with draws of its own: a field of count×H×W×3."""

    def __init__(self, name: str, count: int, transforms: Union[Compose, Sequence[Op]]) -> None:
        self.name = name
        self.count = count
        self.transforms = transforms if isinstance(transforms, Compose) else Compose(transforms)

    def document(self) -> Document:
        return {"name": self.name, "count": self.count, **self.transforms.document()}


class Pipeline:
    """Ops and all else that a pipeline can say; the words are those of the server's YAML.

    ``bad_samples``: "fail" (the default) or "substitute". ``decode_warnings``: "fail_truncated", "fail", "ignore".
    ``jpeg_scaling``: "k2" (the default), "exact", "k1". ``fields``: those to send, in this order. ``limits``: a dict of
    max_pixels, max_scans. ``views`` instead of ops: several images of each sample.
    """

    def __init__(
        self,
        transforms: Any = (),
        *,
        views: Sequence[Views] = (),
        bad_samples: Optional[str] = None,
        decode_warnings: Optional[str] = None,
        jpeg_scaling: Optional[str] = None,
        fields: Sequence[str] = (),
        limits: Optional[Mapping[str, int]] = None,
    ) -> None:
        self.transforms = transforms if isinstance(transforms, Compose) else Compose(_ops(transforms))
        self._views = list(views)
        self._settings = {
            "bad_samples": bad_samples,
            "decode_warnings": decode_warnings,
            "jpeg_scaling": jpeg_scaling,
            "fields": list(fields) or None,
            "limits": dict(limits) if limits else None,
        }

    def document(self) -> Document:
        document: Document = {}
        if self.transforms.transforms:
            document.update(self.transforms.document())
        if self._views:
            document["views"] = [views.document() for views in self._views]
        document.update({key: value for key, value in self._settings.items() if value is not None})
        return document


Transforms = Union[None, str, Path, Mapping[str, Any], Op, Sequence[Op], Compose, Pipeline]

_FLOATS = ("float16", "bfloat16", "float32", "float64")
_DEFAULT = Compose([RandomResizedCrop(224), RandomHorizontalFlip()])


def _ops(transforms: Any) -> Sequence[Op]:
    """A list of ops as it is; a torchvision or Albumentations Compose converted."""
    return transforms if isinstance(transforms, Sequence) else convert(transforms).transforms


def options_of(transforms: Any, dtype: Any = None, **settings: Optional[str]) -> Document:
    """What a loader's options say of the pipeline: "pipeline", "pipeline_name", or nothing. `settings` that are not
    None are the pipeline's.
    """
    settings = {key: value for key, value in settings.items() if value is not None}
    if settings:
        options = options_of(_DEFAULT if transforms is None else transforms, dtype)
        if not isinstance(options.get("pipeline"), dict):
            raise InvalidArgumentError(f"{next(iter(settings))}: a pipeline by name or from a file says its own")
        return {"pipeline": {**options["pipeline"], **settings}}
    wanted = None if dtype is None else dtype_name(dtype)
    if isinstance(transforms, (str, Path)):
        if wanted is not None:
            raise InvalidArgumentError("dtype: a pipeline by name or from a file says its own, by ToDtype")
        if isinstance(transforms, Path):
            return {"pipeline": transforms.read_text(encoding="utf-8")}
        return {"pipeline_name": transforms}
    if transforms is None:
        return {} if wanted is None else {"pipeline": with_dtype(_DEFAULT.document(), wanted)}
    if isinstance(transforms, Mapping):
        return {"pipeline": with_dtype(dict(transforms), wanted) if wanted else _plain(transforms)}
    if isinstance(transforms, Op):
        transforms = [transforms]
    if not isinstance(transforms, (Compose, Pipeline)):
        transforms = convert(transforms)
    return {"pipeline": with_dtype(transforms.document(), wanted)}


def with_dtype(pipeline: Document, dtype: Optional[str]) -> Document:
    """`pipeline` whose images become `dtype`; floats with channels first unless it says something else."""
    ops: list[Document] = list(_plain(pipeline.get("ops", [])))
    if dtype is not None:
        _cast(ops, dtype)
    names = [_name(op) for op in ops]
    casts = [op["ToDtype"].get("dtype") for op in ops if _name(op) == "ToDtype"]
    if casts and casts[-1] in _FLOATS and "ToMemoryFormat" not in names:
        ops.append(ToMemoryFormat().document())
    result = dict(_plain(pipeline))
    if ops:
        result["ops"] = ops
    return result


def _cast(ops: list[Document], dtype: str) -> None:
    """Makes the last ToDtype one to `dtype`, or adds one, before the ops that want floats."""
    for op in reversed(ops):
        if _name(op) == "ToDtype":
            op["ToDtype"] = {**op["ToDtype"], "dtype": dtype}
            return
    if dtype == "uint8":
        return
    place = next((at for at, op in enumerate(ops) if _wants_floats(op)), len(ops))
    ops.insert(place, ToDtype(dtype, scale=True).document())


def _wants_floats(op: Mapping[str, Any]) -> bool:
    name = _name(op)
    if name in ("RandomApply", "RandomChoice"):
        return any(_wants_floats(inner) for inner in op[name].get("transforms", []))
    return name in ("Normalize", "MixUp", "CutMix", "ToMemoryFormat")


def _name(op: Mapping[str, Any]) -> str:
    return next((key for key in op if key != "placement"), "")


# At the end, because it converts to the ops above.
from .convert import ConversionError, convert  # noqa: E402

__all__ = [
    name for name, value in list(globals().items()) if isinstance(value, type) and value.__module__ == __name__
] + ["ConversionError", "convert"]
