"""Pipelines, and what a loader's options say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Callable, Optional, Union

from ._compose import Compose
from ._op import Document, Op, dtype_name, plain
from ._ops import RandomHorizontalFlip, RandomResizedCrop, ToDtype, ToMemoryFormat
from ._convert import convert
from .errors import InvalidArgumentError


class Views:
    """``count`` images of one sample under the same ops, each with draws of its own: a field of count×H×W×3."""

    def __init__(self, name: str, count: int, transforms: Union[Compose, Sequence[Op]]) -> None:
        self.name = name
        self.count = count
        self.transforms = transforms if isinstance(transforms, Compose) else Compose(transforms)

    def document(self) -> Document:
        return {"name": self.name, "count": self.count, **self.transforms.document()}


class Pipeline:
    """Ops, and all else that a pipeline can say. The words are those of the server's YAML.

    Arguments:
        transforms: the ops: a list of them, a ``Compose``, or a ``Compose`` of torchvision or Albumentations.
        views: several images of each sample, instead of ops.
        bad_samples: "fail" (the default) or "substitute".
        decode_warnings: "fail_truncated" (the default), "fail" or "ignore".
        jpeg_scaling: "k2" (the default), "exact" or "k1".
        fields: the fields to send, in this order. Default: all of the dataset's.
        limits: a dict of max_pixels and max_scans.
        native_size: a dict of max_pixels, which must be given, and typical_pixels: images leave the servers in sizes of
            their own, as ``stoker.RaggedImages``.
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
        native_size: Optional[Mapping[str, int]] = None,
    ) -> None:
        self.transforms = transforms if isinstance(transforms, Compose) else Compose(_ops(transforms))
        self._views = list(views)
        self._settings = {
            "bad_samples": bad_samples,
            "decode_warnings": decode_warnings,
            "jpeg_scaling": jpeg_scaling,
            "fields": list(fields) or None,
            "limits": dict(limits) if limits else None,
            "native_size": dict(native_size) if native_size else None,
        }

    def document(self) -> Document:
        document: Document = {}
        if self.transforms.transforms:
            document.update(self.transforms.document())
        if self._views:
            document["views"] = [views.document() for views in self._views]
        document.update({key: value for key, value in self._settings.items() if value is not None})
        return document


#: An op of another library is a Callable.
AnyOp = Union[Op, Callable[..., Any]]
Transforms = Union[None, str, Path, Mapping[str, Any], AnyOp, Sequence[AnyOp], Compose, Pipeline]

_FLOATS = ("float16", "bfloat16", "float32", "float64")
_DEFAULT = Compose([RandomResizedCrop(224), RandomHorizontalFlip()])


def _ops(transforms: Any) -> Sequence[Op]:
    """The ops of a list as they are, or those of a torchvision or Albumentations Compose, converted."""
    return transforms if isinstance(transforms, Sequence) else convert(transforms).transforms


def options_of(
    transforms: Any, dtype: Any = None, layout: Optional[str] = None, **settings: Optional[str]
) -> Document:
    """What a loader's options say of the pipeline: "pipeline", "pipeline_name", or nothing.

    Those of `settings` that are not None become part of the pipeline.
    """
    settings = {key: value for key, value in settings.items() if value is not None}
    if settings:
        options = options_of(_DEFAULT if transforms is None else transforms, dtype, layout)
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
        return {} if wanted is None else {"pipeline": with_dtype(_DEFAULT.document(), wanted, layout)}
    if isinstance(transforms, Mapping):
        return {"pipeline": with_dtype(dict(transforms), wanted, layout) if wanted else plain(transforms)}
    if isinstance(transforms, Op):
        transforms = [transforms]
    if not isinstance(transforms, (Compose, Pipeline)):
        transforms = convert(transforms)
    return {"pipeline": with_dtype(transforms.document(), wanted, layout)}


def with_dtype(pipeline: Document, dtype: Optional[str], layout: Optional[str] = None) -> Document:
    """`pipeline`, with images of `dtype`. Floats have channels first, unless the pipeline or `layout` says otherwise.

    Images of native size have no layout on the device: views of them have one.
    """
    ops: list[Document] = list(plain(pipeline.get("ops", [])))
    views = [group["name"] for group in pipeline.get("views", [])]
    if dtype is not None and not views:
        _cast(ops, dtype)
    elif dtype is not None:
        _cast_views(ops, dtype, views)
    names = [_name(op) for op in ops]
    casts = [op["ToDtype"].get("dtype") for op in ops if _casts_image(op)]
    native = pipeline.get("native_size") is not None
    if casts and casts[-1] in _FLOATS and "ToMemoryFormat" not in names and not native:
        ops.append(ToMemoryFormat(layout or "channels_first").document())
    result = dict(plain(pipeline))
    if ops:
        result["ops"] = ops
    return result


def _cast(ops: list[Document], dtype: str) -> None:
    """Makes the last ToDtype convert to `dtype`, or adds a ToDtype before the ops that want floats."""
    for op in reversed(ops):
        if _casts_image(op):
            op["ToDtype"] = {**op["ToDtype"], "dtype": dtype}
            return
    if dtype == "uint8":
        return
    place = next((at for at, op in enumerate(ops) if _wants_floats(op)), len(ops))
    ops.insert(place, ToDtype(dtype, scale=True).document())


def _cast_views(ops: list[Document], dtype: str, views: Sequence[str]) -> None:
    """Makes the views' ToDtypes convert to `dtype`, and adds one for each view that has none, before its Normalize."""
    cast = set()
    for op in ops:
        if _name(op) == "ToDtype" and op["ToDtype"].get("field") in views:
            op["ToDtype"] = {**op["ToDtype"], "dtype": dtype}
            cast.add(op["ToDtype"]["field"])
    if dtype != "uint8":
        ops[:0] = [ToDtype(dtype, scale=True, field=name).document() for name in views if name not in cast]


def _casts_image(op: Mapping[str, Any]) -> bool:
    return _name(op) == "ToDtype" and not op["ToDtype"].get("field")


def _wants_floats(op: Mapping[str, Any]) -> bool:
    name = _name(op)
    if name == "Normalize" and op[name].get("field"):
        return False
    if name in ("RandomApply", "RandomChoice"):
        return any(_wants_floats(inner) for inner in op[name].get("transforms", []))
    return name in ("Normalize", "MixUp", "CutMix", "ToMemoryFormat")


def _name(op: Mapping[str, Any]) -> str:
    return next((key for key in op if key != "placement"), "")
