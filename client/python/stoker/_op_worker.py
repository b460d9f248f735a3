"""The process in which a server runs ops in Python: ``python3 -m stoker._op_worker BYTES FILE…``.

stokerd starts it (server/plugin/python_process.h), with a socket as descriptor 3, memory for an image as descriptor 4, and rooms
for several images as the descriptors after it. What an op prints goes to the server's log.
It loads the files, says which ops they have, and then answers requests until the socket is closed. BYTES is by how much it
may grow after that.
"""

from __future__ import annotations

import json
import math
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
from typing import Any, Iterable

_SOCKET, _MEMORY = 3, 4
_PROTOCOL = 3  # kProtocol of python_offer.cc.
_MOST_MESSAGE = 1 << 20

# Kind, op, height and width before and after, key, position; then the values of the arguments.
_REQUEST = struct.Struct("<IIqqqqQQ")
_APPLY, _SIZE, _ROOM = 1, 2, 3

# Kind, the room's number, images, calls; then the images, the calls, and the values of the calls' arguments.
_ROOM_REQUEST = struct.Struct("<IIII")
# Number of its call, 0, height and width before and after, key, position, where it lies, where its result goes.
_ROOM_IMAGE = struct.Struct("<IIqqqqQQQQ")
# Op, bytes of its values.
_ROOM_CALL = struct.Struct("<II")

# A room, as server/plugin/python_room.h draws it: for each image result, place and bytes of text; texts; images.
_ROOM_SLOT = struct.Struct("<III")
_SLOT_BYTES, _STOP_AT, _TEXTS_AT, _TEXT_BYTES = 16, 12, 256, 4096
_ROOM_OK, _ROOM_BAD_SAMPLE, _ROOM_FAILED = 1, 2, 3

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
    _Answers(definitions, files, limit - growth // _NEAR).all()


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
                    "arguments": [_described(argument) for argument in definition.arguments],
                }
            )
    return offer, definitions


def _described(argument: Any) -> dict[str, Any]:
    if not argument.is_field:
        return {"name": argument.name, "type": argument.type.__name__, "default": argument.default, "required": argument.required}
    example = argument.default
    field = {"dtype": example.dtype.name, "shape": list(example.shape), "default": example.tobytes().hex()}
    return {"name": argument.name, "type": "field", "required": False, **field}


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


class _Memory:
    """Memory that the server shares, with images in it. It may grow when the server wants it to."""

    def __init__(self, descriptor: int) -> None:
        import numpy

        self._ndarray = numpy.ndarray
        self._descriptor = descriptor
        self.map: Any = None
        self._views: dict[tuple[int, int, int], Any] = {}

    def at(self, offset: int, height: int, width: int) -> Any:
        view = self._views.get((offset, height, width))
        return self._make(offset, height, width) if view is None else view

    def _make(self, offset: int, height: int, width: int) -> Any:
        if self.map is None or offset + height * width * 3 > len(self.map):
            self._views.clear()
            self.map = mmap.mmap(self._descriptor, os.fstat(self._descriptor).st_size)
        if len(self._views) > 1000:
            self._views.clear()
        view = self._ndarray((height, width, 3), "uint8", self.map, offset)
        self._views[offset, height, width] = view
        return view


class _Answers:
    """Answers requests."""

    def __init__(self, definitions: list[Any], files: list[str], near: int) -> None:
        from .ops import BadSample, Draws

        self._bad_sample, self._draws = BadSample, Draws
        self._definitions, self._files, self._near = definitions, files, near
        self._pixels = _Memory(_MEMORY)
        self._rooms: dict[int, _Memory] = {}
        self._known: dict[tuple[int, bytes], dict[str, Any]] = {}

    def all(self) -> None:
        message = bytearray(_MOST_MESSAGE)
        while True:
            size = os.readv(_SOCKET, [message])
            if size == 0:
                return
            kind = message[0]
            answer = self._room(message, size) if kind == _ROOM else self._one(message, size)
            os.write(_SOCKET, answer)
            if answer[0] == _LEAVING:
                return

    def _one(self, message: bytearray, size: int) -> bytes:
        kind, op, height, width, height_after, width_after, key, position = _REQUEST.unpack_from(message)
        definition = self._definitions[op]
        text, result, place = b"", _OK, _IN_OUT
        try:
            arguments = self._arguments(op, bytes(message[_REQUEST.size : size]))
            if kind == _SIZE:
                height_after, width_after = definition.size_after(height, width, arguments)
            else:
                out = -(-height * width * 3 // _ALIGNMENT) * _ALIGNMENT
                after = height_after, width_after
                place = self._apply(self._pixels, 0, out, (height, width), after, definition, self._draws(key, position), arguments)
        except BaseException as error:  # An op may raise whatever it likes.
            result, text = self._blame(error)
        return _ANSWER.pack(result, place, height_after, width_after) + text

    def _room(self, message: bytearray, size: int) -> bytes:
        """Has ops work on the images of a room, up to the first that fails."""
        _, number, images, calls = _ROOM_REQUEST.unpack_from(message)
        room = self._rooms.get(number)
        if room is None:
            room = self._rooms[number] = _Memory(_MEMORY + 1 + number)
            room.at(0, 1, 1)
        calls_at = _ROOM_REQUEST.size + images * _ROOM_IMAGE.size
        called = list(self._calls(memoryview(message)[calls_at:size], calls))
        slots, draws = room.map, self._draws
        parts = memoryview(message)[_ROOM_REQUEST.size : calls_at]
        for i, part in enumerate(_ROOM_IMAGE.iter_unpack(parts)):
            if slots[_STOP_AT]:
                break
            call, _, height, width, height_after, width_after, key, position, at, out = part
            try:
                op, values = called[call]
                definition, arguments = self._definitions[op], self._arguments(op, values)
                place = self._apply(
                    room, at, out, (height, width), (height_after, width_after), definition, draws(key, position), arguments
                )
                _ROOM_SLOT.pack_into(slots, i * _SLOT_BYTES, _ROOM_OK, place, 0)
            except BaseException as error:  # An op may raise whatever it likes.
                result, text = self._blame(error)
                if result == _LEAVING:
                    return _ANSWER.pack(result, 0, 0, 0) + text
                slots[_TEXTS_AT + i * _TEXT_BYTES : _TEXTS_AT + i * _TEXT_BYTES + len(text)] = text
                failed = result == _FAILED
                _ROOM_SLOT.pack_into(slots, i * _SLOT_BYTES, _ROOM_FAILED if failed else _ROOM_BAD_SAMPLE, 0, len(text))
                if failed:
                    break
        return _ANSWER.pack(_OK, 0, 0, 0)

    @staticmethod
    def _calls(parts: memoryview, calls: int) -> Iterable[tuple[int, bytes]]:
        at = calls * _ROOM_CALL.size
        for op, value_bytes in _ROOM_CALL.iter_unpack(parts[:at]):
            yield op, bytes(parts[at : at + value_bytes])
            at += value_bytes

    @staticmethod
    def _apply(
        memory: _Memory,
        at: int,
        out: int,
        size: tuple[int, int],
        after: tuple[int, int],
        definition: Any,
        rng: Any,
        arguments: dict[str, Any],
    ) -> int:
        """Has an op work on the image at `at`, and returns where its result lies: there too, unless its size changes."""
        image = memory.at(at, *size)
        made = definition.apply(image, rng, arguments)
        if size != after:
            memory.at(out, *after)[...] = made
            return _IN_OUT
        if made is not image:
            image[...] = made
        return _IN_IN

    def _blame(self, error: BaseException) -> tuple[int, bytes]:
        """Says whose fault it is, and why."""
        if isinstance(error, self._bad_sample):
            return _BAD_SAMPLE, _clipped(str(error) or "it does not say why")
        text = _where(error, self._files)
        # Not every library says by a MemoryError that it got none.
        if isinstance(error, MemoryError) or _data_bytes() > self._near:
            return _LEAVING, _clipped(f"{text}: out of memory")
        return _FAILED, _clipped(text)

    def _arguments(self, op: int, coded: bytes) -> dict[str, Any]:
        if self._definitions[op].sees_fields:  # Each sample has others.
            return _values(self._definitions[op], coded)
        arguments = self._known.get((op, coded))
        if arguments is None:
            if len(self._known) > 1000:
                self._known.clear()
            arguments = self._known[op, coded] = _values(self._definitions[op], coded)
        return arguments


def _clipped(text: str) -> bytes:
    return text.encode("utf-8", "replace")[:_MOST_TEXT]


def _values(definition: Any, coded: bytes) -> dict[str, Any]:
    """Reads what CodeValues of python_ops.cc wrote."""
    values: dict[str, Any] = {}
    offset = 0
    for argument in definition.arguments:
        if argument.is_field:
            values[argument.name], offset = _field(argument.default.dtype, coded, offset)
        elif argument.type is str:
            (length,) = struct.unpack_from("<I", coded, offset)
            values[argument.name] = coded[offset + 4 : offset + 4 + length].decode()
            offset += 4 + length
        else:
            (values[argument.name],) = struct.unpack_from("<" + _TYPE_LETTERS[argument.type], coded, offset)
            offset += 1 if argument.type is bool else 8
    return values


def _field(dtype: Any, coded: bytes, offset: int) -> tuple[Any, int]:
    """Reads a field, and returns where it ends. The array cannot be written to."""
    import numpy

    (dimensions,) = struct.unpack_from("<I", coded, offset)
    shape = struct.unpack_from(f"<{dimensions}q", coded, offset + 4)
    offset += 4 + 8 * dimensions
    count = math.prod(shape)
    array = numpy.frombuffer(coded, dtype, count, offset) if count else numpy.empty(0, dtype)
    return array.reshape(shape), offset + count * dtype.itemsize


if __name__ == "__main__":
    main()
