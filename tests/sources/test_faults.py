"""test_faults.py BIN [--any-memory]: epochs of tar shards on a server, by HTTP and as a bucket of S3, that errs at a tenth of its
requests, each time in one way. The digest is that of the shards on disk, or the error names the object and what is
wrong with it; and memory and connections stay within their bounds. Prints what is wrong and exits with 1.

BIN has stokerd, stoker and make-photo-folder. With --any-memory its peak is not looked at.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

from faulty_http import FaultyServer
from servers import serve

BIN, ANY_MEMORY = pathlib.Path(sys.argv[1]), "--any-memory" in sys.argv

REQUESTS = 16  # that the store may have in flight, which is the most connections too
# A connection that the client has closed counts until the server has noticed it.
MOST_CONNECTIONS = 2 * REQUESTS
MEMORY_LIMIT_MIB = 640
# Beyond what the same epochs take without faults, of which two runs differ by half of that.
MOST_MORE_MIB = 64


class Row(NamedTuple):
    fault: str
    since_opening: bool = True  # Or once the server listens.
    causes: tuple[str, ...] = ()  # One of these is in the error. Without any, the digest has to be right.


ROWS = [
    Row("reset"),
    Row("truncation"),
    Row("throttling"),
    Row("500s"),
    Row("a wrong range"),
    Row("a slow first byte"),
    Row("a lying Content-Length", since_opening=False),
    # Of an object that is longer or shorter than the server says, only reading tells; and a listing is whole or none.
    Row("a lying Content-Length", causes=("changed since it was indexed", "ListObjectsV2", "bytes")),
    Row("a changed object", since_opening=False, causes=("changed since it was indexed",)),
    Row("a changed object", causes=("changed since it was indexed", "the server answered 412")),
    Row("a vanished object", since_opening=False, causes=("is not there",)),
    Row("a vanished object", causes=("is not there",)),
]


class Server(NamedTuple):
    address: str
    pid: int

    def digest(self) -> subprocess.CompletedProcess[str]:
        command = [BIN / "stoker", "digest", "--servers", self.address]
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)

    def peak_mib(self) -> float:
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert found, status
        return int(found[1]) / 1024


@contextlib.contextmanager
def server_of(config: pathlib.Path) -> Iterator[Server | str]:
    """A server, or what it said when it did not start."""
    with serve(BIN, ["--config", str(config)], {}) as process:
        assert process.stdout is not None and process.stderr is not None
        said: list[str] = []
        reading = threading.Thread(target=lambda: said.extend(process.stderr), daemon=True)
        reading.start()
        try:
            line = next((line for line in process.stdout if line.startswith("listening on ")), "")
            if line:
                yield Server(line.removeprefix("listening on ").strip(), process.pid)
            else:
                process.wait(timeout=60)
                reading.join()
                yield "".join(said)
        finally:
            process.terminate()
            reading.join()


def write_shards(work: pathlib.Path) -> pathlib.Path:
    photos, shards = work / "photos", work / "root" / "shards"
    make = ["--classes", "3", "--images", "50", "--width", "96", "--height", "64"]
    subprocess.run([BIN / "make-photo-folder", photos, *make], check=True, stdout=subprocess.DEVNULL)
    shards.mkdir(parents=True)
    for label, folder in enumerate(sorted(path for path in photos.iterdir() if path.is_dir())):
        with tarfile.open(shards / f"t-{label}.tar", "w") as tar:
            for photo in sorted(folder.iterdir()):
                tar.add(photo, f"{folder.name}/{photo.name}")
    return shards


def config_at(work: pathlib.Path, name: str, path: str, store: dict) -> pathlib.Path:
    config = work / f"{name}.yaml"
    dataset = {"name": "shards", "webdataset": {"path": path, "fields": {"image": "jpg"}}, **store}
    limits = {"memory_limit": f"{MEMORY_LIMIT_MIB}MiB", "cache_dir": str(work / "cache")}
    config.write_text(json.dumps({**limits, "datasets": [dataset]}))
    return config


def expect_error(text: str, row: Row, place: str) -> None:
    assert place in text and any(cause in text for cause in row.causes), (
        f"{row}: the error names no object below {place} or not what is wrong with it:\n{text}"
    )


def run_row(row: Row, faulty: FaultyServer, config: pathlib.Path, place: str, right: str, most_mib: float) -> str:
    begun = time.monotonic()
    shutil.rmtree(config.parent / "cache", ignore_errors=True)  # Else nothing is read to index the shards.
    faulty.begin(*([row.fault] if row.since_opening else []))
    with server_of(config) as server:
        if isinstance(server, str):
            expect_error(server, row, place)
            return f"refused at the start, {faulty.faults} of {faulty.requests} requests met a fault"
        if not row.since_opening:
            faulty.begin(row.fault)
        found = server.digest()
        counts = f"{faulty.faults} of {faulty.requests} requests met a fault"
        connections, peak_mib = faulty.most_open, server.peak_mib()
        assert faulty.faults > 0, f"{row}: {counts}"
        if found.returncode != 0:
            assert row.causes, f"{row}: {found.stderr}"
            expect_error(found.stderr, row, place)
            # What failed was this time's, and the server goes on.
            faulty.begin()
            outcome, found = "an error", server.digest()
        else:
            outcome = "right"
        assert found.stdout.strip() == right, f"{row}: {found.stdout} {found.stderr}, where the folder has {right}"
        assert connections <= MOST_CONNECTIONS, f"{row}: {connections} connections at once"
        assert ANY_MEMORY or peak_mib <= most_mib, f"{row}: {peak_mib:.0f} MiB at the peak, where {most_mib:.0f} are allowed"
        seconds = time.monotonic() - begun
        return f"{outcome}, {counts}, {connections} connections, {peak_mib:.0f} MiB, {seconds:.1f} s"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        shards = write_shards(work)
        with server_of(config_at(work, "local", str(shards), {})) as local:
            assert isinstance(local, Server), local
            right = local.digest().stdout.strip()
        faulty = FaultyServer(shards.parent)
        s3 = {"endpoint": faulty.url, "path_style": True, "anonymous": True, "requests": REQUESTS}
        stores = {
            f"{faulty.url}/shards/": config_at(
                work, "http", f"{faulty.url}/shards/t-{{0..2}}.tar", {"http": {"requests": REQUESTS}}
            ),
            "s3://bucket/shards": config_at(work, "s3", "s3://bucket/shards/", {"s3": s3}),
        }
        for place, config in stores.items():
            faulty.begin()
            with server_of(config) as server:
                assert isinstance(server, Server), server
                found = server.digest()
                assert found.stdout.strip() == right, f"{place}: {found.stdout} {found.stderr}"
                peak_mib = server.peak_mib()
            print(f"{place}: {faulty.most_open} connections, {peak_mib:.0f} MiB without faults", flush=True)
            for row in ROWS:
                when = "since the opening" if row.since_opening else "while reading"
                ended = run_row(row, faulty, config, place, right, min(MEMORY_LIMIT_MIB, peak_mib + MOST_MORE_MIB))
                print(f"  {row.fault}, {when}: {ended}", flush=True)


main()
