"""Fields whose samples differ in size: boxes, keypoints, text, bytes, rows of numbers, and images of native size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Optional

#: The kinds of field that are handed out as ``Ragged``, or as what is derived of it.
KINDS = frozenset({"ragged", "bytes", "text", "boxes", "keypoints", "ragged_image"})

#: The kind of field that is two: behind its tensor stands that of NAME.sizes.
IMAGES = "ragged_image"


def belongs(field: Mapping[str, Any]) -> bool:
    """Whether a field of a loader's description is a part of the one before it, such as image.sizes."""
    return bool(field["name"].endswith(".sizes") and field["shape"] == [2])


class Ragged:
    """A batch's samples of a field that has more rows for one sample than for another, without padding.

    ``ragged[i]`` are the rows of sample i, a view of ``values``; ``len(ragged)`` is the number of samples. Both arrays
    are of the library that the loader hands out, and on the loader's device. With ``output="dlpack"`` they are
    ``stoker.Tensor``: give ``values`` and ``offsets`` to a library, and make a ``Ragged`` of what it makes of them.
    """

    __slots__ = ("values", "offsets", "kind", "box_format")

    #: The rows of all samples, one after another.
    values: Any
    #: One int64 more than there are samples: ``values[offsets[i]:offsets[i + 1]]`` are the rows of sample i.
    offsets: Any
    #: "ragged", "bytes", "text", "boxes" or "keypoints".
    kind: str
    #: What the four numbers of a box are: "xyxy", "xywh" or "cxcywh"; None for other kinds.
    box_format: Optional[str]

    def __init__(self, values: Any, offsets: Any, kind: str = "ragged", box_format: Optional[str] = None) -> None:
        self.values = values
        self.offsets = offsets
        self.kind = kind
        self.box_format = box_format

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


class RaggedImages:
    """A batch's images of native size: as many pixels as each has, without padding.

    ``images[i]`` is image i, a view of ``values``: channels × height × width with layout "channels_first", as a loader
    gives it with torch, else height × width × channels. ``len(images)`` is the number of samples. The arrays are as
    ``Ragged`` has them.
    """

    __slots__ = ("values", "offsets", "sizes", "layout")

    #: The pixels of all images, one after another and each row after row: pixels × channels, in either layout.
    values: Any
    #: One int64 more than there are samples: the pixels of image i are ``values[offsets[i]:offsets[i + 1]]``.
    offsets: Any
    #: Height and width of each image, an int32 array of samples × 2.
    sizes: Any
    #: "channels_first" or "channels_last".
    layout: str

    def __init__(self, values: Any, offsets: Any, sizes: Any, layout: str = "channels_last") -> None:
        self.values = values
        self.offsets = offsets
        self.sizes = sizes
        self.layout = layout

    def __len__(self) -> int:
        return int(self.offsets.shape[0]) - 1

    def __getitem__(self, index: int) -> Any:
        """One image. Negative numbers count from the last. On a GPU this waits for the sizes.

        Raises IndexError where there is no such sample.
        """
        samples = len(self)
        if not -samples <= index < samples:
            raise IndexError(f"{index}: there are {samples} samples")
        index %= samples
        begin, end = int(self.offsets[index]), int(self.offsets[index + 1])
        height, width = int(self.sizes[index, 0]), int(self.sizes[index, 1])
        return self._image(begin, end, height, width)

    def __iter__(self) -> Iterator[Any]:
        bounds, sizes = self.offsets.tolist(), self.sizes.tolist()
        return (self._image(begin, end, *size) for begin, end, size in zip(bounds, bounds[1:], sizes))

    def __repr__(self) -> str:
        return f"stoker.RaggedImages({len(self)} images, {self.values.shape[0]} pixels of {self.values.dtype}, {self.layout})"

    def padded(self, fill: Any = 0) -> Any:
        """One array of all images in the upper left corners of the smallest canvas that takes each of them.

        The rest is ``fill``. ``sizes`` tells which pixels are an image's own.
        """
        library = library_of(self.values)
        height, width = (int(self.sizes[:, axis].max()) if len(self) else 0 for axis in (0, 1))
        device = {"device": self.values.device} if library.__name__ == "torch" else {}
        shape = (len(self), height, width, self.values.shape[1])
        canvas = library.full(shape, fill, dtype=self.values.dtype, **device)
        if self.values.shape[0] > 0:
            row, column = library.arange(height, **device), library.arange(width, **device)
            heights, widths = self.sizes[:, 0, None, None], self.sizes[:, 1, None, None]
            place = self.offsets[:-1, None, None] + row[None, :, None] * widths + column[None, None, :]
            own = (row[None, :, None] < heights) & (column[None, None, :] < widths)
            canvas = library.where(own[..., None], self.values[place % self.values.shape[0]], canvas)
        return self._laid_out(canvas)

    def patches(self, size: int) -> Ragged:
        """Each image cut into patches of ``size`` × ``size`` pixels, row after row: patches × size × size × channels.

        Raises ValueError where a side is no multiple of ``size``; Resize with ``multiple`` makes it one.
        """
        library = library_of(self.values)
        cut = [self.values[:0].reshape(0, size, size, self.values.shape[1])]
        bounds = self.offsets.tolist()
        for (height, width), begin, end in zip(self.sizes.tolist(), bounds, bounds[1:]):
            if height % size or width % size:
                raise ValueError(f"patches: an image of {width}×{height} pixels is not made of whole {size}×{size}")
            rows = self.values[begin:end].reshape(height // size, size, width // size, size, -1)
            cut.append(rows.swapaxes(1, 2).reshape(-1, size, size, rows.shape[-1]))
        joined = library.cat(cut) if library.__name__ == "torch" else library.concatenate(cut)
        return Ragged(joined, self.offsets // (size * size))

    def nested(self) -> Any:
        """The images as a ``torch.nested`` tensor of the strided layout, a copy. Raises TypeError but for torch's."""
        import torch

        if not isinstance(self.values, torch.Tensor):
            raise TypeError("nested: needs torch's tensors; make the loader with output='torch'")
        return torch.nested.nested_tensor([image.contiguous() for image in self])

    def _image(self, begin: int, end: int, height: int, width: int) -> Any:
        library_of(self.values)
        return self._laid_out(self.values[begin:end].reshape(height, width, -1))

    def _laid_out(self, images: Any) -> Any:
        """Images with their channels last, as this hands them out."""
        if self.layout == "channels_last":
            return images
        if hasattr(images, "movedim"):
            return images.movedim(-1, -3)
        return library_of(images).moveaxis(images, -1, -3)


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
