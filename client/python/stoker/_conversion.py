"""The part of converting that torchvision and Albumentations share: the pipeline as it grows, and refusals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Callable, NamedTuple, Optional

from . import _ops as ops
from ._compose import Compose
from ._image_size import Size, size_after
from ._op import Op
from .errors import InvalidArgumentError


class Refused(NamedTuple):
    """An op that could not be converted."""

    #: Where it stands: "transforms[2]", "transforms[2].transforms[0]".
    place: str
    op: str
    reason: str


class Left(NamedTuple):
    """An op from the first one on that could not be converted."""

    place: str
    op: Any
    #: Why the first of them could not be converted.
    reason: str


class ConversionError(InvalidArgumentError):
    """Some ops cannot be converted. The message names each, and says why."""

    def __init__(self, refused: Sequence[Refused], hint: str = "") -> None:
        self.refused: list[Refused] = list(refused)
        lines = [f"  {one.place}: {one.op}: {one.reason}" for one in self.refused]
        count = "one op cannot" if len(lines) == 1 else f"{len(lines)} ops cannot"
        super().__init__(f"{count} be converted:\n" + "\n".join(lines) + hint)


class Refusal(Exception):
    """Says why the op at hand cannot be converted."""


class Follows(Refusal):
    """The op wants something of the ops before it. That may be of those that could not be converted."""


class Fraction(Follows):
    """A color is no whole level. It may be one of floats, which an op made that could not be converted."""


FOREIGN_CODE = "code that servers do not have: apply it to what the loader hands out"
_ON_CLIENT = (
    "\nA loader with on_unsupported='client' runs the first of these, and all that follows it, in the training process"
)
_NO_SUCH_OP = "Stoker has no such op: leave it out, or apply it to what the loader hands out"


def children(container: Any, name: str) -> Iterable[tuple[str, Any]]:
    """The ops that a list, Compose or Sequential holds, flattened, each with its place."""
    if isinstance(container, (list, tuple)):
        inside = list(container)
    elif isinstance(container, Compose):
        inside = list(container.transforms)
    elif library_of(container) == "torch" and type(container).__name__ in ("Sequential", "ModuleList"):
        inside = list(container)
    else:
        inside = list(getattr(container, "transforms", [container]))
    for at, op in enumerate(inside):
        place = f"{name}[{at}]"
        if is_compose(op):
            yield from children(op, f"{place}.transforms")
        else:
            yield place, op


def is_compose(op: Any) -> bool:
    name, library = type(op).__name__, library_of(op)
    if library == "albumentations":
        return name == "Compose" or (name == "Sequential" and probability(op) == 1)
    return (library == "torchvision" and name == "Compose") or (library == "torch" and name == "Sequential")


def library_of(op: Any) -> str:
    return type(op).__module__.partition(".")[0]


class Conversion:
    """The ops that were converted so far. Images are uint8 until a cast, then floats, then perhaps normalized."""

    def __init__(self, nested: bool = False) -> None:
        self.nested = nested  # True inside of a RandomApply or RandomChoice.
        self.on_integers: list[Op] = []
        self.cast: Optional[Op] = None
        self.normalize: list[Op] = []
        self.on_floats: list[Op] = []  # They come after `normalize`.
        self.on_batches: list[Op] = []
        self.on_fields: list[Op] = []  # On numbers beside the image, on the device.
        self.channels: Optional[str] = None
        self.size: Size = None  # Of the images, where all have one.
        self.refused: list[Refused] = []
        self.after_refusal = False  # Becomes true where an op before a nested one was refused.
        self.runs_elsewhere = True  # Becomes false where a refused op is none that a client can run.

    def add(self, place: str, op: Any) -> None:
        try:
            if isinstance(op, Op):
                self.add_own(op)
                return
            kind = type(op.op if isinstance(op, Forced) else op)
            handlers = HANDLERS.get(kind.__module__.partition(".")[0])
            if handlers is None:
                raise Refusal(FOREIGN_CODE)
            if kind.__name__ not in handlers:
                raise Refusal(_WHY.get(kind.__name__, _NO_SUCH_OP))
            if kind.__module__.startswith("albumentations") and probability(op) == 0:
                return
            handlers[kind.__name__](self, op, place)
        except Refusal as refusal:
            known = isinstance(refusal, Fraction) and self.cast is not None
            if isinstance(refusal, Follows) and (self.refused or self.after_refusal) and not known:
                return
            self.refused.append(Refused(place, shown(op), str(refusal)))
            self.runs_elsewhere &= not isinstance(op, Op) and library_of(op) != "albumentations"

    def copy(self) -> Conversion:
        other = Conversion(self.nested)
        for name, value in vars(self).items():
            setattr(other, name, list(value) if isinstance(value, list) else value)
        return other

    def finish(self) -> Compose:
        if self.refused:
            raise ConversionError(self.refused, _ON_CLIENT if self.runs_elsewhere else "")
        result = [*self.on_integers]
        if self.cast is not None:
            result.append(self.cast)
        result += [*self.normalize, *self.on_floats, *self.on_fields, *self.on_batches]
        if self.channels is not None:
            result.append(ops.ToMemoryFormat(self.channels))
        return Compose(result)

    # ---- what handlers call ----

    def image(self, op: Op, *, linear: bool = False, absolute: bool = False) -> None:
        """Adds an op on the image's pixels.

        `linear` says that it does the same before and after Normalize, `absolute` that its arguments are in the pixels'
        units.
        """
        if self.on_batches:
            raise Refusal("comes after MixUp or CutMix, which must be last")
        if self.cast is not None and absolute:
            raise Refusal("works on floats with a value in their units: put it before the conversion to floats")
        if self.normalize and not linear:
            raise Refusal("comes after Normalize: put it before")
        if self.on_floats:
            raise Refusal("comes after RandomErasing on floats: put it before")
        self._append(op)

    def _append(self, op: Op) -> None:
        self.on_integers.append(op)
        self.size = size_after(op.document(), self.size)

    def to_float(self, dtype: str, scale: bool) -> None:
        self._not_nested()
        if self.cast is not None:  # A cast from one float type to another scales nothing.
            scale = self.cast.document()["ToDtype"].get("scale", False)
        self.cast = ops.ToDtype(dtype, scale=scale)

    def normalized(self, op: Op) -> None:
        self._not_nested()
        if self.cast is None:
            raise Follows("works on floats: put ToTensor, or ToDtype(torch.float32, scale=True), before it")
        if self.on_floats or self.on_batches:
            raise Refusal("comes after ops that must follow it")
        self.normalize.append(op)

    def erase(self, p: float, scale: Any, ratio: Any, value: Any) -> None:
        """Paints a rectangle over with `value`; with standard normal noise where that is None."""
        if self.cast is None:
            refuse_unless(value is not None, "paints noise, which is of floats: put it after the cast to a float type")
            self.image(ops.RandomErasing(p, scale, ratio, levels(value)))
            return
        self._not_nested()
        noise = True if value is None else None
        self.on_floats.append(ops.RandomErasing(p, scale, ratio, value, noise, placement="device"))

    def field(self, op: Op) -> None:
        """Adds an op of the servers on a field that is no image, in its place among those that move the image."""
        self._not_nested()
        self.on_integers.append(op)

    def batch(self, op: Op) -> None:
        self.on_batches.append(op)

    def channels_first(self) -> None:
        self._not_nested()
        self.channels = "channels_first"

    def add_own(self, op: Op) -> None:
        """Adds an op of stoker.transforms as it is."""
        if op.name in ("ToDtype", "Normalize") and op.document()[op.name].get("field"):
            (self.on_integers if op.document().get("placement") == "server" else self.on_fields).append(op)
        elif op.name == "ToDtype":
            self.to_float(op.document()["ToDtype"]["dtype"], bool(op.document()["ToDtype"].get("scale", False)))
        elif op.name == "Normalize":
            self.normalized(op)
        elif op.name == "ToMemoryFormat":
            self.channels = op.document()["ToMemoryFormat"]["memory_format"]
        elif op.name == "SanitizeBoundingBoxes":
            self.field(op)
        elif op.name == "ToPadded":
            self.on_fields.append(op)
        elif op.name in ("MixUp", "CutMix", "OneHot", "LabelSmoothing", "ToDense", "UnpackBits"):
            self.batch(op)
        elif self.cast is not None:
            self.on_floats.append(op)
        else:
            self._append(op)

    def inner(self, container: Any, place: str, forced: bool = False) -> list[list[Op]]:
        """The ops inside of a RandomApply or RandomChoice; what each becomes is a list."""
        result = []
        for at, op in enumerate(list(container)):
            conversion = Conversion(nested=True)
            conversion.cast, conversion.normalize = self.cast, list(self.normalize)
            conversion.size = self.size
            conversion.after_refusal = bool(self.refused) or self.after_refusal
            inside = f"{place}.transforms[{at}]"
            if is_compose(op):
                for deeper, one in children(op, f"{inside}.transforms"):
                    conversion.add(deeper, one)
            elif forced:
                conversion.add(inside, Forced(op))
            else:
                conversion.add(inside, op)
            self.refused += conversion.refused
            result.append([*conversion.on_integers, *conversion.on_batches])
        return result

    def _not_nested(self) -> None:
        if self.nested:
            raise Refusal("cannot happen to some samples only")


class Forced:
    """An Albumentations op that always happens: its p is 1."""

    def __init__(self, op: Any) -> None:
        self.op = op
        self.p = 1.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.op, name)


def shown(op: Any) -> str:
    """The op as it prints, on one line of 120 characters or less."""
    text = " ".join(without_addresses(repr(op.op if isinstance(op, Forced) else op)).split())
    return text if len(text) <= 120 else text[:117] + "..."


def without_addresses(text: str) -> str:
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def one(inner: Sequence[Op]) -> Op:
    return inner[0] if len(inner) == 1 else ops.RandomApply(list(inner), p=1.0)


# ---- arguments ----


def levels(value: Any) -> Any:
    """A color as whole numbers of 0 to 255."""
    if value is None:
        return None
    numbers = list(value) if isinstance(value, (list, tuple)) else [value]
    for number in numbers:
        if not isinstance(number, (int, float)) or number != int(number):
            raise Fraction(f"fill or value {value!r} is no whole level of 0 to 255")
    whole = [int(number) for number in numbers]
    return whole if isinstance(value, (list, tuple)) else whole[0]


def fill_of(op: Any, kind: str = "Image") -> Any:
    """What torchvision's op paints on "Image" or "Mask", where its fill may be given by type."""
    fill = getattr(op, "fill", None)
    if not isinstance(fill, dict):
        return fill
    by_name = {getattr(of, "__name__", of): value for of, value in fill.items()}
    if kind not in by_name and "others" not in by_name:
        raise Refusal(f"fill is given by type, and not for {kind}, nor for 'others'")
    return by_name.get(kind, by_name.get("others"))


def map_fill_of(op: Any) -> Optional[int]:
    """What an op of torchvision's v2 paints on label maps; None for 0, and where it paints a color, which no map has."""
    if ".v2." not in type(op).__module__:
        return None
    if isinstance(op.fill, dict) and not {"Mask", "others"} & {getattr(of, "__name__", of) for of in op.fill}:
        return None
    fill = levels(fill_of(op, "Mask"))
    if isinstance(fill, list):
        fill = fill[0] if len(set(fill)) == 1 else None
    return fill or None


def colored(op: Any) -> bool:
    """Whether the op paints anything but black."""
    fill = fill_of(op)
    numbers = fill if isinstance(fill, (list, tuple)) else [fill]
    return any(number not in (0, 0.0, None) for number in numbers)


def numbers(value: Any) -> Any:
    if value is None or isinstance(value, (int, float)):
        return value
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value)


def refuse_unless(condition: bool, reason: str) -> None:
    if not condition:
        raise Refusal(reason)


def probability(op: Any) -> float:
    return float(getattr(op, "p", 1.0))


# ---- handlers: what converts an op of a library's class ----

Handler = Callable[[Conversion, Any, str], None]
HANDLERS: dict[str, dict[str, Handler]] = {"torchvision": {}, "timm": {}, "albumentations": {}}


def converts(library: str, *names: str) -> Callable[[Handler], Handler]:
    """Registers a function for these classes of `library`. It gets the conversion, the op and the op's place."""

    def register(handler: Handler) -> Handler:
        HANDLERS[library].update(dict.fromkeys(names, handler))
        return handler

    return register


_WHY = {
    "Lambda": FOREIGN_CODE,
    "SomeOf": "Stoker chooses one (OneOf) or each by its p (RandomApply)",
    "Perspective": "moves corners by other draws: stoker.transforms.RandomPerspective comes near",
    "ElasticTransform": "draws how pixels move otherwise: stoker.transforms.ElasticTransform comes near",
    "RandomPhotometricDistort": "exchanges channels, which no op of Stoker's does: ColorJitter comes near but for that",
    "RandomChannelPermutation": "no op of Stoker's exchanges channels: leave it out",
    "ChannelShuffle": "no op of Stoker's exchanges channels: leave it out",
    "GaussNoise": "draws how strong the noise is: stoker.transforms.GaussianNoise has one strength",
    "FiveCrop": "several images of one sample are a pipeline's views",
    "TenCrop": "several images of one sample are a pipeline's views",
    "LongestMaxSize": "would give images of several sizes: Resize and CenterCrop instead",
}
