"""The random numbers that an op of one's own has for a sample."""

from __future__ import annotations

import ctypes
import math
from typing import Any, Optional, Sequence, Union

from . import _library

Size = Union[None, int, Sequence[int]]

_BUFFERED = 16  # Words that are fetched at once for single numbers.
_STEP = 2.0**-53


class Draws:
    """Random numbers by a key: the same on every machine, whatever was drawn for other samples.

    They are those that the same op would draw in C++ (``stoker::op::Draws``): Philox4x32-10, counted from the sample's
    position. With ``size``, a number or a shape, each gives an array of what so many single calls would give.
    """

    __slots__ = ("_buffer", "_buffer_at", "_key", "_numpy", "_position", "_used")

    def __init__(self, key: int = 0, position: int = 0) -> None:
        """``key`` stands for the seed, the epoch and the op's place; a server tells it. Both are below 2^64."""
        self._key = key
        self._position = position
        self._used = 0  # Words that were drawn.
        self._buffer: Any = ()
        self._buffer_at = 0  # The number of its first word.
        self._numpy: Any = None

    def bits(self, size: Size = None) -> Any:
        """32 uniform bits: an int, or an array of uint32."""
        return self._word() if size is None else self._words(_count(size)).reshape(size)

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Size = None) -> Any:
        """Uniform in [low, high]: a float, or an array of float64. Raises ValueError unless low <= high."""
        if not low <= high:
            raise ValueError(f"uniform: low is {low}, above high, which is {high}")
        if size is None:
            return low + (high - low) * ((self._word() << 32 | self._word()) >> 11) * _STEP
        return low + (high - low) * ((self._words64(_count(size)) >> _numpy().uint64(11)) * _STEP).reshape(size)

    def integers(self, low: int, high: Optional[int] = None, size: Size = None) -> Any:
        """Whole numbers uniform in [low, high), or in [0, low) with one argument: an int, or an array of int64."""
        if high is None:
            low, high = 0, low
        bound = high - low
        if bound < 1 or bound > 1 << 63 or not -(1 << 63) <= low or high > 1 << 63:
            raise ValueError(f"integers: there is none from {low} up to, without, {high} that 64 bits hold")
        excess = 64 - max(1, (bound - 1).bit_length())
        if size is None:
            while True:
                value = (self._word() << 32 | self._word()) >> excess
                if value < bound:
                    return low + value
        return self._below(bound, excess, _count(size)).astype("int64").reshape(size) + low

    def bernoulli(self, p: float = 0.5, size: Size = None) -> Any:
        """True with probability p: a bool, or an array of bool."""
        return self.uniform(size=size) < p

    def numpy(self) -> Any:
        """A ``numpy.random.Generator`` by the same key, for all other distributions. Each call returns the same one.

        Its numbers depend on NumPy's version, which is a part of the op's identity, and on nothing that was drawn here.
        """
        if self._numpy is None:
            random = _numpy().random
            self._numpy = random.Generator(random.Philox(key=[self._key, self._position]))
        return self._numpy

    def _word(self) -> int:
        place = self._used - self._buffer_at
        if not 0 <= place < len(self._buffer):
            words = (ctypes.c_uint32 * _BUFFERED)()
            self._fill(ctypes.addressof(words), _BUFFERED)
            self._buffer = words[:]
            self._buffer_at = self._used
            place = 0
        self._used += 1
        word: int = self._buffer[place]
        return word

    def _words(self, count: int) -> Any:
        words = _numpy().empty(count, "uint32")
        self._fill(words.ctypes.data, count)
        self._used += count
        return words

    def _words64(self, count: int) -> Any:
        words = self._words(2 * count).astype("uint64")
        return words[0::2] << _numpy().uint64(32) | words[1::2]

    # `count` numbers below `bound`, which are the 64 bits without the last `excess`; what is too large is drawn again.
    def _below(self, bound: int, excess: int, count: int) -> Any:
        np = _numpy()
        parts, missing = [np.empty(0, "uint64")], count
        while missing > 0:
            begun = self._used
            values = self._words64(missing) >> np.uint64(excess)
            kept = np.flatnonzero(values < np.uint64(bound))
            parts.append(values[kept])
            missing -= len(kept)
            self._used = begun + 2 * len(values)
        return np.concatenate(parts)

    def _fill(self, address: int, count: int) -> None:
        _library.library().stoker_draws_fill(self._key, self._position, self._used, address, count)


def _numpy() -> Any:
    import numpy  # Where there are ops in Python, there is NumPy; the client does without.

    return numpy


def _count(size: Size) -> int:
    return size if isinstance(size, int) else math.prod(size)  # type: ignore[arg-type]
