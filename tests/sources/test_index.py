"""test_index.py BIN RUN FORMAT:PACKAGES...: an index beside the shards spares every server that opens them reading any.

BIN has our programs. RUN runs write_shards.py for FORMAT in the environment of packages-PACKAGES.txt. The bucket is moto's,
behind a proxy that remembers what is read, as the HTTP server does. Prints what is wrong and exits with 1.
"""

from __future__ import annotations

import http.client
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from servers import bucket, epoch, http_server, serve
from written import write_formats

BIN, RUN = pathlib.Path(sys.argv[1]), sys.argv[2]
INDEX = "stoker.index"


class Proxy(BaseHTTPRequestHandler):
    """Answers as the server behind it does."""

    protocol_version = "HTTP/1.1"
    server: ProxyServer

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.forward()

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        if not url.query:  # With a query it is a listing.
            self.server.read.add(url.path)
        self.forward()

    def forward(self) -> None:
        connection = http.client.HTTPConnection(self.server.host)
        connection.request(self.command, self.path, headers=dict(self.headers))
        answer = connection.getresponse()
        body = answer.read()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        self.send_header("Content-Length", answer.getheader("Content-Length") or str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        connection.close()


class ProxyServer(ThreadingHTTPServer):
    """Stands before the server at `endpoint`; `read` has the paths of which bytes were asked for."""

    daemon_threads = True

    def __init__(self, endpoint: str) -> None:
        super().__init__(("127.0.0.1", 0), Proxy)
        self.host = endpoint.partition("://")[2]
        self.read: set[str] = set()
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_: object) -> None:
        pass  # Clients that close their connections are no news.


def read_at_opening(read: set[str], form: str, arguments: list[str], environment: dict[str, str]) -> set[str]:
    """The names of the format's objects of which a server, the first that opens them there, reads bytes until it listens.

    What an earlier server asked for of other objects may be answered only now.
    """
    with serve(BIN, arguments, environment) as server:
        assert server.stdout is not None and server.stderr is not None
        opened = any(line.startswith("listening on ") for line in server.stdout)
        found = {path.rpartition("/")[2] for path in set(read) if f"/{form}/" in path}
        server.terminate()
        said = server.stderr.read()
        assert opened, said
        assert "is not used" not in said, said
        return found


def main() -> None:
    with tempfile.TemporaryDirectory() as work:
        made = write_formats(BIN, RUN, sys.argv[3:], pathlib.Path(work))
        root, written, pipeline = made.root, made.formats, made.pipeline
        expected = {form: epoch(BIN, ["--data", str(root / form)], {}, pipeline) for form in written}
        for form in written:
            subprocess.run([BIN / "stokerd", "index", "--data", root / form], check=True)
            copy = pathlib.Path(work) / "copy" / form
            shutil.copytree(root / form, copy)  # which keeps times
            assert epoch(BIN, ["--data", str(copy)], {}, pipeline) == expected[form], f"{form}: a copy"
        with http_server(root) as web, bucket(root) as environment:
            proxy = ProxyServer(environment["AWS_ENDPOINT_URL_S3"])
            environment["AWS_ENDPOINT_URL_S3"] = proxy.url
            for form in written:
                for store, read, path, variables in (
                    ("HTTP", web.read, f"{web.url}/{form}/", {}),
                    ("S3", proxy.read, f"s3://bucket/{form}/", environment),
                ):
                    found = read_at_opening(read, form, ["--data", path], variables)
                    assert found == {INDEX}, f"{form}, {store}: {sorted(found)} were read when it was opened"
                    same = epoch(BIN, ["--data", path], variables, pipeline)
                    assert same == expected[form], f"{form}, {store}: {same}, where the folder has {expected[form]}"
                print(form, *expected[form], "opened without reading a shard")


main()
