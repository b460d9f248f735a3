"""Hands a batch's tensors out as another library's arrays."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Callable, Union

from . import _dlpack, _library, ragged
from ._handle import stream_number
from .batch import Batch, Owned
from .errors import InvalidArgumentError
from .ragged_images import RaggedImages
from .sparse import Sparse
from .tensor import Tensor

#: Makes one array a field of a batch.
Output = Callable[[Batch], list[Any]]


def choose(output: str, device: str, dtypes: Iterable[str]) -> str:
    """The name of the output that `output` stands for.

    "auto" is torch where the program has imported it. Else it is, on a GPU, JAX or CuPy where the program has imported
    one; on the CPU NumPy where it is installed. Where none of these holds it is "dlpack", stoker.Tensor.
    """
    on_cpu = device == "cpu"
    numpy_fits = on_cpu and "bfloat16" not in dtypes
    if output == "auto":
        if "torch" in sys.modules:
            output = "torch"
        elif not on_cpu and "jax" in sys.modules:
            output = "jax"
        elif not on_cpu and "cupy" in sys.modules:
            output = "cupy"
        elif numpy_fits and find_spec("numpy") is not None:
            output = "numpy"
        else:
            output = "dlpack"
    if output not in _OUTPUTS:
        raise InvalidArgumentError(f"output: {output!r} is none of auto, {', '.join(_OUTPUTS)}")
    if output == "numpy" and not on_cpu:
        raise InvalidArgumentError(f"output: NumPy's arrays are on the CPU, the device is {device}")
    if output == "numpy" and not numpy_fits:
        raise InvalidArgumentError("output: NumPy has no bfloat16: take torch, jax or dlpack, or dtype='float32'")
    if output == "cupy" and on_cpu:
        raise InvalidArgumentError(
            "output: CuPy's arrays are on a GPU, the device is cpu: take numpy, or device='cuda'"
        )
    return output


def make(output: str, moved: Sequence[bool], fields: Sequence[Mapping[str, Any]] = ()) -> Output:
    """The output that `choose` returned, for a loader of these `fields`.

    It moves the channels, which come last, before height and width in the fields for which `moved` is true. A field
    whose samples differ in size becomes a Ragged. Fields that belong to others, see ragged.belongs, are left out.
    """
    variable = [index for index, field in enumerate(fields) if field.get("kind") in ragged.KINDS]
    own = [index for index, field in enumerate(fields) if not ragged.belongs(field)]
    convert = _OUTPUTS[output]([*moved, *(False for _ in variable)])
    if not variable:
        return convert

    def joined(batch: Batch) -> list[Any]:
        arrays = convert(batch)
        for index, offsets in zip(variable, arrays[len(fields) :]):
            field = fields[index]
            if field["kind"] == ragged.IMAGES:
                arrays[index] = RaggedImages(arrays[index], offsets, arrays[index + 1], field["layout"])
            elif field["kind"] == ragged.SPARSE:
                has_values = index + 1 < len(fields) and fields[index + 1]["name"] == field["name"] + ".values"
                values = arrays[index + 1] if has_values else None
                arrays[index] = Sparse(arrays[index], values, offsets, field["dense_shape"])
            else:
                arrays[index] = ragged.Ragged(
                    arrays[index], offsets, field["kind"], field.get("box_format"), field.get("sample_rate")
                )
        return [arrays[index] for index in own]

    return joined


def _torch(moved: Sequence[bool]) -> Output:
    import torch
    from torch.utils.dlpack import from_dlpack

    def convert(batch: Batch) -> list[Any]:
        handed_out = []
        for tensor, move in zip(batch.tensors, moved):
            kind, ordinal = tensor.device
            managed = batch.managed(tensor._index)
            capsule = _dlpack.capsule_of(managed)
            if kind == _dlpack.CUDA:
                batch.use_on(torch.cuda.current_stream(ordinal).cuda_stream)
            taken = from_dlpack(capsule)
            if move:
                taken = taken.movedim(-1, -3)
            if kind == _dlpack.CUDA:
                _remember(taken, managed)
            handed_out.append(taken)
        return handed_out

    return convert


def _numpy(moved: Sequence[bool]) -> Output:
    import numpy

    def convert(batch: Batch) -> list[Any]:
        arrays = [numpy.asarray(Owned(tensor, batch, tensor._index)) for tensor in batch.tensors]
        return [numpy.moveaxis(array, -1, -3) if move else array for array, move in zip(arrays, moved)]

    return convert


def _jax(moved: Sequence[bool]) -> Output:
    import jax.dlpack
    import jax.numpy

    def convert(batch: Batch) -> list[Any]:
        arrays = [jax.dlpack.from_dlpack(tensor) for tensor in batch.tensors]
        return [jax.numpy.moveaxis(array, -1, -3) if move else array for array, move in zip(arrays, moved)]

    return convert


def _cupy(moved: Sequence[bool]) -> Output:
    import cupy

    def convert(batch: Batch) -> list[Any]:
        arrays = [cupy.from_dlpack(tensor) for tensor in batch.tensors]
        return [cupy.moveaxis(array, -1, -3) if move else array for array, move in zip(arrays, moved)]

    return convert


def _tensors(moved: Sequence[bool]) -> Output:
    return lambda batch: batch.tensors


_OUTPUTS: dict[str, Callable[[Sequence[bool]], Output]] = {
    "torch": _torch,
    "numpy": _numpy,
    "jax": _jax,
    "cupy": _cupy,
    "dlpack": _tensors,
}

# The DLManagedTensor of each torch tensor on a GPU that lives, for stoker_dlpack_use_on. The key is the tensor's id,
# because torch compares tensors by their elements.
_managed: dict[int, tuple[weakref.ref[Any], int]] = {}


def _remember(tensor: Any, managed: int) -> None:
    key = id(tensor)

    def forget(gone: weakref.ref[Any]) -> None:
        if _managed.get(key, (None, 0))[0] is gone:
            del _managed[key]

    _managed[key] = (weakref.ref(tensor, forget), managed)


def use_on(tensors: Union[Any, Iterable[Any]], stream: Any) -> None:
    """Lets work on a CUDA stream use tensors of a batch. The stream that was current at hand-out needs no such call.

    The stream waits until the tensors are made. Their memory, once they are let go, is used again only after what is
    then queued on the stream. The call itself does not wait, and does nothing for tensors on the CPU.

    ``tensors`` is one, or a tuple, list or dict of them, as a loader handed them out: ``stoker.Tensor`` or torch's. A
    view of a tensor is refused by a ValueError. ``stream`` is torch's or CuPy's stream, or a ``cudaStream_t`` as an
    integer.
    """
    if isinstance(tensors, dict):
        tensors = list(tensors.values())
    elif not isinstance(tensors, (tuple, list)):
        tensors = [tensors]
    number = stream_number(stream)
    for tensor in _arrays_of(tensors):
        if isinstance(tensor, Tensor):
            tensor.use_on(number)
            continue
        reference, managed = _managed.get(id(tensor), (None, 0))
        if reference is not None and reference() is tensor:
            _library.check(_library.library().stoker_dlpack_use_on(managed, number))
        elif not _on_cpu(tensor):
            raise ValueError(
                "use_on: not a tensor as a loader handed it out. Give that tensor itself rather than a view or a copy; "
                "arrays of JAX and CuPy are used on the stream that took them"
            )


def _arrays_of(tensors: Iterable[Any]) -> Iterator[Any]:
    for tensor in tensors:
        if isinstance(tensor, RaggedImages):
            yield from (tensor.values, tensor.offsets, tensor.sizes)
        elif isinstance(tensor, Sparse):
            yield from (part for part in (tensor.indices, tensor.values, tensor.offsets) if part is not None)
        elif isinstance(tensor, ragged.Ragged):
            yield from (tensor.values, tensor.offsets)
        else:
            yield tensor


def _on_cpu(tensor: Any) -> bool:
    if hasattr(tensor, "__dlpack_device__"):
        return int(tensor.__dlpack_device__()[0]) == _dlpack.CPU
    return False
