"""Fields whose samples differ in size: boxes, keypoints, text, bytes, audio, and rows of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Optional

#: The kinds of field whose samples differ in size. All but IMAGES and SPARSE are handed out as ``Ragged``.
KINDS = frozenset({"ragged", "bytes", "text", "boxes", "keypoints", "sparse", "audio", "ragged_image"})

#: The kinds of field that are two: behind their tensors stand those of NAME.sizes, and of NAME.values if there are some.
IMAGES, SPARSE = "ragged_image", "sparse"


def belongs(field: Mapping[str, Any]) -> bool:
    """Whether a field of a loader's description is a part of the one before it, such as image.sizes."""
    is_sizes = field["name"].endswith(".sizes") and field["shape"] == [2]
    return bool(is_sizes or (field["name"].endswith(".values") and field.get("kind") == "ragged"))


class Ragged:
    """A batch's samples of a field that has more rows for one sample than for another, without padding.

    ``ragged[i]`` are the rows of sample i, a view of ``values``; ``len(ragged)`` is the number of samples. Both arrays
    are of the library that the loader hands out, and on the loader's device. With ``output="dlpack"`` they are
    ``stoker.Tensor``: give ``values`` and ``offsets`` to a library, and make a ``Ragged`` of what it makes of them.
    """

    __slots__ = ("values", "offsets", "kind", "box_format", "sample_rate")

    #: The rows of all samples, one after another.
    values: Any
    #: One int64 more than there are samples: ``values[offsets[i]:offsets[i + 1]]`` are the rows of sample i.
    offsets: Any
    #: "ragged", "bytes", "text", "boxes", "keypoints" or "audio".
    kind: str
    #: What the four numbers of a box are: "xyxy", "xywh" or "cxcywh"; None for other kinds.
    box_format: Optional[str]
    #: Rows a second of audio; None for other kinds, and where it differs from sample to sample.
    sample_rate: Optional[int]

    def __init__(
        self,
        values: Any,
        offsets: Any,
        kind: str = "ragged",
        box_format: Optional[str] = None,
        sample_rate: Optional[int] = None,
    ) -> None:
        self.values = values
        self.offsets = offsets
        self.kind = kind
        self.box_format = box_format
        self.sample_rate = sample_rate

    def __len__(self) -> int:
        return int(self.offsets.shape[0]) - 1

    def __getitem__(self, index: int) -> Any:
        """The rows of one sample, an array of rows × a row's shape. Negative numbers count from the last sample.

        On a GPU this waits for the offsets. Raises IndexError where there is no such sample.
        """
        samples = len(self)
        if not -samples <= index < samples:
            raise IndexError(f"{index}: there are {samples} samples")
        index %= samples
        return self.values[int(self.offsets[index]) : int(self.offsets[index + 1])]

    def __iter__(self) -> Iterator[Any]:
        bounds = self.offsets.tolist()
        return (self.values[begin:end] for begin, end in zip(bounds, bounds[1:]))

    def __repr__(self) -> str:
        return f"stoker.Ragged({self.kind}, {len(self)} samples, {self.values.shape[0]} rows of {self.values.dtype})"

    @property
    def lengths(self) -> Any:
        """How many rows each sample has, an int64 array of samples."""
        return self.offsets[1:] - self.offsets[:-1]

    def texts(self) -> list[str]:
        """The samples as text. Raises TypeError unless ``kind`` is "text"."""
        self._needs("text")
        return [sample.decode() for sample in self._all_bytes()]

    def as_bytes(self) -> list[bytes]:
        """The samples as bytes. Raises TypeError unless ``kind`` is "bytes" or "text"."""
        self._needs("bytes", "text")
        return list(self._all_bytes())

    def padded(self, length: Optional[int] = None, fill: Any = 0) -> Any:
        """One array of samples × length × a row's shape, with ``fill`` where a sample has fewer rows than ``length``.

        ``fill`` becomes one of the array's numbers.

        ``length`` is that of the longest sample unless it is given; rows beyond it are cut off. ``lengths`` tells which
        rows are a sample's own.
        """
        library = library_of(self.values)
        longest = (int(self.lengths.max()) if len(self) else 0) if length is None else length
        shape = (len(self), longest, *self.values.shape[1:])
        device = {"device": self.values.device} if library.__name__ == "torch" else {}
        filled = library.full(shape, fill, dtype=self.values.dtype, **device)
        if self.values.shape[0] == 0:
            return filled
        place = self.offsets[:-1, None] + library.arange(longest, **device)
        own = (place < self.offsets[1:, None]).reshape(len(self), longest, *(1 for _ in shape[2:]))
        return library.where(own, self.values[place % self.values.shape[0]], filled)

    def nested(self) -> Any:
        """The samples as a ``torch.nested`` tensor of the jagged layout, which shares the memory.

        Raises TypeError unless the arrays are torch's.
        """
        import torch

        if not isinstance(self.values, torch.Tensor):
            raise TypeError("nested: needs torch's tensors; make the loader with output='torch'")
        return torch.nested.nested_tensor_from_jagged(self.values, self.offsets)

    def _needs(self, *kinds: str) -> None:
        if self.kind not in kinds:
            raise TypeError(f"the field is {self.kind}, not {' or '.join(kinds)}")

    def _all_bytes(self) -> Iterator[bytes]:
        values, offsets = _on_host(self.values), _on_host(self.offsets)
        everything = memoryview(values).tobytes() if values.shape[0] else b""
        bounds = offsets.tolist()
        return (everything[begin:end] for begin, end in zip(bounds, bounds[1:]))


def library_of(array: Any) -> Any:
    """The module with the functions of an array: torch, numpy, jax.numpy, cupy."""
    name = type(array).__module__.partition(".")[0]
    if name == "stoker":
        raise TypeError("stoker.Tensor has no arithmetic: give `values` and `offsets` to a library by DLPack first")
    return import_module("jax.numpy" if name.startswith("jax") else name)


def _on_host(array: Any) -> Any:
    """The array as one that Python can read: NumPy's, but for ``stoker.Tensor``."""
    if hasattr(array, "cpu"):
        return array.cpu().numpy()
    if hasattr(array, "memoryview"):
        return array.memoryview()
    if hasattr(array, "get"):
        return array.get()
    import numpy

    return numpy.asarray(array)  # NumPy's own, or JAX's.
