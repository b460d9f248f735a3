"""Finds libstoker.so, declares the functions of client/capi/stoker.h for ctypes, and turns their codes into errors."""

from __future__ import annotations

import ctypes
import json
import os
import threading
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Callable, Optional, TypeVar

from .errors import ForkedError, LibraryError, error_of

T = TypeVar("T")

#: The oldest STOKER_ABI_VERSION that this package can use.
ABI_VERSION = 5

OK = 0
DEADLINE_EXCEEDED = 4

#: How many seconds a call into the library may last. Python sees its signals in between.
PATIENCE = 0.1


class TensorStruct(ctypes.Structure):
    """The struct stoker_tensor."""

    _fields_ = [
        ("name", c_char_p),
        ("data", c_void_p),
        ("bytes", c_uint64),
        ("shape", POINTER(c_int64)),
        ("ndim", c_int32),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("dtype_code", c_uint8),
        ("dtype_bits", c_uint8),
    ]


class BatchInfoStruct(ctypes.Structure):
    """The struct stoker_batch_info."""

    _fields_ = [
        ("epoch", c_uint64),
        ("size", c_int64),
        ("real", c_int64),
        ("positions", POINTER(c_uint64)),
        ("sample_ids", POINTER(c_uint64)),
        ("tensors", c_int32),
    ]


_FUNCTIONS = {
    "stoker_version": (c_char_p, []),
    "stoker_error": (c_char_p, []),
    "stoker_check_device": (c_int, [c_char_p]),
    "stoker_free": (None, [c_void_p]),
    "stoker_draws_fill": (None, [c_uint64, c_uint64, c_uint64, c_void_p, c_size_t]),
    "stoker_obstacles": (c_int, [c_char_p, POINTER(c_void_p)]),
    "stoker_list": (c_int, [c_char_p, POINTER(c_void_p)]),
    "stoker_loader_create": (c_int, [c_char_p, POINTER(c_void_p)]),
    "stoker_loader_destroy": (None, [c_void_p]),
    "stoker_loader_describe": (c_int, [c_void_p, POINTER(c_void_p)]),
    "stoker_loader_next": (c_int, [c_void_p, c_double, POINTER(c_void_p)]),
    "stoker_loader_waiting": (c_int, [c_void_p]),
    "stoker_loader_set_epoch": (c_int, [c_void_p, c_uint64]),
    "stoker_loader_cancel": (None, [c_void_p]),
    "stoker_loader_state": (c_int, [c_void_p, POINTER(c_void_p)]),
    "stoker_loader_restore": (c_int, [c_void_p, c_char_p, c_int]),
    "stoker_loader_stats": (c_int, [c_void_p, POINTER(c_void_p)]),
    "stoker_loader_classes": (c_int, [c_void_p, POINTER(c_void_p)]),
    "stoker_loader_labels": (c_int, [c_void_p, POINTER(c_void_p)]),
    "stoker_loader_names": (c_int, [c_void_p, POINTER(c_uint64), c_uint64, POINTER(c_void_p)]),
    "stoker_batch_get_info": (None, [c_void_p, POINTER(BatchInfoStruct)]),
    "stoker_batch_get_tensor": (c_int, [c_void_p, c_int32, POINTER(TensorStruct)]),
    "stoker_batch_name": (c_char_p, [c_void_p, c_int64]),
    "stoker_batch_substituted": (c_int, [c_void_p, POINTER(c_void_p)]),
    "stoker_batch_part_counts": (c_int, [c_void_p, POINTER(c_int64), c_int32]),
    "stoker_batch_use_on": (c_int, [c_void_p, c_void_p]),
    "stoker_batch_wait": (c_int, [c_void_p]),
    "stoker_batch_dlpack": (c_int, [c_void_p, c_int32, POINTER(c_void_p)]),
    "stoker_dlpack_use_on": (c_int, [c_void_p, c_void_p]),
    "stoker_batch_release": (None, [c_void_p]),
    "stoker_digest_create": (c_void_p, []),
    "stoker_digest_add": (c_int, [c_void_p, c_void_p]),
    "stoker_digest_hex": (c_int, [c_void_p, POINTER(c_void_p)]),
    "stoker_digest_destroy": (None, [c_void_p]),
}


def path() -> Path:
    """Where libstoker.so is: STOKER_LIBRARY in the environment names it, or it lies beside this file, as in wheels."""
    chosen = os.environ.get("STOKER_LIBRARY")
    found = Path(chosen) if chosen else Path(__file__).with_name("libstoker.so")
    if found.is_file():
        return found
    if chosen:
        raise LibraryError(f"STOKER_LIBRARY names {chosen}, which is no file")
    raise LibraryError(
        f"there is no {found}: install the wheel, or set STOKER_LIBRARY to a libstoker.so that you built"
    )


_lock = threading.Lock()
_loaded: Optional[ctypes.CDLL] = None


def library() -> ctypes.CDLL:
    """The library, loaded once. Raises LibraryError with the reason."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = _load(path())
    return _loaded


def _load(found: Path) -> ctypes.CDLL:
    try:
        loaded = ctypes.CDLL(str(found))
    except OSError as error:
        raise LibraryError(f"{found} does not load: {error}") from error
    try:
        loaded.stoker_abi_version.restype = c_uint32
        version = loaded.stoker_abi_version()
        if version < ABI_VERSION:
            raise LibraryError(f"{found} is too old: its ABI version is {version}, this package needs {ABI_VERSION}")
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype = result
            function.argtypes = arguments
    except AttributeError as error:
        raise LibraryError(f"{found} is no libstoker.so that this package can use: {error}") from error
    return loaded


def check(code: int) -> None:
    """Raises what the calling thread's last call failed with, unless `code` is 0."""
    if code != OK:
        raise error_of(code, library().stoker_error().decode("utf-8", "replace"))


def text_from(function: Callable[..., int], *arguments: Any) -> str:
    """The string that `function` gives through its last parameter, freed."""
    text = c_void_p()
    check(function(*arguments, ctypes.byref(text)))
    try:
        return ctypes.cast(text, c_char_p).value.decode("utf-8", "replace")  # type: ignore[union-attr]
    finally:
        library().stoker_free(text)


def document_from(function: Callable[..., int], *arguments: Any) -> dict[str, Any]:
    """The JSON object that `function` gives through its last parameter."""
    document: dict[str, Any] = json.loads(text_from(function, *arguments))
    return document


def interruptible(
    work: Callable[[], T], undo: Callable[[T], None], meanwhile: Callable[[], None] = lambda: None
) -> T:
    """Returns what `work` returns, or raises what it raises.

    `work` runs in a thread, so that Ctrl-C need not wait for it. Where it is interrupted, `undo` gets its result. The
    caller's thread calls `meanwhile` now and then.
    """
    outcome: list[Any] = []
    lock = threading.Lock()
    abandoned = False

    def run() -> None:
        try:
            result: Any = (True, work())
        except BaseException as error:  # The caller gets it, below.
            result = (False, error)
        with lock:
            outcome.append(result)
            late = abandoned
        if late and result[0]:
            undo(result[1])

    thread = threading.Thread(target=run, name="stoker", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(PATIENCE)
            if thread.is_alive():
                meanwhile()
    except BaseException:
        with lock:
            abandoned = True
            done = bool(outcome)
        if done and outcome[0][0]:
            undo(outcome[0][1])
        raise
    succeeded, value = outcome[0]
    if not succeeded:
        raise value
    result: T = value
    return result


class Owner:
    """Knows the process that it was made in. The library's handles belong to that process alone.

    Those that own a handle may die after their modules' globals are gone, as Python ends. So what their end takes hangs
    on their classes and themselves.
    """

    _getpid = staticmethod(os.getpid)

    def __init__(self) -> None:
        self._pid = self._getpid()

    def in_child(self) -> bool:
        return self._getpid() != self._pid

    def check_process(self) -> None:
        if self.in_child():
            raise ForkedError(
                f"this loader was made in process {self._pid} and is used in its forked child {self._getpid()}, where "
                "its threads and connections do not exist. The servers do the work of a DataLoader's workers: leave "
                "num_workers at 0, as in torch.utils.data.DataLoader(loader, batch_size=None), or iterate over the "
                "loader itself. A process that needs its own batches is spawned, not forked, and makes its own loader"
            )
