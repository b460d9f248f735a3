"""Ops that run on the client: the rest of a Compose, from the first op on that servers do not have.

They run in the training process, on its CPU, after the batch has come, sample by sample. Before each op the generators
of torch, NumPy and random are seeded by the loader's seed, the epoch, the sample's position and the op's index, so that
a sample comes out the same in any batch, on any rank and after a resume; afterwards the program's own draws go on as if
nothing had been. Draws from other generators are the ops' own affair.
"""

from __future__ import annotations

import hashlib
import random
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Optional

from . import _layout, _torch, ragged
from ._compose import Compose
from ._conversion import Left, Refused, library_of, shown, without_addresses
from ._convert import ConversionError, convert_first
from ._op import Op
from ._pipeline import Pipeline
from .batch import BatchInfo
from .errors import FailedPreconditionError, InvalidArgumentError, StokerWarning

REFUSE, CLIENT = "refuse", "client"

#: The key of a loader's state with `OnClient.identity`.
STATE_KEY = "client_ops"

# Kinds of field that lie on the image.
_ON_THE_IMAGE = ("label_map", "binary_map", "boxes", "keypoints")

# Classes by library that make tensors of PIL's images, torchvision's own tensors of them, and PIL's images.
_MAKES: dict[str, dict[str, tuple[str, ...]]] = {
    "tensor": {"torchvision": ("ToTensor", "PILToTensor"), "timm": ("MaybeToTensor", "MaybePILToTensor", "ToNumpy")},
    "image": {"torchvision": ("ToImage", "ToImageTensor")},
    "pil": {"torchvision": ("ToPILImage",)},
}


class _Step(NamedTuple):
    number: int  # Among all ops of the Compose.
    place: str
    op: Any

    def __str__(self) -> str:
        return f"{self.place}: {shown(self.op)}"


def split(transforms: Any, on_unsupported: str) -> tuple[Any, OnClient]:
    """What the servers are asked for, and what is left for the client: nothing, unless `on_unsupported` is "client".

    Raises ConversionError where something is left that cannot run there either.
    """
    if on_unsupported not in (REFUSE, CLIENT):
        raise InvalidArgumentError(f"on_unsupported: {on_unsupported!r} is neither {REFUSE!r} nor {CLIENT!r}")
    told = transforms is None or isinstance(transforms, (str, Path, Mapping, Op, Compose, Pipeline))
    if told or on_unsupported == REFUSE:
        return transforms, OnClient([], [])
    converted, taken, left = convert_first(transforms)
    unable = [Refused(one.place, shown(one.op), why) for one in left if (why := _cannot_run(one.op, left[0]))]
    if unable:
        raise ConversionError(unable)
    return converted, OnClient(taken, left)


def _cannot_run(op: Any, first: Left) -> Optional[str]:
    because = f" ({first.reason})" if op is first.op else ""
    if isinstance(op, Op):
        return f"runs on servers and devices only, so it cannot follow what runs on the client: put it before {first.place}"
    if library_of(op) == "albumentations":
        return f"cannot run on the client{because}: Albumentations draws from generators of its own, which only it seeds"
    if _works_on_batches(op):
        return "mixes samples of a batch, and the client's ops see one at a time: apply it to what the loader hands out"
    return None if callable(op) else f"cannot run on the client{because}: it cannot be called"


def _works_on_batches(op: Any) -> bool:
    if (library_of(op), type(op).__name__) in (("torchvision", "MixUp"), ("torchvision", "CutMix"), ("timm", "Mixup")):
        return True
    return any(_works_on_batches(inner) for inner in getattr(op, "transforms", ()))


class OnClient:
    """The ops that the client runs, perhaps none, and what it hands to them. Used by one thread at a time."""

    def __init__(self, taken: Sequence[Any], left: Sequence[Left]) -> None:
        self._steps = [_Step(len(taken) + at, one.place, one.op) for at, one in enumerate(left)]
        self._reason = left[0].reason if left else ""
        self._form = _form(taken, [one.op for one in left])
        told = "\n".join(f"{step.number} {_told(step.op)}" for step in self._steps)
        #: A hash of the ops as they print, and of their attributes, before some change these. None without ops.
        self.identity = hashlib.sha256(told.encode()).hexdigest()[:16] if left else None
        self._field = -1  # The image's, among a batch's.
        self._seed = 0
        self._shape: tuple[int, ...] = ()
        self._dtype: Any = None
        #: How long the ops have run.
        self.seconds = 0.0

    def __bool__(self) -> bool:
        return bool(self._steps)

    def __repr__(self) -> str:
        return ", ".join(map(str, self._steps))

    # ---- while the loader is made ----

    def check_options(self, *, device: str, dtype: Any, layout: Optional[str]) -> None:
        if not self:
            return
        if device != "cpu":
            raise InvalidArgumentError(
                f"device: {device}, but on_unsupported='client' runs ops on the CPU: leave device out, and move the "
                "batches that the loader hands out"
            )
        if dtype is not None:
            raise InvalidArgumentError("dtype: the ops on the client settle it: put ToDtype among transforms instead")
        if layout not in (None, _layout.FIRST):
            raise InvalidArgumentError(f"layout: {layout!r}, but the ops on the client have channels first")

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Adds to what the servers say of images of several sizes what that has to do with the client."""
        try:
            yield
        except InvalidArgumentError as error:
            if not self or "differ in size" not in str(error):
                raise
            raise InvalidArgumentError(
                f"{error}. That is, before {self._steps[0]}, which runs on the client as all after it: put "
                "RandomResizedCrop, RandomCrop, CenterCrop or Resize((height, width)) before it"
            ) from None

    def settle(self, description: dict[str, Any], output: str) -> None:
        """Finds the image, tries the ops on one of noise, notes in `description` what comes out, and warns."""
        if not self:
            return
        if output != "torch":
            raise InvalidArgumentError(
                f"output: {output}, but the ops on the client are given torch's tensors: output='torch'"
            )
        self._seed = int(description["seed"])
        self._field = _image_of(description["fields"])
        field = description["fields"][self._field]
        if field.get("kind") == ragged.IMAGES:
            raise InvalidArgumentError(
                f"on_unsupported: {field['name']!r} has images of native size, and {self._steps[0]}, on the client, is "
                "given images of one size: leave one of the two out"
            )
        if field["layout"] != _layout.FIRST:
            raise InvalidArgumentError(
                f"layout: field {field['name']!r} would have its channels last, and {self._steps[0]}, on the client, "
                "wants them first: put ToMemoryFormat('channels_first') before it"
            )
        if field["dtype"] != "uint8" and self._form == "pil":
            self._form = "tensor"
        beside = [other["name"] for other in description["fields"] if other.get("kind") in _ON_THE_IMAGE]
        if beside:
            raise InvalidArgumentError(
                f"on_unsupported: {beside[0]!r} lies on the image, and {self._steps[0]}, on the client, is given the image "
                "alone: do not send it, by Pipeline(…, fields=[…]), or leave the op out"
            )
        if len(field["shape"]) != 3:
            raise InvalidArgumentError(f"on_unsupported: field {field['name']!r} has several images a sample")
        with _generators_kept():
            made = self._one(_noise(field), (0, 0), "on an image of noise")
        self._shape, self._dtype = tuple(made.shape), made.dtype
        field.update(shape=list(made.shape), dtype=str(made.dtype).rpartition(".")[2])
        description["on_client"] = [str(step) for step in self._steps]
        count = f"{len(self._steps)} transforms run" if len(self._steps) > 1 else "one transform runs"
        warnings.warn(
            f"{count} on the client, one sample after another on the trainer's CPU, outside of the epoch's digest: "
            f"{self!r}. Why the first cannot run on servers: {self._reason}",
            StokerWarning,
            stacklevel=3,
        )

    # ---- for each batch ----

    def apply(self, arrays: list[Any], info: BatchInfo) -> list[Any]:
        """The batch's fields, the image as the ops make it."""
        if not self:
            return arrays
        begun = time.monotonic()
        result = list(arrays)
        with _torch.profiled("stoker.on_client"), _generators_kept():
            made = [
                self._one(image, (info.epoch, position), f"on sample {sample}")
                for image, position, sample in zip(arrays[self._field], info.positions, info.sample_ids)
            ]
        result[self._field] = self._together(made)
        self.seconds += time.monotonic() - begun
        return result

    def _together(self, made: Sequence[Any]) -> Any:
        import torch

        if not made:
            return torch.empty((0, *self._shape), dtype=self._dtype)
        shapes = {tuple(image.shape) for image in made}
        if len(shapes) > 1:
            raise InvalidArgumentError(
                f"on_unsupported: the ops on the client give images of several sizes, such as "
                f"{' and '.join(map(str, sorted(shapes)[:2]))}: end them with a crop, or Resize to height and width"
            )
        return torch.stack(list(made))

    def _one(self, image: Any, where: tuple[int, int], on: str) -> Any:
        """One image through all ops. `where` is its epoch and position."""
        import torch

        value = _as_form(self._form, image)
        with torch.no_grad():
            for step in self._steps:
                _seed(f"stoker {self._seed} {where[0]} {where[1]} {step.number}")
                try:
                    value = step.op(value)
                except Exception as error:
                    raise InvalidArgumentError(
                        f"{step}: failed on the client, {on}: {type(error).__name__}: {error}"
                    ) from error
            return _as_tensor(value, self._steps[-1])


def check_state(state: Mapping[str, Any], ops: OnClient) -> None:
    """Raises where the state was saved with other ops on the client than those of this loader."""
    saved = state.get(STATE_KEY)
    if saved == ops.identity:
        return
    was = "none ran on the client" if saved is None else f"others ran on the client ({saved})"
    now = f"this loader runs {ops!r} ({ops.identity})" if ops else "this loader runs none there"
    raise FailedPreconditionError(
        f"state: its {STATE_KEY} differ: when it was saved {was}, and {now}. Give the loader the transforms of then"
    )


def _told(value: Any, depth: int = 4) -> str:
    """`value` as it prints, with its attributes, which many transforms print in part only."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_told(item, depth) for item in value)}]"
    text = without_addresses(repr(value))
    if depth == 0 or isinstance(value, type) or not hasattr(value, "__dict__"):
        return text
    named = {name: _told(item, depth - 1) for name, item in sorted(vars(value).items()) if _counts(name)}
    return f"{text} {named}" if named else text


def _counts(attribute: str) -> bool:
    return not attribute.startswith("_") and attribute != "training"  # torch's modules have this, and take no notice.


# ---- what ops are given, and give ----


def _form(taken: Sequence[Any], left: Sequence[Any]) -> str:
    """What the first op on the client is given: what it would be given after an ImageFolder.

    "image" after torchvision's ToImage, "pil" where an op on the client has yet to make a tensor of it, else "tensor".
    """
    for op in reversed(taken):
        for form in _MAKES:
            if _is_one_of(op, form):
                return form
    converts = any(_is_one_of(op, "tensor") or _is_one_of(op, "image") for op in left)
    return "pil" if converts else "tensor"


def _is_one_of(op: Any, form: str) -> bool:
    return type(op).__name__ in _MAKES[form].get(library_of(op), ())


def _as_form(form: str, image: Any) -> Any:
    """A copy of `image`, a tensor with channels first, as the ops are given it: they may write to it, and fail."""
    if form == "pil":
        from PIL import Image

        return Image.fromarray(image.permute(1, 2, 0).numpy().copy())
    own = sys.modules.get("torchvision.tv_tensors") or sys.modules.get("torchvision.datapoints")
    return own.Image(image.clone()) if form == "image" and own is not None else image.clone()


def _as_tensor(value: Any, last: _Step) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return value.as_subclass(torch.Tensor)
    if type(value).__module__.startswith("PIL."):
        import numpy

        array = numpy.array(value)
        return torch.from_numpy(array if array.ndim == 3 else array[..., None]).permute(2, 0, 1)
    if type(value).__module__ == "numpy":
        return torch.from_numpy(value)
    raise InvalidArgumentError(f"{last}: gives a {type(value).__name__} on the client; the last op must give a tensor")


def _image_of(fields: Sequence[Mapping[str, Any]]) -> int:
    images = [at for at, field in enumerate(fields) if "layout" in field]
    named = [at for at in images if fields[at]["name"] == "image"]
    if len(named or images) != 1:
        names = ", ".join(str(field["name"]) for field in fields)
        raise InvalidArgumentError(f"on_unsupported: which field is the image? The fields are {names}: name one 'image'")
    return (named or images)[0]


def _noise(field: Mapping[str, Any]) -> Any:
    import torch

    generator = torch.Generator().manual_seed(0)
    if field["dtype"] == "uint8":
        return torch.randint(0, 256, field["shape"], dtype=torch.uint8, generator=generator)
    return torch.rand(field["shape"], generator=generator).to(getattr(torch, field["dtype"]))


# ---- generators ----


@contextmanager
def _generators_kept() -> Iterator[None]:
    """Lets the program's generators go on afterwards as if nothing had been drawn."""
    import torch

    numpys = sys.modules.get("numpy.random")
    before = random.getstate(), torch.get_rng_state(), numpys.get_state() if numpys is not None else None
    try:
        yield
    finally:
        random.setstate(before[0])
        torch.set_rng_state(before[1])
        if numpys is not None:
            numpys.set_state(before[2])


def _seed(text: str) -> None:
    import torch

    digest = hashlib.sha256(text.encode()).digest()
    random.seed(digest)
    torch.default_generator.manual_seed(int.from_bytes(digest[:8], "little") >> 1)  # Only the CPU's.
    numpys = sys.modules.get("numpy.random")
    if numpys is not None:
        numpys.seed([int.from_bytes(digest[at : at + 4], "little") for at in (8, 12, 16, 20)])
