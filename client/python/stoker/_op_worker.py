"""The process in which a server runs ops in Python: ``python3 -m stoker._op_worker BYTES FILE…``.

stokerd starts it (server/plugin/python_process.h), with a socket as descriptor 3 and memory for pixels as descriptor 4. What an op
prints goes to the server's log.
It loads the files, says which ops they have, and then answers requests until the socket is closed. BYTES is by how much it
may grow after that.
"""

from __future__ import annotations

import json
import mmap
import os
import resource
import select
import signal
import struct
import sys
import threading
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

_SOCKET, _MEMORY = 3, 4
_PROTOCOL = 1  # kProtocol of python_process.cc.
_MOST_MESSAGE = 1 << 20

# Kind, op, height and width before and after, key, position; then the values of the arguments.
_REQUEST = struct.Struct("<IIqqqqQQ")
_APPLY, _SIZE = 1, 2

# Result, place of the pixels, height, width; then text.
_ANSWER = struct.Struct("<IIqq")
_OK, _BAD_SAMPLE, _FAILED, _LEAVING = 0, 1, 2, 3
_IN_OUT, _IN_IN = 0, 1

_MOST_TEXT = 4000  # bytes
_NEAR = 4  # A process that fails in the last part of so many of what it may grow is replaced.
_ALIGNMENT = 64  # The result's place begins at a multiple of this.
_TYPE_LETTERS = {float: "d", int: "q", bool: "?", str: "s"}


def main() -> None:
    growth, files = int(sys.argv[1]), sys.argv[2:]
    # The server ends this process by closing its socket, after the jobs that it still serves.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    try:
        offer, definitions = _load(files)
    except BaseException as error:  # A file may raise whatever it likes.
        os.write(_SOCKET, json.dumps({"error": _where(error, files)}).encode())
        return
    limit = _bound_growth(growth)
    os.write(_SOCKET, json.dumps({"protocol": _PROTOCOL, "ops": offer}).encode())
    _answer_all(definitions, files, limit - growth // _NEAR)


def _load(files: list[str]) -> tuple[list[dict[str, Any]], list[Any]]:
    from .ops import Definition

    offer, definitions = [], []
    for number, file in enumerate(files):
        module = _module_of(file, number)
        own = [v.__stoker_op__ for v in vars(module).values() if isinstance(_attribute(v), Definition)]
        if not own:
            raise ValueError(f"{file} has no ops; decorate a function with @stoker.op(version=1)")
        for definition in own:
            definitions.append(definition)
            offer.append(
                {
                    "file": file,
                    "name": definition.name,
                    "version": definition.version,
                    "summary": definition.summary,
                    "made_of": definition.made_of(),
                    "changes_size": definition.size is not None,
                    "arguments": [
                        {"name": a.name, "type": a.type.__name__, "default": a.default, "required": a.required}
                        for a in definition.arguments
                    ],
                }
            )
    return offer, definitions


def _attribute(value: Any) -> Any:
    return getattr(value, "__dict__", {}).get("__stoker_op__")


def _module_of(file: str, number: int) -> ModuleType:
    name = f"stoker_own_ops_{number}"
    module = ModuleType(name)
    module.__file__ = file
    module.__dict__["__stoker_source__"] = source = Path(file).read_bytes()  # What is hashed is what runs.
    sys.modules[name] = module
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    exec(compile(source, file, "exec"), module.__dict__)
    return module


def _bound_growth(growth: int) -> int:
    """Lets this process take `growth` bytes more than it has. Then it gets no memory, and Python raises MemoryError."""
    limit = _data_bytes() + growth
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    return limit


def _data_bytes() -> int:
    with open("/proc/self/status", encoding="ascii") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmData:"))


def _end_with_the_server() -> None:
    """Ends this process when the server is gone, also while an op runs."""
    gone = select.poll()
    gone.register(_SOCKET, 0)  # Without events it waits for the other end's closing alone.
    gone.poll()
    os._exit(0)


def _where(error: BaseException, files: list[str]) -> str:
    """Says what was raised, and at which line of the operator's files."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename in files]
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    return f"{os.path.basename(own[-1].filename)}:{own[-1].lineno}: {text}" if own else text


class _Pixels:
    """The memory that the server shares. It grows when the server wants it to."""

    def __init__(self) -> None:
        import numpy

        self._ndarray = numpy.ndarray
        self._map: Any = None
        self._views: dict[tuple[int, int, int], Any] = {}

    def at(self, offset: int, height: int, width: int) -> Any:
        view = self._views.get((offset, height, width))
        return self._make(offset, height, width) if view is None else view

    def _make(self, offset: int, height: int, width: int) -> Any:
        if self._map is None or offset + height * width * 3 > len(self._map):
            self._views.clear()
            self._map = mmap.mmap(_MEMORY, os.fstat(_MEMORY).st_size)
        if len(self._views) > 1000:
            self._views.clear()
        view = self._ndarray((height, width, 3), "uint8", self._map, offset)
        self._views[offset, height, width] = view
        return view


def _answer_all(definitions: list[Any], files: list[str], near: int) -> None:
    from .ops import BadSample, Draws

    pixels = _Pixels()
    known: dict[tuple[int, bytes], dict[str, Any]] = {}
    message = bytearray(_MOST_MESSAGE)
    while True:
        size = os.readv(_SOCKET, [message])
        if size == 0:
            return
        kind, op, height, width, height_after, width_after, key, position = _REQUEST.unpack_from(message)
        definition = definitions[op]
        text, result, place = "", _OK, _IN_OUT
        try:
            coded = bytes(message[_REQUEST.size : size])
            arguments = known.get((op, coded))
            if arguments is None:
                if len(known) > 1000:
                    known.clear()
                arguments = known[op, coded] = _values(definition, coded)
            if kind == _SIZE:
                height_after, width_after = definition.size_after(height, width, arguments)
            else:
                image = pixels.at(0, height, width)
                made = definition.apply(image, Draws(key, position), arguments)
                if made is image:
                    place = _IN_IN
                else:
                    room = -(-height * width * 3 // _ALIGNMENT) * _ALIGNMENT
                    pixels.at(room, height_after, width_after)[...] = made
        except BadSample as error:
            text, result = str(error) or "it does not say why", _BAD_SAMPLE
        except MemoryError as error:
            text, result = f"{_where(error, files)}: out of memory", _LEAVING
        except BaseException as error:  # An op may raise whatever it likes.
            text, result = _where(error, files), _FAILED
            if _data_bytes() > near:  # Not every library says by a MemoryError that it got none.
                text, result = f"{text}: out of memory", _LEAVING
        words = text.encode("utf-8", "replace")[:_MOST_TEXT]
        os.write(_SOCKET, _ANSWER.pack(result, place, height_after, width_after) + words)
        if result == _LEAVING:
            return


def _values(definition: Any, coded: bytes) -> dict[str, Any]:
    """Reads what CodeValues of python_ops.cc wrote."""
    values, offset = {}, 0
    for argument in definition.arguments:
        if argument.type is str:
            (length,) = struct.unpack_from("<I", coded, offset)
            values[argument.name] = coded[offset + 4 : offset + 4 + length].decode()
            offset += 4 + length
        else:
            (values[argument.name],) = struct.unpack_from("<" + _TYPE_LETTERS[argument.type], coded, offset)
            offset += 1 if argument.type is bool else 8
    return values


if __name__ == "__main__":
    main()
