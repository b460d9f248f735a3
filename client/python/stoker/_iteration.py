"""What iter(loader) gives."""

from __future__ import annotations

from typing import Any, Callable

from .batch import Batch


class Epoch:
    """One iteration over a loader."""

    def __init__(self, loader: Any, iteration: int, hand_out: Callable[[Batch], Any]) -> None:
        self._loader = loader
        self._iteration = iteration
        self._hand_out = hand_out
        self._over = False

    def __iter__(self) -> Epoch:
        return self

    def __next__(self) -> Any:
        if self._over:
            raise StopIteration
        batch = self._loader._next(self._iteration)
        if batch is None:
            self._over = True
            raise StopIteration
        return self._hand_out(batch)
