#!/usr/bin/env python3
"""test_blue_green.py BIN: how a release of another pixel version comes in beside the one that jobs still read from, and
how a dataset of another name does, with the pods of the overlays as processes.

There is one release here, so green's servers have a proxy in front, which says in their place that their pixel version
is one higher: in each message that tells it, by its exact bytes, and nothing else.
"""

from __future__ import annotations

import asyncio
import re
import signal
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

import manifests
from manifests import Object
from pods import Job, Pod, Site, command, held, in_a_cluster

BIN = Path(sys.argv[1])


class NextRelease:
    """A pod's address as another one, by which its server is of the next pixel version."""

    def __init__(self, site: Site, pod: Pod, version: int, check: bytes):
        # stoker.v1.Identity: field 3 is a varint, and field 4 a fixed64.
        self.said, self.instead = (b"\x18" + bytes([number]) + b"\x21" + check for number in (version, version + 1))
        self.told = 0
        self._connections: set[asyncio.Task] = set()  # Nobody else keeps them.
        self.pod, self.address = pod, pod.address.replace("10.42.1.", "10.42.2.")
        command("ip", "address", "add", f"{self.address}/32", "dev", "lo")
        self._listens = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        for name, data in held(manifests.find(site.made, "Secret", "stoker-tls")).items():
            (site.folder / name).write_bytes(data)
        self._listens.load_cert_chain(site.folder / "tls.crt", site.folder / "tls.key")
        self._asks = ssl.create_default_context(cafile=site.folder / "tls.crt")
        for context in (self._listens, self._asks):
            context.set_alpn_protocols(["h2"])
        ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True).start()
        assert ready.wait(60)

    async def _serve(self, ready: threading.Event) -> None:
        server = await asyncio.start_server(self._connected, self.address, 7077, ssl=self._listens)
        ready.set()
        await server.serve_forever()

    async def _connected(self, reader, writer) -> None:
        self._connections.add(asyncio.current_task())
        try:
            upward = await asyncio.open_connection(self.pod.address, 7077, ssl=self._asks, server_hostname="stoker")
            await asyncio.gather(
                self._pump(reader, upward[1], self.instead, self.said),
                self._pump(upward[0], writer, self.said, self.instead),
            )
        except OSError:
            writer.close()

    async def _pump(self, reader, writer, old: bytes, new: bytes) -> None:
        kept = b""  # Bytes that may be the beginning of `old`.
        while data := await reader.read(1 << 16):
            self.told += old in kept + data
            data = (kept + data).replace(old, new)
            # Less than three bytes may be anything, and must not wait for more.
            end = next((length for length in range(len(old) - 1, 2, -1) if data.endswith(old[:length])), 0)
            data, kept = data[: len(data) - end], data[len(data) - end :]
            writer.write(data)
            await writer.drain()
        writer.close()


def pixels(job: Job) -> tuple[int, bytes]:
    text = manifests.run(BIN / "stoker", "describe", *job.arguments)
    version, check = re.search(r"^pixels +version (\d+), check ([0-9a-f]{16})$", text, re.MULTILINE).groups()
    return int(version), bytes.fromhex(check)[::-1]


def refusal(*arguments: object) -> str:
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=120)
    assert done.returncode != 0, done.stdout
    return done.stderr


def fleet(site: Site, objects: list[Object], count: int) -> list[Pod]:
    pods = [site.start(objects) for _ in range(count)]
    for pod in pods:
        pod.await_start()
    return pods


def check_by_address(site: Site, photos: str) -> None:
    arguments = (*site.trusts, *site.proves)
    blues, greens = site.render("blue"), site.render("green")
    blue, green = site.service_of(blues), site.service_of(greens)
    old = fleet(site, blues, 2)
    for pod in old:
        site.names.add(blue, pod.address)
    job = site.job(blue, "photos", *arguments)
    version, check = pixels(job)
    manifests.run(BIN / "stoker", "bench", *job.arguments, "--batches", "1", "--batch-size", "8", "--quiet",
                  "--state", site.folder / "state")  # fmt: skip

    # A job that is in the midst of its epochs, and waits there for what comes now.
    begun = subprocess.Popen(
        [BIN / "stoker", "bench", *job.arguments, "--digest", "--quiet", "--epochs", "40"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while sum(pod.streams() for pod in old) == 0:
        assert begun.poll() is None, begun.stderr.read()
        time.sleep(0.05)
    begun.send_signal(signal.SIGSTOP)

    (pod,) = fleet(site, greens, 1)
    new = NextRelease(site, pod, version, check)
    site.names.add(green, new.address)
    assert pixels(site.job(green, "photos", *arguments)) == (version + 1, check)
    assert site.job(green, "photos", *arguments).digest() == photos
    assert new.told > 0

    both = refusal(BIN / "stoker", "digest", "--servers", f"dns:///{blue}:7077,dns:///{green}:7077",
                   "--dataset", "photos", *arguments)  # fmt: skip
    assert "servers disagree about dataset 'photos'" in both, both
    assert re.search(
        rf"its pixel version is ({version + 1} instead of {version}|{version} instead of {version + 1})", both
    )
    of_the_old = refusal(BIN / "stoker", "bench", *site.job(green, "photos", *arguments).arguments,
                         "--batches", "1", "--batch-size", "8", "--state", site.folder / "state")  # fmt: skip
    assert "pixel version" in of_the_old, of_the_old

    # By mistake green stands behind blue's name, too. The old job makes nothing of it, and ends on blue.
    site.names.add(blue, new.address)
    begun.send_signal(signal.SIGCONT)
    said, log = begun.communicate(timeout=300)
    assert begun.returncode == 0, log
    digests = re.findall(r"\b[0-9a-f]{64}\b", said)
    assert len(digests) == 40 and digests[0] == photos, said
    assert len(set(digests)) == 40, "each epoch has an order of its own"

    # A job that has lost all servers of its version says why, and waits no longer.
    site.names.remove(blue, new.address)
    left = job.start_reading()
    while sum(pod.streams() for pod in old) == 0:
        assert left.poll() is None, left.stderr.read()
        time.sleep(0.05)
    site.names.add(blue, new.address)
    for pod in old:
        site.names.remove(blue, pod.address)
        pod.stop()
    log = left.communicate(timeout=300)[1]
    assert left.returncode != 0 and f"its pixel version is {version + 1} instead of {version}" in log, log
    new.pod.stop()


def check_by_name(site: Site, photos: str, others: str) -> None:
    """Servers that have `photos-2` too come in one after another, under the address that all jobs have."""
    arguments = (*site.trusts, *site.proves)
    before = site.render("production")
    service = site.service_of(before)
    after = manifests.changed(before, lambda _: None)
    (config,) = [thing for thing in after if thing["kind"] == "ConfigMap"]
    config["data"]["stokerd.yaml"] += '  - name: photos-2\n    image_folder: {path: "s3://datasets/scans/train"}\n'
    (old,), (new,) = fleet(site, before, 1), fleet(site, after, 1)
    site.names.add(service, old.address)
    said = refusal(BIN / "stoker", "digest", *site.job(service, "photos-2", *arguments).arguments)
    assert "photos-2" in said, said
    site.names.add(service, new.address)
    assert site.job(service, "photos", *arguments).digest() == photos
    assert site.job(service, "photos-2", *arguments).digest() == others
    for pod in (old, new):
        pod.stop()


def main() -> None:
    kubectl = manifests.debians_kubectl()  # There is no network later.
    site = Site(in_a_cluster(), BIN, kubectl)
    photos, others = (
        site.digest_without_pods("--data", site.node / f"srv/datasets/{name}/train") for name in ("photos", "scans")
    )
    assert photos != others
    check_by_address(site, photos)
    print("by address: the job that began on blue ended there, and green served the next")
    check_by_name(site, photos, others)
    print("by name: servers that have a dataset serve it, beside those that have not")


if __name__ == "__main__":
    main()
