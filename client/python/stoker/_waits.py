"""Waits that are told when they are long, and why."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping
from typing import Any, Callable

from . import _library, _options
from .errors import StokerWarning


class _Wait:
    """A wait that is told when it is long, and again when it is over."""

    _TELL_AFTER = 3.0  # Seconds.
    _depth = 5  # Of the user's line in the stack of _warn.

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._told = False

    def _is_to_be_told(self) -> bool:
        if self._told or time.monotonic() - self._begun < self._TELL_AFTER:
            return False
        self._told = True
        return True

    def _warn(self, text: str) -> None:
        warnings.warn(text, StokerWarning, stacklevel=self._depth)


class Connecting(_Wait):
    """A wait for the first server."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__()
        words = ("servers", "tls_ca_file", "tls_server_name", "tls_cert_file", "tls_key_file", "token_file")
        self._options = _options.as_json({word: options.get(word) for word in words})

    def go_on(self) -> None:
        if not self._is_to_be_told():
            return
        obstacles = _library.library().stoker_obstacles
        ask = lambda: _library.text_from(obstacles, self._options)  # noqa: E731
        reasons = json.loads(_library.interruptible(ask, lambda text: None)) or ["connected, and no answer yet"]
        self._warn(f"no server answered for {self._TELL_AFTER:g} s ({'; '.join(reasons)}): waiting on")

    def end(self) -> None:
        if self._told:
            self._warn(f"a server answered after {time.monotonic() - self._begun:.0f} s")


class Silence(_Wait):
    """A wait for a batch."""

    def go_on(self, document: Callable[..., dict[str, Any]], stats: Callable[..., int]) -> None:
        if not self._is_to_be_told():
            return
        servers = document(stats).get("servers", [])
        reasons = [f"{server['address']}: {server['problem'] or 'connected, and at work'}" for server in servers]
        self._warn(f"no batch for {self._TELL_AFTER:g} s ({'; '.join(reasons)}): waiting on")

    def end(self) -> None:
        if self._told:
            self._warn(f"a batch came after {time.monotonic() - self._begun:.0f} s")
