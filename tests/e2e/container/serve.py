#!/usr/bin/env python3
"""serve.py ROOT BIN: runs what deploy/container/Containerfile says in ROOT, an image's root, as an engine would do it:
as its user, without rights, with a root that cannot be written, and in a network of its own. It serves photographs of
all formats as the programs of BIN do, is healthy, and drains.

Exits with 77 where it is not root, who alone can make such a thing.
"""

import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from containerfile import ROOT, Containerfile
from engine import Container, alone, run
from photos import write_photos

FILE = Containerfile(ROOT / "deploy/container/Containerfile")


def enter(root, folder, data):
    (user,) = FILE.last("USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user), "an engine knows that it is not root"
    volumes = [(None, path, "rw") for path in FILE.last("VOLUME")]
    (folder / "image").mkdir()
    return Container(root, folder / "image", user, FILE.pairs("ENV"), [*volumes, (data, "/data", "ro")])


def check_loader(image, root):
    """All parts find their libraries there."""
    loader = next(f"/{path.relative_to(root)}" for path in root.glob("usr/lib/*/ld-linux-*"))
    parts = [f"/{path.relative_to(root)}" for path in sorted((root / "usr/lib/stoker").glob("stoker*"))]
    assert len(parts) == 4, parts
    for path in parts:
        listed = image.run(loader, "--list", path)
        assert listed.returncode == 0 and "not found" not in listed.stdout, listed.stdout + listed.stderr
    assert image.run("/bin/sh", "-c", "true").returncode == 127, "there is no shell"


def digest(binaries, address):
    command = [binaries / "stoker", "digest", "--servers", address]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def digest_of_host(binaries, data, folder):
    command = [
        binaries / "stokerd",
        "serve",
        "--data",
        data,
        "--listen",
        "127.0.0.1:0",
        "--cache-dir",
        folder / "cache",
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        return digest(binaries, server.stdout.readline().rpartition(" ")[2].strip())
    finally:
        server.kill()
        server.wait()


def check_serves(image, binaries, data, folder, count):
    health = FILE.words("HEALTHCHECK")
    assert image.run(*health).returncode == 1, "nothing is running"
    server = image.start(*FILE.words("ENTRYPOINT"), "serve", "--data", "/data", "--insecure", stderr=subprocess.PIPE)
    try:
        while image.run(*health).returncode != 0:
            assert server.poll() is None, server.communicate()[1]
            time.sleep(0.1)
        # setpriv and chroot became the server.
        status = Path(f"/proc/{server.pid}/status").read_text()
        assert (
            re.search(r"^Uid:\t65532\t65532\t65532\t65532$", status, re.M) and "\nCapEff:\t0000000000000000\n" in status
        ), status
        assert digest(binaries, "127.0.0.1:7077") == digest_of_host(binaries, data, folder)
        check_drains(server, binaries, count)
    finally:
        server.kill()
        server.wait()


def check_drains(server, binaries, count):
    """A job that reads gets all that it asked for from a server that is told to stop."""
    command = [binaries / "stoker", "bench", "--servers", "127.0.0.1:7077", "--batches", "1000000"]
    reader = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not re.search(r"^stoker_streams_active\{.*\} 1$", metrics(), re.M):
            assert reader.poll() is None
            time.sleep(0.1)
        server.send_signal(signal.SIGTERM)
        log = server.communicate(timeout=120)[1]
        assert f"{count} samples" in log, log
        assert server.returncode == 0 and "finishing what clients are owed" in log and " 0 spans failed" in log, log
    finally:
        reader.kill()
        reader.wait()


def metrics():
    with urllib.request.urlopen("http://127.0.0.1:7078/metrics", timeout=60) as answer:
        return answer.read().decode()


def inside(root, binaries, folder):
    run("ip", "link", "set", "lo", "up")
    data = folder / "photos"
    count = write_photos(data)
    image = enter(root, folder, data)
    check_loader(image, root)
    check_serves(image, binaries, data, folder, count)


def main():
    if sys.argv[1] == "--inside":
        inside(*map(Path, sys.argv[2:]))
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        alone(__file__, *sys.argv[1:3], folder)
    print("serve.py: serves, is healthy and drains as nobody, with a root that cannot be written")


if __name__ == "__main__":
    main()
