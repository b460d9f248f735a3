"""The addresses of a fleet's servers on a Ray cluster, kept up to date in every process that uses them."""

from __future__ import annotations

import atexit
import contextlib
import os
import tempfile
import threading
import uuid
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Union, overload

from .errors import UnavailableError

if TYPE_CHECKING:
    from .loader import Loader

_FIRST_WAIT = 60.0  # Seconds that a process waits for a fleet's first address.
_REPORT_EVERY = 5.0  # Seconds between two reports of what loaders waited.


class Servers(Sequence[str]):
    """A fleet's servers, for ``stoker.Loader`` in any process of the Ray job: driver, tasks, actors and trainers.

    It is a list with one ``file:`` address, of a file without a name. Once a process takes that, a thread keeps the
    file equal to the fleet's membership, and loaders read it again every two seconds. It may be passed to tasks and
    actors, such as in ``train_loop_config``.
    """

    def __init__(self, key: str, controller: Any) -> None:
        self._key = key
        self._controller = controller

    def addresses(self) -> list[str]:
        """Those of the servers that there are now: "10.0.0.5:40123"."""
        return list(_follower_of(self._key, self._controller).addresses)

    def watch(self, loader: Loader[Any]) -> None:
        """Reports every few seconds what this loader waits, by which the fleet scales, as long as the loader lives."""
        _follower_of(self._key, self._controller).watch(loader)

    def __len__(self) -> int:
        return 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[str, list[str]]:
        return [_follower_of(self._key, self._controller).name][index]

    def __repr__(self) -> str:
        known = _followers.get(self._key)  # Nobody is asked for it.
        return f"stoker.ray.Servers({', '.join(known.addresses) if known else ''})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Servers, (self._key, self._controller)


class _Follower:
    """Follows one fleet's membership in this process, by a thread. Thread-safe.

    It ends with the fleet, or before Ray does at the process's end: a call to Ray in that moment would be one too late.
    """

    def __init__(self, controller: Any) -> None:
        import ray

        self._ray = ray
        self._controller = controller
        self._lock = threading.Lock()
        self._watched: dict[str, weakref.ref[Any]] = {}  # Guarded by _lock.
        self._calling = threading.Lock()  # Held while Ray is called.
        self._ended = threading.Event()  # Set under _calling.
        self._file = tempfile.TemporaryFile()  # It has no name, so nothing is left of it, however the process ends.
        #: How a loader is told of it.
        self.name = f"file:/proc/self/fd/{self._file.fileno()}"
        self.addresses: list[str] = []
        self._is_known = threading.Event()  # There are addresses, or there will be none any more.
        threading.Thread(target=self._follow, name="stoker.ray follower", daemon=True).start()
        threading.Thread(target=self._report, name="stoker.ray reports", daemon=True).start()

    def watch(self, loader: Any) -> None:
        with self._lock:
            self._watched[uuid.uuid4().hex] = weakref.ref(loader)

    def end(self) -> None:
        """Asks Ray nothing any more. The list stays as it is."""
        with self._calling:
            self._ended.set()
        self._is_known.set()

    def await_first(self) -> _Follower:
        """Waits for the fleet's first address. UnavailableError where there is none in 60 s, or the fleet ends."""
        self._is_known.wait(_FIRST_WAIT)
        if not self.addresses and self._ended.is_set():
            raise UnavailableError("the fleet has ended")
        if not self.addresses:
            raise UnavailableError(f"the fleet has had no server for {_FIRST_WAIT:g} s; fleet.status() says why")
        return self

    def _follow(self) -> None:
        died, version = getattr(self._ray.exceptions, "ActorDiedError", ()), ""
        while version != "ended" and not self._is_over():
            try:
                version = self._take(self._ask(version))
            except died:
                break
            except Exception:  # The controller is being started anew, or Ray ends: the list stays as it is.
                self._ended.wait(1)
        self.end()

    def _is_over(self) -> bool:
        return self._ended.is_set() or not self._ray.is_initialized()

    def _ask(self, version: str) -> tuple[str, list[str]]:
        """Unlike ray.get, this never starts a Ray of its own, where the process's has just ended."""
        with self._calling:
            if self._is_over():
                return "ended", []
            future = self._controller.members.remote(version).future()
        answer: tuple[str, list[str]] = future.result(_FIRST_WAIT)
        return answer

    def _take(self, told: tuple[str, list[str]]) -> str:
        version, addresses = told
        if addresses and addresses != self.addresses:
            self._write("".join(f"{address}\n" for address in addresses))
            self.addresses = addresses
            self._is_known.set()
        return version

    def _write(self, text: str) -> None:
        """Puts another file in the place of the old one, so that nobody reads half of it."""
        with tempfile.TemporaryFile() as file:
            file.write(text.encode())
            file.flush()
            os.dup2(file.fileno(), self._file.fileno(), inheritable=False)

    def _report(self) -> None:
        while not self._ended.wait(_REPORT_EVERY):
            with self._lock:
                watched = list(self._watched.items())
            for key, reference in watched:
                waited = _waited(reference())
                if waited is None:
                    with self._lock:
                        self._watched.pop(key, None)
                    continue
                with self._calling, contextlib.suppress(Exception):
                    if not self._is_over():
                        self._controller.report.remote(key, waited)


def _waited(loader: Any) -> Optional[float]:
    """The seconds that a loader waited; None where there is none any more."""
    if loader is None:
        return None
    try:
        return float(loader.stats()["waited_seconds"])
    except Exception:  # It was closed.
        return None


_followers: dict[str, _Follower] = {}
_followers_lock = threading.Lock()


def _follower_of(key: str, controller: Any) -> _Follower:
    with _followers_lock:
        if not _followers:
            atexit.register(_end_all)  # It runs before Ray's own, which was registered when Ray was imported.
        if key not in _followers:
            _followers[key] = _Follower(controller)
        follower = _followers[key]
    return follower.await_first()


def end_following(key: str) -> None:
    """Asks the fleet of this key nothing any more, in this process."""
    with _followers_lock:
        if key in _followers:
            _followers[key].end()


def _end_all() -> None:
    for follower in list(_followers.values()):
        follower.end()
