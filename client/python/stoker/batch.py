"""A batch, and what is known about it beside its fields."""

# Without `from __future__ import annotations`, with which the fields of named tuples have types that pdoc cannot find.
import ctypes
import json
from typing import Any, NamedTuple

from . import _dlpack, _library
from ._handle import BatchHandle
from .tensor import Tensor


class Substituted(NamedTuple):
    """A bad sample, and why another stood in for it."""

    position: int
    bad_sample_id: int
    bad_sample_name: str
    reason: str


class BatchInfo(NamedTuple):
    """What a batch is made of."""

    epoch: int
    #: Samples in it; less than the batch size, even 0, only with ``last_batch="partial"``.
    size: int
    #: Of which these first ones are no padding; less than ``size`` only with ``last_batch="pad"``.
    real: int
    #: Of each sample its position in the epoch's order over all ranks.
    positions: list[int]
    #: Of each sample its index in the dataset; a substitute has its own.
    sample_ids: list[int]
    #: Of each sample its name; empty unless the loader was made with ``names=True``.
    names: list[str]
    substituted: list[Substituted]


class Batch(BatchHandle):
    """A batch as the library made it. ``Loader.batches()`` gives these; iterating over a loader hands out their arrays.

    Its tensors, and what other libraries make of them, may outlive it and the loader. Used by one thread at a time.
    """

    def describe(self) -> None:
        described = _library.BatchInfoStruct()
        _library.library().stoker_batch_get_info(self.pointer, ctypes.byref(described))
        self._count = described.tensors
        self.epoch: int = described.epoch
        self.size: int = described.size
        self.real: int = described.real
        self._positions = described.positions
        self._sample_ids = described.sample_ids

    def __len__(self) -> int:
        return self.size

    @property
    def tensors(self) -> list[Tensor]:
        """The fields as handed out, in the pipeline's order."""
        return [Tensor(self, index) for index in range(self._count)]

    def __getitem__(self, name: str) -> Tensor:
        """The field of that name."""
        for tensor in self.tensors:
            if tensor.name == name:
                return tensor
        raise KeyError(f"{name}: the fields are {', '.join(tensor.name for tensor in self.tensors)}")

    def info(self, names: bool = False) -> BatchInfo:
        """A copy of what is known of its samples, which does not keep the batch."""
        return BatchInfo(
            self.epoch,
            self.size,
            self.real,
            _numbers(self._positions, self.size),
            _numbers(self._sample_ids, self.size),
            self.names if names else [],
            self.substituted,
        )

    @property
    def names(self) -> list[str]:
        """Of each sample its name; empty strings unless the loader was made with ``names=True``."""
        name = _library.library().stoker_batch_name
        return [(name(self.pointer, row) or b"").decode("utf-8", "replace") for row in range(self.size)]

    @property
    def substituted(self) -> list[Substituted]:
        """Bad samples that others stood in for."""
        text = _library.text_from(_library.library().stoker_batch_substituted, self.pointer)
        if text == "[]":  # As nearly always.
            return []
        return [Substituted(*(one[key] for key in Substituted._fields)) for one in json.loads(text)]


def _numbers(first: Any, count: int) -> list[int]:
    return list(memoryview(ctypes.string_at(first, count * 8)).cast("Q")) if count else []


class Digest:
    """The SHA-256 over an epoch's samples as the servers made them: one number, whatever the batches, the number of
    servers or ranks, and the device. ``stoker digest`` prints the same.

    Add every batch of one epoch and one rank of one, in order, from the first: with ``last_batch="partial"`` or
    ``"pad"`` that is every sample of it. ``Loader.digest()`` does all that.
    """

    def __init__(self) -> None:
        self._handle = _library.library().stoker_digest_create()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _library.library().stoker_digest_destroy(self._handle)

    def add(self, batch: Batch) -> None:
        """Raises StokerError where the batch does not follow the one before."""
        _library.check(_library.library().stoker_digest_add(self._handle, batch.pointer))

    def hexdigest(self) -> str:
        """64 hexadecimal digits. Call once."""
        return _library.text_from(_library.library().stoker_digest_hex, self._handle)


class Owned:
    """A CPU tensor's memory alone, without its batch, for NumPy to keep."""

    __slots__ = ("_managed", "__array_interface__")

    def __init__(self, tensor: Tensor, batch: Batch, index: int) -> None:
        self.__array_interface__: dict[str, Any] = tensor.__array_interface__
        self._managed = batch.managed(index)

    def __del__(self) -> None:
        if getattr(self, "_managed", None):
            _dlpack.delete(self._managed)
