#!/usr/bin/env python3
"""image.py FOLDER [PODMAN-OPTION...]: what image.sh does with the images that it built, in Podman: those called stokerd
and again are equal, the server's runs as deploy/container says and serves photographs to the client's, and Syft finds
in it what its bill of materials lists.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from containerfile import ROOT
from make_roots import check_holdings, listing
from photos import write_photos

# As little as an engine can give. Some machines have no cgroups that it can use.
CONFINED = ["--read-only", "--cap-drop=all", "--security-opt=no-new-privileges", "--cgroups=disabled", "--ulimit=host"]


class Podman:
    def __init__(self, options):
        self.command = ["podman", *options, "--cgroup-manager=cgroupfs", "--log-level=fatal"]

    def __call__(self, *words, **options):
        done = subprocess.run([*self.command, *map(str, words)], text=True, capture_output=True, **options)
        assert done.returncode == 0, f"podman {' '.join(map(str, words))}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def files(self, image):
        """All that an image's layers have, by paths."""
        return listing(Path(self("image", "mount", image)))

    def inspect(self, image):
        return json.loads(self("image", "inspect", image))[0]


def check_equal(podman):
    one, other = podman.files("localhost/stokerd"), podman.files("localhost/again")
    assert one == other, sorted(path for path in one.keys() | other.keys() if one.get(path) != other.get(path))[:20]
    layers = [podman.inspect(image)["RootFS"]["Layers"] for image in ("localhost/stokerd", "localhost/again")]
    assert layers[0] == layers[1], layers
    print(f"== Two builds are equal: {len(one)} files and folders, layer {layers[0][0]}")


def check_image(podman, clone):
    check_holdings(Path(podman("image", "mount", "localhost/stokerd")), podman.files("localhost/stokerd"))
    labels = podman.inspect("localhost/stokerd")["Labels"]
    revision = subprocess.run(
        ["git", "-C", clone, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout
    assert labels["org.opencontainers.image.revision"] == revision.strip(), labels
    shell = subprocess.run(
        [*podman.command, "run", "--rm", *CONFINED, "--entrypoint=/bin/sh", "localhost/stokerd"], capture_output=True
    )
    assert shell.returncode == 127, "there is no shell"


def scan(podman):
    sbom = [
        ROOT / "tests/sources/run.sh",
        ROOT / "tests/e2e/container/packages.txt",
        ROOT / "tests/e2e/container/sbom.py",
    ]
    subprocess.run([*sbom, podman("image", "mount", "localhost/stokerd")], check=True)


def serve(podman, folder):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    count = write_photos(folder / "photos", ROOT.parent / "shared/data/photos")
    begun = time.monotonic()
    data = ["--volume", f"{folder}/photos:/data:ro", "--network=host"]
    podman(
        "run",
        "--detach",
        "--name=server",
        *CONFINED,
        *data,
        "localhost/stokerd",
        "serve",
        "--data",
        "/data",
        "--insecure",
    )
    while subprocess.run([*podman.command, "healthcheck", "run", "server"], capture_output=True).returncode != 0:
        assert podman("inspect", "--format={{.State.Running}}", "server") == "true", podman("logs", "server")
        time.sleep(0.2)
    print(f"== Healthy after {time.monotonic() - begun:.1f} s")
    read = ["--volume", f"{ROOT}/deploy/container/compose/read.py:/read.py:ro", "--env=STOKER_SERVERS=127.0.0.1:7077"]
    said = podman(
        "run",
        "--rm",
        "--network=host",
        "--cgroups=disabled",
        "--ulimit=host",
        *read,
        "localhost/client",
        "python3",
        "/read.py",
        2,
    )
    print(said)
    assert said.count(f"{count} samples") == 2
    reader = ["run", "--detach", "--name=reader", "--network=host", "--cgroups=disabled", "--ulimit=host", *read]
    podman(*reader, "localhost/client", "python3", "/read.py")
    while "epoch" not in podman("logs", "reader"):
        time.sleep(0.2)
    begun = time.monotonic()
    podman("stop", "--time=60", "server")
    state = json.loads(podman("inspect", "server"))[0]["State"]
    assert state["ExitCode"] == 0, podman("logs", "server")
    print(f"== Drained and stopped in {time.monotonic() - begun:.1f} s")
    podman("rm", "--force", "--time=0", "reader")
    podman("rm", "--volumes", "server")


def main():
    folder, options = Path(sys.argv[1]), sys.argv[2:]
    if os.environ.get("STOKER_NETWORK") != "own":
        scan(Podman(options))
        os.environ["STOKER_NETWORK"] = "own"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    podman = Podman(options)
    if subprocess.run([*podman.command, "image", "exists", "localhost/again"]).returncode == 0:
        check_equal(podman)
    check_image(podman, folder / "clone-stokerd")
    serve(podman, folder)


if __name__ == "__main__":
    main()
