#!/usr/bin/env python3
"""serve.py ROOT BIN: runs what deploy/container/Containerfile says in ROOT, an image's root, as an engine would do it: as
its user, without rights, with a root that cannot be written, and in a network of its own. It serves photographs of all
formats as the programs of BIN do, is healthy, and drains.

Exits with 77 where it is not root, who alone can make such a thing.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from containerfile import ROOT, Containerfile
from photos import write_photos

PHOTOS = "/run/photos"  # what a user mounts; engines would make a folder anywhere


class Image:
    """An image's root, entered as an engine does it."""

    def __init__(self, root, data, scratch):
        self.file = Containerfile(ROOT / "deploy/container/Containerfile")
        self.root, self.scratch = root, scratch
        (self.user,) = self.file.last("USER")
        assert (
            self.user.split(":")[0].isdigit() and int(self.user.split(":")[0]) > 0
        ), "an engine knows that it is not root"
        mount = [
            ["--bind", root, scratch],
            ["-o", "remount,bind,ro", scratch],
            ["-t", "proc", "proc", scratch / "proc"],
        ]
        uid, gid = self.user.split(":")
        for volume in self.file.last("VOLUME"):
            mount.append(["-t", "tmpfs", "-o", f"uid={uid},gid={gid},mode=700", "tmpfs", f"{scratch}{volume}"])
        mount += [["-t", "tmpfs", "tmpfs", scratch / "run"]]
        for words in mount:
            subprocess.run(["mount", *map(str, words)], check=True)
        (scratch / PHOTOS[1:]).mkdir()
        subprocess.run(["mount", "--bind", data, scratch / PHOTOS[1:]], check=True)

    def command(self, *words):
        setpriv, chroot = shutil.which("setpriv"), shutil.which("chroot")  # The image's environment has no PATH.
        enter = [setpriv, "--no-new-privs", "--inh-caps=-all", chroot, f"--userspec={self.user}", "--groups="]
        return [*enter, str(self.scratch), *words]

    def start(self, *words):
        """Starts `words` in place of CMD, or CMD."""
        words = self.file.words("ENTRYPOINT") + list(words or self.file.words("CMD"))
        return subprocess.Popen(self.command(*words), env=self.file.pairs("ENV"), stderr=subprocess.PIPE, text=True)

    def health(self):
        return subprocess.run(
            self.command(*self.file.words("HEALTHCHECK")), env=self.file.pairs("ENV"), capture_output=True, text=True
        )


def check_loader(image):
    """All programs and modules find their libraries there."""
    loader = next(Path("/" + str(path.relative_to(image.root))) for path in image.root.glob("usr/lib/*/ld-linux-*"))
    parts = [path for path in sorted((image.root / "usr/lib/stoker").iterdir()) if path.name.startswith("stoker")]
    assert len(parts) == 4, parts
    for path in parts:
        listed = subprocess.run(
            image.command(str(loader), "--list", f"/{path.relative_to(image.root)}"),
            env={},
            capture_output=True,
            text=True,
        )
        assert listed.returncode == 0 and "not found" not in listed.stdout, listed.stdout + listed.stderr


def wait_until_healthy(image, server):
    while (asked := image.health()).returncode != 0:
        assert server.poll() is None, server.communicate()[1]
        time.sleep(0.1)
    return asked


def digest(binaries, address):
    command = [binaries / "stoker", "digest", "--servers", address]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_serves(image, binaries, data, folder, count):
    assert image.health().returncode == 1, "nothing is running"
    server = image.start("serve", "--data", PHOTOS, "--insecure")
    try:
        wait_until_healthy(image, server)
        # The server is the process that was started: setpriv and chroot became it.
        status = Path(f"/proc/{server.pid}/status").read_text()
        assert "\nUid:\t65532\t65532\t65532\t65532\n" in status and "\nCapEff:\t0000000000000000\n" in status, status
        told = digest(binaries, "127.0.0.1:7077")
        here = [
            binaries / "stokerd",
            "serve",
            "--data",
            data,
            "--listen",
            "127.0.0.1:0",
            "--cache-dir",
            folder / "cache",
        ]
        host = subprocess.Popen(here, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            address = host.stdout.readline().rpartition(" ")[2].strip()
            assert digest(binaries, address).split()[:1] == told.split()[:1], told
        finally:
            host.kill()
            host.wait()
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
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    data = folder / "photos"
    count = write_photos(data)
    (folder / "image").mkdir()
    image = Image(root, data, folder / "image")
    check_loader(image)
    check_serves(image, binaries, data, folder, count)


def main():
    if os.geteuid() != 0:
        print("SKIPPED: needs root, to enter an image's root")
        sys.exit(77)
    if sys.argv[1] == "--inside":
        inside(*map(Path, sys.argv[2:]))
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        enter = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
        subprocess.run([*enter, sys.executable, __file__, "--inside", *sys.argv[1:3], folder], check=True)
    print("serve.py: serves, is healthy and drains as nobody, with a root that cannot be written")


if __name__ == "__main__":
    main()
