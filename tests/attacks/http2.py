"""HTTP/2 by hand, as far as it takes to misuse it: frames, headers without compression, and a connection.

Nothing here checks what is sent. RFC 9113 defines the frames and RFC 7541 the headers.
"""

import select
import socket
import struct

GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)

ACK = END_STREAM = 0x1
END_HEADERS = 0x4

STREAM_PATH = "/stoker.v1.DataService/Stream"
DESCRIBE_PATH = "/stoker.v1.DataService/Describe"

# The largest frame that a peer takes before it allows more.
MOST_FRAME_BYTES = 16384


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">IBI", len(payload) << 8 | kind, flags, stream) + payload


def integer(value, prefix_bits, first=0):
    """An HPACK integer, whose first byte has `first` above the prefix."""
    most = (1 << prefix_bits) - 1
    if value < most:
        return bytes([first | value])
    out = bytearray([first | most])
    value -= most
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def varint(value):
    """A number as protobuf writes it."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return integer(len(data), 7) + data


def field(name, value, indexed=False):
    """A header with its name and value spelled out; `indexed` adds it to the peer's table."""
    return (b"\x40" if indexed else b"\x00") + string(name) + string(value)


def request_headers(path, extra=()):
    fields = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "attack"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        *extra,
    ]
    return b"".join(field(name, value) for name, value in fields)


def message(data, compressed=False, length=None):
    """A gRPC message, which may lie about its length."""
    return struct.pack(">BI", compressed, len(data) if length is None else length) + data


class Closed(Exception):
    """The peer closed the connection."""


class Connection:
    """A connection that sends what it is told to and reads in between, so that the peer's writes never wait for it."""

    def __init__(self, address, source=None, greet=True, acknowledge=True):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=30, source_address=(source, 0) if source else None)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.acknowledge = acknowledge
        self.sent = 0
        self.received = bytearray()
        self.frames = []  # (kind, flags, stream, payload), those that were not looked at yet
        if greet:  # Before anything is read, and answered.
            self.sent += self.socket.send(GREETING + frame(SETTINGS, 0, 0))

    def _await(self, events, seconds):
        """What of `events` there is, or the end of the connection, within so many seconds."""
        ready = select.poll()
        ready.register(self.socket, events)
        found = ready.poll(seconds * 1000)
        return found[0][1] if found else 0

    def send(self, data, seconds=30):
        """Sends all of `data`. Raises Closed if the peer has gone, or takes nothing for so many seconds."""
        view = memoryview(data)
        while view:
            ready = self._await(select.POLLIN | select.POLLOUT, seconds)
            if not ready:
                raise Closed
            if ready & ~select.POLLOUT:
                self.read_available()
            try:
                done = self.socket.send(view[: 1 << 18])
            except BlockingIOError:
                continue
            except OSError as gone:
                raise Closed from gone
            self.sent += done
            view = view[done:]

    def read_available(self):
        """Takes in what has come."""
        while True:
            try:
                data = self.socket.recv(1 << 16)
            except BlockingIOError:
                return
            except OSError as gone:
                raise Closed from gone
            if not data:
                raise Closed
            self.received += data
            self._cut()

    def _cut(self):
        at, acknowledged = 0, False
        while len(self.received) - at >= 9:
            head, flags, stream = struct.unpack_from(">IBI", self.received, at)
            length = head >> 8
            if len(self.received) - at < 9 + length:
                break
            kind = head & 0xFF
            if kind == SETTINGS and not flags & ACK:
                acknowledged = acknowledged or self.acknowledge
            elif kind in (RST_STREAM, GOAWAY, HEADERS) or flags & ACK:
                self.frames.append((kind, flags, stream, bytes(self.received[at + 9 : at + 9 + length])))
            at += 9 + length
        del self.received[:at]
        if acknowledged:
            self.send(frame(SETTINGS, ACK, 0))

    def is_open(self):
        try:
            self.read_available()
        except Closed:
            return False
        return True

    def await_frame(self, wanted, seconds=30):
        """The first frame for which `wanted(kind, flags, stream, payload)`. Earlier ones are dropped."""
        while True:
            while self.frames:
                candidate = self.frames.pop(0)
                if wanted(*candidate):
                    return candidate
            if not self._await(select.POLLIN, seconds):
                raise Closed
            self.read_available()

    def await_answer(self, seconds=30):
        """Returns once the peer has read all that was sent. Raises Closed if it closed instead, or is too slow."""
        self.send(frame(PING, 0, 0, b"attacked"), seconds)
        self.await_frame(lambda kind, flags, *_: kind == PING and flags & ACK, seconds)

    def close(self):
        self.socket.close()
