"""Sparse fields: arrays of which most elements are 0, so that the others travel with their places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .ragged import library_of


class Sparse:
    """A batch's samples of an array that is mostly 0: the places of the elements that are not, and these.

    ``len(sparse)`` is the number of samples, and ``sparse[i]`` the places and the elements of sample i, views of
    ``indices`` and ``values``. The arrays are as ``Ragged`` has them.
    """

    __slots__ = ("indices", "values", "offsets", "dense_shape")

    #: The places of all samples, one after another, int32, or int64 for arrays of more than 2^31 elements: counted in
    #: the flattened array, ascending in each sample, none twice.
    indices: Any
    #: The element at each place; None where each is 1.
    values: Any
    #: One int64 more than there are samples: ``indices[offsets[i]:offsets[i + 1]]`` are those of sample i.
    offsets: Any
    #: The shape of the array that a sample stands for.
    dense_shape: tuple[int, ...]

    def __init__(self, indices: Any, values: Any, offsets: Any, dense_shape: Sequence[int]) -> None:
        self.indices = indices
        self.values = values
        self.offsets = offsets
        self.dense_shape = tuple(dense_shape)

    def __len__(self) -> int:
        return int(self.offsets.shape[0]) - 1

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        """The places of one sample, and its elements or None. Negative numbers count from the last sample.

        On a GPU this waits for the offsets. Raises IndexError where there is no such sample.
        """
        samples = len(self)
        if not -samples <= index < samples:
            raise IndexError(f"{index}: there are {samples} samples")
        index %= samples
        own = slice(int(self.offsets[index]), int(self.offsets[index + 1]))
        return self.indices[own], None if self.values is None else self.values[own]

    def __repr__(self) -> str:
        shape = "×".join(map(str, self.dense_shape))
        return f"stoker.Sparse({len(self)} samples of {shape}, {self.indices.shape[0]} elements)"

    @property
    def lengths(self) -> Any:
        """How many elements each sample has that are not 0, an int64 array of samples."""
        return self.offsets[1:] - self.offsets[:-1]

    def to_torch(self, layout: str = "coo") -> Any:
        """The samples as one sparse tensor of torch, of samples × dense_shape.

        ``layout`` is "coo", coalesced, or, for arrays of one dimension, "csr", which shares the memory. Elements without
        values are float32. Raises TypeError unless the arrays are torch's.
        """
        import torch

        if not isinstance(self.indices, torch.Tensor):
            raise TypeError("to_torch: needs torch's tensors; make the loader with output='torch'")
        size = (len(self), *self.dense_shape)
        elements = self._elements(torch)
        if layout == "csr":
            if len(self.dense_shape) != 1:
                raise ValueError(f"to_torch: csr has rows of one dimension, and dense_shape is {self.dense_shape}")
            return torch.sparse_csr_tensor(self.offsets, self.indices.long(), elements, size)
        if layout != "coo":
            raise ValueError(f"to_torch: layout {layout!r} is neither 'coo' nor 'csr'")
        axes, rest = [], self.indices.long()
        for extent in reversed(self.dense_shape):
            axes.append(rest % extent)
            rest = rest // extent
        indices = torch.stack([torch.repeat_interleave(self.lengths), *reversed(axes)])
        return torch.sparse_coo_tensor(indices, elements, size)._coalesced_(True)

    def dense(self) -> Any:
        """One array of samples × dense_shape. The op ToDense has the loader make it. Elements without values are float32."""
        library = library_of(self.indices)
        elements = self._elements(library)
        device = {"device": self.indices.device} if library.__name__ == "torch" else {}
        count = math.prod(self.dense_shape)
        flat = library.zeros((len(self) * count,), dtype=elements.dtype, **device)
        sample = library.searchsorted(self.offsets[1:], library.arange(self.indices.shape[0], **device), side="right")
        place = sample * count + self.indices
        if library.__name__ == "jax.numpy":
            flat = flat.at[place].set(elements)
        else:
            flat[place] = elements
        return flat.reshape(len(self), *self.dense_shape)

    def _elements(self, library: Any) -> Any:
        if self.values is not None:
            return self.values
        device = {"device": self.indices.device} if library.__name__ == "torch" else {}
        return library.ones(self.indices.shape, dtype=library.float32, **device)
