#!/usr/bin/env python3
"""test_pods.py BIN: the pods of the overlays demo, production and nodes, as processes with the pods' user, root, files
and addresses. They are probed, serve an epoch to a client that has the Service's name, and end while it reads."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import yaml

import manifests
from pods import Job, Pod, Site, in_a_cluster

BIN = Path(sys.argv[1])


def check_rights(pod: Pod) -> None:
    status = pod.status()
    assert status["Uid"].split() == status["Gid"].split() == ["65532"] * 4, status
    assert all(int(status[name], 16) == 0 for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")), status
    assert status["NoNewPrivs"] == "1"
    for folder in ("/", "/etc/stoker/config", "/usr/bin", "/etc/stoker/admin"):
        assert not pod.can_write(folder), f"{folder} can be written"
    assert pod.can_write("/var/cache/stoker")


def check_metrics(pod: Pod) -> None:
    """What the autoscalers ask for is there, for whoever has the token."""
    assert pod.get("/metrics", "admin")[0] == 401
    text = pod.metrics()
    (scaled,) = manifests.objects_of((manifests.MANIFESTS / "components/keda/scaledobject.yaml").read_text())
    asked = {name for trigger in scaled["spec"]["triggers"] for name in re.findall(r"stoker_\w+", str(trigger))}
    described = (manifests.REPOSITORY / "docs/operations.md").read_text()
    asked.update(re.findall(r"seriesQuery: '(stoker_\w+)", (manifests.MANIFESTS / "components/hpa/prometheus-adapter.yaml").read_text()))
    for metric in asked:
        assert metric in text, f"there is no {metric}"
        assert f"`{metric}`" in described, f"docs/operations.md does not describe {metric}"


def replace(site: Site, pod: Pod, job: Job, expected: str) -> Pod:
    """Replaces a pod while two jobs read: one goes on through all of it, and others begin and end meanwhile."""
    service = site.service_of(pod.objects)
    reader = job.start_reading()
    digests, over = [], threading.Event()

    def read():
        while not over.is_set():
            digests.append(job.digest())

    others = threading.Thread(target=read)
    try:
        while pod.streams() < 1:
            assert reader.poll() is None, reader.stderr.read()
            time.sleep(0.1)
        others.start()
        site.names.remove(service, pod.address)
        pause = pod.container["lifecycle"]["preStop"]["sleep"]["seconds"]
        begun = time.monotonic()
        new = site.start(pod.objects)
        new.await_start()
        site.names.add(service, new.address)
        time.sleep(max(0.0, pause - (time.monotonic() - begun)))
        assert pod.probe("livenessProbe"), "it serves until preStop is over"
        pod.stop()
        while new.streams() < 1:
            assert reader.poll() is None, reader.stderr.read()
            time.sleep(0.1)
    finally:
        over.set()
        if others.ident:
            others.join()
        failed = reader.poll() is not None
        reader.kill()
        said = reader.communicate()[1]
    assert not failed, said
    assert digests and set(digests) == {expected}, (digests, expected)
    return new


def main() -> None:
    kubectl = manifests.debians_kubectl()  # There is no network later.
    site = Site(in_a_cluster(), BIN, kubectl)
    demo = site.folder / "demo.yaml"
    demo.write_text(yaml.safe_dump({"datasets": manifests.config_of(site.render("demo"))["datasets"]}))
    some = ("--split", "[:500]")
    photos = site.digest_without_pods("--data", site.node / "srv/datasets/photos/train")
    noise = site.digest_without_pods("--config", demo, read=some)
    for overlay, count, dataset, arguments, expected in (
        ("demo", 2, "noise", some, noise),
        ("nodes", 1, "photos", site.trusts, photos),
        ("production", 2, "photos", site.trusts[:2] + site.proves, photos),
    ):
        objects = site.render(overlay)
        service = site.service_of(objects)
        running = [site.start(objects) for _ in range(count)]
        for pod in running:
            pod.await_start()
            check_rights(pod)
            site.names.add(service, pod.address)
        job = site.job(service, dataset, *arguments)
        assert job.digest() == expected
        if overlay == "production":
            hidden = site.job(service, "scans", *arguments)
            refused = subprocess.run([BIN / "stoker", "digest", *hidden.arguments], capture_output=True, text=True)
            assert refused.returncode != 0 and "scans" in refused.stderr, refused
            check_metrics(running[0])
            running[0] = replace(site, running[0], job, expected)
        for pod in running:
            site.names.remove(service, pod.address)
            pod.stop()
        print(f"{overlay}: {count} pods served {expected[:12]}… and drained")


if __name__ == "__main__":
    main()
