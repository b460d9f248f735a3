"""An HTTP server that serves the files of a folder by ranges, also as a bucket of S3 whose listings it knows, and that
errs in ways of FAULTS at a tenth of its requests. It counts what is asked of it."""

from __future__ import annotations

import hashlib
import os
import pathlib
import random
import re
import select
import socket
import struct
import threading
import urllib.parse
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

BUCKET = "/bucket/"


class Answer:
    """What a right server says. A fault changes it."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.status, self.headers, self.body = status, headers, body
        self.headers.setdefault("Content-Length", str(len(body)))
        self.sent_bytes = len(body)  # of the body, after which the connection is closed if that is not all
        self.resets = False  # whether it is closed by a reset then
        self.waits = 0.0  # seconds before the first byte

    def refuse(self, status: int, code: str, **headers: str) -> None:
        body = f"<Error><Code>{code}</Code></Error>".encode()
        self.__init__(status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


def reset(answer: Answer, number: int) -> None:
    answer.sent_bytes = -1 if number % 2 else len(answer.body) // 2  # Before the head, or within the body.
    answer.resets = True


def truncate(answer: Answer, number: int) -> None:
    answer.sent_bytes = len(answer.body) * (number % 3) // 3


def throttle(answer: Answer, number: int) -> None:
    answer.refuse(*[(429, "TooManyRequests"), (503, "SlowDown")][number % 2], Retry_After="1")


def fail(answer: Answer, number: int) -> None:
    answer.refuse(*[(500, "InternalError"), (502, "BadGateway"), (504, "GatewayTimeout")][number % 3])


def change(answer: Answer, number: int) -> None:
    if number % 2:
        answer.refuse(412, "PreconditionFailed")
    else:
        answer.headers["ETag"] = '"another"'


def vanish(answer: Answer, _: int) -> None:
    answer.refuse(404, "NoSuchKey")


def dawdle(answer: Answer, _: int) -> None:
    answer.waits = 1.0


def misstate_length(answer: Answer, number: int) -> None:
    """Says that a range is longer, and lets the client wait for the rest; or that the body is shorter."""
    length = len(answer.body)
    answer.headers["Content-Length"] = str(length + 7 if answer.status == 206 and number % 2 else length // 2)


def shift_range(answer: Answer, _: int) -> None:
    """Says that a range begins a byte later than was asked for."""
    if value := answer.headers.get("Content-Range"):
        answer.headers["Content-Range"] = re.sub(r"\d+", lambda first: str(int(first[0]) + 1), value, count=1)


FAULTS: dict[str, Callable[[Answer, int], None]] = {
    "reset": reset,
    "truncation": truncate,
    "throttling": throttle,
    "500s": fail,
    "a changed object": change,
    "a vanished object": vanish,
    "a slow first byte": dawdle,
    "a lying Content-Length": misstate_length,
    "a wrong range": shift_range,
}
PASSING = ("reset", "500s", "throttling", "truncation", "a wrong range")  # after which another try is right


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: FaultyServer

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, with_body: bool) -> None:
        answer = self.right_answer()
        if self.command == "GET":
            self.server.read.add(urllib.parse.urlsplit(self.path).path)
        if fault := self.server.count():
            fault(answer)
        if answer.waits and self.client_goes_within(answer.waits):
            self.close_connection = True
            return
        if answer.sent_bytes >= 0:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if with_body:
                self.wfile.write(answer.body[: answer.sent_bytes])
        if answer.resets:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(self.connection.detach())
        if answer.resets or (with_body and answer.sent_bytes < len(answer.body)):
            self.close_connection = True

    def client_goes_within(self, seconds: float) -> bool:
        return bool(select.select([self.connection], [], [], seconds)[0])

    def right_answer(self) -> Answer:
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(url.path)
        name = path.removeprefix(BUCKET).removeprefix("/")
        if "list-type=2" in url.query:
            prefix = urllib.parse.unquote(urllib.parse.parse_qs(url.query).get("prefix", [""])[0])
            return Answer(200, {"Content-Type": "application/xml"}, self.server.listing(prefix))
        file = self.server.folder / name
        if not file.is_file():
            return Answer(404, {})
        whole = file.read_bytes()
        headers = {"ETag": f'"{hashlib.sha256(whole).hexdigest()}"', "Accept-Ranges": "bytes"}
        if wanted := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")):
            first, last = int(wanted[1]), min(int(wanted[2]), len(whole) - 1)
            headers["Content-Range"] = f"bytes {first}-{last}/{len(whole)}"
            return Answer(206, headers, whole[first : last + 1])
        return Answer(200, headers, whole)


class FaultyServer(ThreadingHTTPServer):
    """On a free port of the loopback. It errs in the ways of FAULTS that `begin` names, by turns, at a tenth of the requests.

    `read` has the paths that were asked for by GET.
    """

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, folder: pathlib.Path, *faults: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.read: set[str] = set()
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.lock = threading.Lock()
        self.begin(*faults)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def begin(self, *faults: str) -> None:
        """Errs by `faults` from now on, and counts anew."""
        with self.lock:
            self.ways, self.draw = [FAULTS[fault] for fault in faults], random.Random(" ".join(faults))
            self.requests = self.faults = self.open = self.most_open = 0

    def count(self) -> Callable[[Answer], None] | None:
        """Counts a request; returns what the fault that it meets does, or nothing."""
        with self.lock:
            self.requests += 1
            if not self.ways or self.draw.random() >= 0.1:
                return None
            way, number = self.ways[self.faults % len(self.ways)], self.faults // len(self.ways) + 1
            self.faults += 1
            return lambda answer: way(answer, number)

    def listing(self, prefix: str) -> bytes:
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        keys = [(str(path.relative_to(self.folder)), path) for path in files]
        contents = "".join(
            f"<Contents><Key>{escape(urllib.parse.quote(key))}</Key><Size>{path.stat().st_size}</Size>"
            f"<ETag>&quot;{hashlib.sha256(path.read_bytes()).hexdigest()}&quot;</ETag></Contents>"
            for key, path in keys
            if key.startswith(prefix)
        )
        head = '<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>'
        return f"{head}<EncodingType>url</EncodingType>{contents}</ListBucketResult>".encode()

    def process_request_thread(self, request: object, client_address: object) -> None:
        with self.lock:
            self.open += 1
            self.most_open = max(self.most_open, self.open)
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.lock:
                self.open -= 1

    def handle_error(self, *_: object) -> None:
        pass  # Clients that close their connections are no news.
