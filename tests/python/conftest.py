"""What the tests of the Python package share: servers, photographs, other processes.

They run against the package as pip installed it from the wheel; run.sh says how.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from stoker import Loader, transforms

BINARIES = Path(os.environ.get("STOKER_TEST_BINARIES", ""))
SMALL = [transforms.RandomResizedCrop(32), transforms.RandomHorizontalFlip()]


def documented(page: str, number: int) -> str:
    """The YAML block of that number in a page of docs/."""
    text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[number]


def loader_of(server, batch_size=16, **options):
    return Loader(server.address, batch_size=batch_size, **{"transforms": SMALL, "output": "numpy", **options})


def ids_of(loader):
    return [index for batch in loader.batches() for index in batch.info().sample_ids]


class Server:
    """A stokerd process on a port of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.address = "127.0.0.1:0"
        self.start(*arguments)

    def start(self, *arguments: str) -> None:
        """Starts it, after a stop where it was before."""
        self.arguments = arguments
        self.log = self.folder / f"stokerd-{time.monotonic_ns()}.log"
        command = [BINARIES / "stokerd", "serve", "--listen", self.address, "--cache-dir", self.folder / "cache"]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("listening on "), self.log.read_text()
        self.address = line.removeprefix("listening on ").strip()

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="session")
def photos(tmp_path_factory) -> Path:
    """200 photographs in 4 classes, of several sizes."""
    folder = tmp_path_factory.mktemp("photos") / "photos"
    subprocess.run([BINARIES / "make-photo-folder", folder, "--classes", "4", "--images", "50"], check=True)
    return folder


@pytest.fixture(scope="session")
def server(photos, tmp_path_factory):
    """A server of these."""
    started = Server(tmp_path_factory.mktemp("server"), "--data", str(photos))
    yield started
    started.stop()


@pytest.fixture
def start_server(tmp_path):
    """Starts further servers: start_server("--data", …)."""
    started = []

    def start(*arguments: str) -> Server:
        started.append(Server(tmp_path, *map(str, arguments)))
        return started[-1]

    yield start
    for one in started:
        one.go_on()
        one.stop()


def python(code: str, *arguments: str, interpreter: str = sys.executable, **environment: str) -> str:
    """What a Python program prints, in a process of its own; it must succeed."""
    done = subprocess.run(
        [interpreter, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def stoker(*arguments: str) -> str:
    """What the command-line client prints."""
    command = [BINARIES / "stoker", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
