#!/usr/bin/env python3
"""compose.py ROOT LIBRARY: runs what deploy/container/compose.yaml says, as processes: each service with its command,
user, mounts, host name and health check, in a root that cannot be written if it says so. Servers run in ROOT, the root
of their image. Where there is no image, this machine's programs stand for it: Debian's Prometheus, and for the client
this machine's Python, with the package stoker of this source and LIBRARY, its libstoker.so. Grafana is not run: there
is none here, and only its files are looked at.

Exits with 77 where it is not root, who alone can make such a thing.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

import yaml
from containerfile import ROOT, Containerfile
from engine import Container, Network, alone
from photos import write_photos

FILE = ROOT / "deploy/container/compose.yaml"
TOKEN = "a-token-of-enough-bytes"
PACKAGE = "/opt/stoker"
DEADLINE = 300


def read_compose(folder):
    """The file as Docker Compose understands it, with the photographs of the test."""
    command = ["docker-compose", "--file", FILE, "config"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"STOKER_DATA": f"{folder}/photos"})
    assert done.returncode == 0, done.stderr
    return yaml.safe_load(done.stdout)


class Service:
    """A service of the file as processes."""

    def __init__(self, name, compose, folder, network, images):
        self.name, self.said = name, compose["services"][name]
        root, user, environment, self.entrypoint, volumes, extra = images[self.said["image"]]
        files = {secret: folder / "stoker-token" for secret in compose["secrets"]}
        mounts = [(None, path, "rw") for path in volumes] + extra
        for volume in self.said.get("volumes", []):
            source, path, mode = volume.split(":")
            mounts.append((source if source.startswith("/") else None, path, mode))
        for secret in self.said.get("secrets", []):
            mounts.append((files[secret["source"]], self._place(secret), "ro"))
        for source, path, _ in mounts:
            assert source is None or Path(source).exists(), f"{name} mounts {source}, which does not exist"
        assert self.said["cap_drop"] == ["ALL"] and self.said["security_opt"] == ["no-new-privileges:true"]
        self.folder = folder / name
        self.folder.mkdir()
        self.container = Container(
            root,
            self.folder,
            self.said.get("user", user),
            environment | self.said.get("environment", {}),
            mounts,
            network.hosts,
            f"/run/netns/{name}",
            self.said.get("read_only", False),
        )
        self.log = folder / f"{name}.log"

    @staticmethod
    def _place(secret):
        return os.path.join("/run/secrets", secret.get("target", secret["source"]))

    def start(self):
        with open(self.log, "wb") as log:
            self.process = self.container.start(*self.entrypoint, *self.said["command"], stdout=log, stderr=log)
        if "healthcheck" in self.said:
            kind, *words = self.said["healthcheck"]["test"]
            assert kind == "CMD", "there is no shell"
            self.wait(lambda: self.container.run(*words).returncode == 0, "being healthy")

    def wait(self, done, what):
        deadline = time.monotonic() + DEADLINE
        while not done():
            assert self.process.poll() is None and time.monotonic() < deadline, f"{self.name}: {what}: {self.text()}"
            time.sleep(0.2)

    def text(self):
        return self.log.read_text()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(DEADLINE)


def images(server_root, library):
    """What stands for the images: root, user, environment, entry point, volumes and mounts."""
    server = Containerfile(ROOT / "deploy/container/Containerfile")
    package = [(ROOT / "client/python", PACKAGE, "ro"), (library, "/opt/libstoker.so", "ro")]
    python = {"PYTHONPATH": PACKAGE, "STOKER_LIBRARY": "/opt/libstoker.so", "PYTHONDONTWRITEBYTECODE": "1"}
    python["PATH"] = path = "/usr/bin:/bin"
    return {
        "stokerd": (
            server_root,
            server.last("USER")[0],
            server.pairs("ENV"),
            server.words("ENTRYPOINT"),
            server.last("VOLUME"),
            [],
        ),
        "stoker-client": ("/", "0:0", python, [], [], package),
        "docker.io/prom/prometheus:v2.53.0": ("/", "65534:65534", {"PATH": path}, ["/usr/bin/prometheus"], [], []),
    }


def query(address, expression):
    """Prometheus's answer as {instance: value}."""
    url = f"http://{address}:9090/api/v1/query?" + urllib.parse.urlencode({"query": expression})
    with urllib.request.urlopen(url, timeout=60) as answer:
        found = json.load(answer)["data"]["result"]
    return {one["metric"].get("instance"): float(one["value"][1]) for one in found}


def check_grafana(compose):
    """What is known of Grafana without one: its files are there, and name what the others have."""
    said = compose["services"]["grafana"]
    sources = dict(reversed(volume.split(":")[:2]) for volume in said["volumes"])
    for path, source in sources.items():
        assert Path(source).is_file(), source
    (datasource,) = yaml.safe_load(Path(sources["/etc/grafana/provisioning/datasources/stoker.yaml"]).read_text())[
        "datasources"
    ]
    host, port = re.fullmatch(r"http://(\w+):(\d+)", datasource["url"]).groups()
    assert f":{port}:{port}" in compose["services"][host]["ports"][0]
    (provider,) = yaml.safe_load(Path(sources["/etc/grafana/provisioning/dashboards/stoker.yaml"]).read_text())[
        "providers"
    ]
    home = said["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home in sources and os.path.dirname(home) == provider["options"]["path"]
    assert json.loads(Path(sources[home]).read_text())["panels"]
    print("compose.py: Grafana is not run; its files are there")


def inside(server_root, library, folder):
    write_photos(folder / "photos")
    (folder / "stoker-token").write_text(TOKEN + "\n")
    compose = read_compose(folder)
    assert set(compose["services"]) == {"cpu1", "cpu2", "client", "prometheus", "grafana"}
    check_grafana(compose)
    network, known = Network(), images(server_root, library)
    names = ["cpu1", "cpu2", "prometheus", "client"]
    for name in names:
        network.add(name)
    services = {name: Service(name, compose, folder, network, known) for name in names}
    for name in names:
        for other, how in compose["services"][name].get("depends_on", {}).items():
            assert how["condition"] == "service_healthy" and "healthcheck" in services[other].said
        services[name].start()
    client, prometheus = services["client"], services["prometheus"]
    client.wait(lambda: client.text().count(" samples, ") >= 3, "reading three epochs")
    count = sum(path.is_file() for path in (folder / "photos").rglob("*"))
    assert f"epoch 1: {count} samples" in client.text(), client.text()
    # The scrape interval is 15 s.
    samples = "sum by (instance) (stoker_samples_total) > 0"
    address = network.hosts["prometheus"]
    prometheus.wait(lambda: len(query(address, samples)) == 2, "seeing what both servers served")
    assert set(query(address, 'up{job="stoker"} == 1')) == {"cpu1:7078", "cpu2:7078"}
    with urllib.request.urlopen(f"http://{address}:9090/api/v1/rules", timeout=60) as answer:
        assert json.load(answer)["data"]["groups"], "the alerts are loaded"
    # A server that stops costs the client nothing.
    assert services["cpu1"].stop() == 0, services["cpu1"].text()
    epochs = client.text().count(" samples, ")
    client.wait(lambda: client.text().count(" samples, ") >= epochs + 2, "going on with one server")
    client.process.kill()
    assert services["cpu2"].stop() == 0, services["cpu2"].text()
    assert prometheus.stop() == 0, prometheus.text()


def main():
    if sys.argv[1] == "--inside":
        inside(*map(Path, sys.argv[2:]))
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        alone(__file__, *sys.argv[1:3], folder)
    print("compose.py: the services run, are healthy and see each other")


if __name__ == "__main__":
    main()
