"""What one iteration over a loader is made of."""

from __future__ import annotations

import time
import warnings
from typing import Any, Callable

from .batch import Batch
from .errors import StokerWarning


class Silence:
    """A wait for a batch, which is told when it is long, and why; and again when it is over."""

    _TELL_AFTER = 3.0  # Seconds.

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._told = False

    def go_on(self, document: Callable[..., dict[str, Any]], stats: Callable[..., int]) -> None:
        if self._told or time.monotonic() - self._begun < self._TELL_AFTER:
            return
        self._told = True
        servers = document(stats).get("servers", [])
        reasons = [f"{server['address']}: {server['problem'] or 'connected, and at work'}" for server in servers]
        self._warn(f"no batch for {self._TELL_AFTER:g} s ({'; '.join(reasons)}): waiting on")

    def end(self) -> None:
        if self._told:
            self._warn(f"a batch came after {time.monotonic() - self._begun:.0f} s")

    def _warn(self, text: str) -> None:
        warnings.warn(text, StokerWarning, stacklevel=5)


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
