"""Images of native size: each has as many pixels as it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .ragged import Ragged, library_of


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
