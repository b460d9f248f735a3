"""A batch, and what is known of it beside its fields."""

# Without `from __future__ import annotations`, with which the fields of named tuples have types that pdoc cannot find.
import ctypes
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import _dlpack, _library
from ._handle import BatchHandle
from .dataset import DatasetPart
from .tensor import Tensor


class Substituted(NamedTuple):
    """A bad sample that another sample stood in for, and the reason."""

    position: int
    bad_sample_id: int
    bad_sample_name: str
    reason: str


class BatchInfo(NamedTuple):
    """What a batch is made of."""

    epoch: int
    #: How many samples it has. Only with ``last_batch="partial"`` it is less than the batch size, even 0.
    size: int
    #: How many samples are no padding; they come first. Only with ``last_batch="pad"`` it is less than ``size``.
    real: int
    #: Each sample's position in the epoch's order over all ranks.
    positions: list[int]
    #: Each sample's index in the dataset. A substitute has its own.
    sample_ids: list[int]
    #: Each sample's name. Empty unless the loader was made with ``names=True``.
    names: list[str]
    substituted: list[Substituted]


class Batch(BatchHandle):
    """A batch as the library made it. ``Loader.batches()`` gives these; iterating over a loader hands out their arrays.

    Its tensors, and what other libraries make of them, may outlive it and the loader. Used by one thread at a time.
    """

    def describe(self, parts: Sequence[DatasetPart] = ()) -> None:
        """Reads what the library says of the batch in `pointer`. ``parts`` are those of the loader's dataset."""
        self._parts = parts
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
        """The batch's fields as they are handed out, in the pipeline's order."""
        return [Tensor(self, index) for index in range(self._count)]

    def __getitem__(self, name: str) -> Tensor:
        """The field of that name."""
        for tensor in self.tensors:
            if tensor.name == name:
                return tensor
        raise KeyError(f"{name}: the fields are {', '.join(tensor.name for tensor in self.tensors)}")

    def info(self, names: bool = False) -> BatchInfo:
        """What is known of the batch's samples. It is a copy, and does not keep the batch."""
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
    def part_counts(self) -> dict[str, int]:
        """How many samples each dataset has that the loader's is mixed of, by name, such as {"photos": 12, "drawings": 4}.

        They are this rank's. Padding does not count, and a substitute counts for its own part. They are counted when
        they are asked for, and no server is asked. Empty where the dataset is no mix.
        """
        counted = (ctypes.c_int64 * len(self._parts))()
        count = _library.library().stoker_batch_part_counts
        _library.check(count(self.pointer, counted, len(self._parts)))
        counts: dict[str, int] = {}
        for part, samples in zip(self._parts, counted):
            counts[part.name] = counts.get(part.name, 0) + samples
        return counts

    @property
    def names(self) -> list[str]:
        """Each sample's name. The names are empty unless the loader was made with ``names=True``."""
        name = _library.library().stoker_batch_name
        return [(name(self.pointer, row) or b"").decode("utf-8", "replace") for row in range(self.size)]

    @property
    def substituted(self) -> list[Substituted]:
        """The bad samples that others stood in for."""
        text = _library.text_from(_library.library().stoker_batch_substituted, self.pointer)
        if text == "[]":  # So it nearly always is.
            return []
        return [Substituted(*(one[key] for key in Substituted._fields)) for one in json.loads(text)]


def _numbers(first: Any, count: int) -> list[int]:
    return list(memoryview(ctypes.string_at(first, count * 8)).cast("Q")) if count else []


class Digest:
    """The SHA-256 over an epoch's samples as the servers made them.

    It is the same number whatever the batches, the number of servers or ranks, and the device. ``stoker digest`` prints
    it too.

    Add every batch of one epoch in order, from the first, with a loader of one rank whose ``last_batch`` is "partial"
    or "pad", so that every sample is in. ``Loader.digest()`` does all that.
    """

    def __init__(self) -> None:
        library = _library.library()
        self._destroy = library.stoker_digest_destroy
        self._handle = library.stoker_digest_create()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._destroy(self._handle)

    def add(self, batch: Batch) -> None:
        """Adds a batch. Raises StokerError where it does not follow the one before."""
        _library.check(_library.library().stoker_digest_add(self._handle, batch.pointer))

    def hexdigest(self) -> str:
        """The digest as 64 hexadecimal digits. It can be taken once."""
        return _library.text_from(_library.library().stoker_digest_hex, self._handle)


class Owned:
    """Owns a CPU tensor's memory without its batch, for NumPy to keep."""

    __slots__ = ("_managed", "__array_interface__")
    _delete = staticmethod(_dlpack.delete)

    def __init__(self, tensor: Tensor, batch: Batch, index: int) -> None:
        self.__array_interface__: dict[str, Any] = tensor.__array_interface__
        self._managed = batch.managed(index)

    def __del__(self) -> None:
        if getattr(self, "_managed", None):
            self._delete(self._managed)
