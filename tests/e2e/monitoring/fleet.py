#!/usr/bin/env python3
"""fleet.py BIN: a Prometheus with the configuration of deploy/monitoring scrapes three servers, which jobs read from and meet
faults on. Each query of the dashboard finds what it should, each rule works, and docs/operations.md lists all metrics that
servers tell.

Exits with 77 where there is no Prometheus.
"""

import contextlib
import json
import math
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from deployed import (
    MAY_BE_ZERO,
    MONITORING,
    NOT_SHOWN,
    ROOT,
    alerts,
    documented,
    expressions_of_rules,
    filled_in,
    metrics_of,
    need,
    queries_of,
    read_dashboard,
)

sys.path += [str(ROOT / "tests/attacks"), str(ROOT / "tests/sources")]
import http2  # noqa: E402
from faulty_http import FaultyServer  # noqa: E402

TOKEN = "a-token-of-enough-bytes"
WINDOW = "20s"  # of rates; a scrape is a second
DEADLINE = 600

CONFIG = """
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0, token_file: {folder}/stoker-token}}
cache_dir: {own}
workers: 1
memory_limit: 2GiB
span_cache: 64MiB
decoded_cache: 64MiB
raw_cache: {{memory: 1MiB, disk: {{path: {own}, size: 64MiB}}}}
datasets:
  - {{name: photos, image_folder: {{path: {folder}/photos}}}}
  - {{name: gone, image_folder: {{path: {folder}/gone}}}}
  - {{name: shards, webdataset: {{path: "{url}/shard.tar"}}}}
"""

# Alerts that the faults of this test lead to. Those that would have to last for minutes are pending.
PROVOKED = {"StokerConfigReloadFailed", "StokerSamplesEndEpochs", "StokerPipelineErrors", "StokerMachineErrors"}
PROVOKED |= {"StokerSubstitutesMany"}

PIPELINES = {
    "substituting": "ops: [RandomResizedCrop: {size: 32}]\nbad_samples: substitute\n",
    "failing": "ops: [RandomResizedCrop: {size: 32}]\n",
    "too_large": "ops: [RandomCrop: {size: 2000}]\nbad_samples: substitute\n",
}


def make_data(folder, binaries):
    for name in ("photos", "gone"):
        size = ["--width", "64", "--height", "48", "--classes", "2", "--images", "40"]
        subprocess.run([binaries / "make-photo-folder", *size, folder / name], check=True, stdout=subprocess.DEVNULL)
    photos = sorted((folder / "photos").rglob("*.jpg"))
    with tarfile.open(folder / "shard.tar", "w") as shard:
        for number, photo in enumerate(photos):
            shard.add(photo, f"{number:06}.jpg")
    photos[0].write_bytes(b"This is no image.")
    for name, text in PIPELINES.items():
        (folder / f"{name}.yaml").write_text(text)
    (folder / "stoker-token").write_text(TOKEN + "\n")


class Server:
    def __init__(self, folder, number, binaries, url):
        own = folder / f"server-{number}"
        own.mkdir()
        self.config, self.log = own / "stokerd.yaml", own / "log"
        self.config.write_text(CONFIG.format(folder=folder, own=own, url=url))
        command = [binaries / "stokerd", "serve", "--config", self.config]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        self.address, self.admin = (self.process.stdout.readline().rpartition(" ")[2].strip() for _ in range(2))
        assert self.admin, self.log.read_text()

    def told(self):
        """The names of the metrics that the server tells."""
        asked = urllib.request.Request(f"http://{self.admin}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return set(re.findall(r"^# TYPE (\w+) ", answer.read().decode(), re.M))


class Prometheus:
    """A Prometheus with the configuration of deploy/monitoring, but for the fleet and the times."""

    def __init__(self, folder, servers):
        text = (MONITORING / "prometheus.yaml").read_text(encoding="utf-8")
        targets = ", ".join(server.admin for server in servers)
        for pattern, value in (
            (r"(scrape_interval|evaluation_interval): 15s", r"\1: 1s"),
            (r"targets: \[cpu1.*\]", f"targets: [{targets}]"),
            (r"targets: \[localhost:9093\]", "targets: []"),
        ):
            text, times = re.subn(pattern, value, text)
            assert times >= 1, pattern
        (folder / "prometheus.yaml").write_text(text, encoding="utf-8")
        shutil.copy(MONITORING / "alerts.yaml", folder)
        self.log = folder / "prometheus.log"
        command = ["prometheus", "--config.file=prometheus.yaml", f"--storage.tsdb.path={folder}/tsdb"]
        with open(self.log, "wb") as log:
            command += ["--web.listen-address=127.0.0.1:0"]
            self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=log)
        while not (found := re.search(r'msg="Listening on" address=(\S+)', self.log.read_text())):
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.1)
        self.address = found[1]

    def ask(self, path, **parameters):
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path} {parameters}: {error.read().decode()}") from error


def lacking(prometheus, key, query):
    """What the query lacks that it should find, in words; None where nothing is lacking."""
    found = prometheus.ask("query", query=query)["result"]
    values = [float(series["value"][1]) for series in found]
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return "it finds nothing"
    if max(finite) <= 0 and key not in MAY_BE_ZERO:
        return "all that it finds is 0"
    for label in re.findall(r"\{\{(\w+)\}\}", key[1]):
        if not all(series["metric"].get(label) for series in found):
            return f"what it finds has no label {label}"
    return None


def bench(binaries, servers, dataset, *arguments):
    addresses = ",".join(server.address for server in servers)
    return [binaries / "stoker", "bench", "--quiet", "--servers", addresses, "--dataset", dataset, *map(str, arguments)]


def meet_faults(folder, binaries, servers):
    """Jobs that end by a bad sample, by an image that is too small, and by a file that all servers lack; and a stream that
    opens nothing."""
    for dataset, pipeline, said in (
        ("photos", "failing", "not a JPEG"),
        ("photos", "too_large", "RandomCrop"),
        ("gone", "failing", "No such file|changed"),
    ):
        command = bench(binaries, servers, dataset, "--pipeline", folder / f"{pipeline}.yaml", "--batches", 10)
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode != 0 and re.search(said, done.stderr), (command, done.returncode, done.stderr)
    head = http2.frame(http2.HEADERS, http2.END_HEADERS, 1, http2.request_headers(http2.STREAM_PATH))
    with contextlib.closing(http2.Connection(servers[0].address)) as connection:
        connection.send(head + http2.frame(http2.DATA, http2.END_STREAM, 1, http2.message(b"")))
        connection.await_frame(lambda kind, flags, *_: kind == http2.HEADERS and flags & http2.END_STREAM)


def check_alerts(prometheus):
    """Rules work, and those that should be active are. Returns the alerts that are lacking."""
    rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
    assert {rule["name"] for rule in rules} >= set(alerts())
    for rule in rules:
        assert rule["health"] in ("ok", "unknown") and not rule.get("lastError"), rule
    active = prometheus.ask("alerts")["alerts"]
    for alert in active:
        texts = alert["annotations"].values()
        assert all(text and "error expanding" not in text and "<no value>" not in text for text in texts), alert
    recorded = [rule for rule in rules if rule["type"] == "recording"]
    names = {alert["labels"]["alertname"] for alert in active}  # Others may be pending, where a scrape took too long.
    unseen = {rule["name"] for rule in recorded if not prometheus.ask("query", query=rule["name"])["result"]}
    return (PROVOKED - names) | unseen | {rule["name"] for rule in rules if rule["health"] == "unknown"}


def check_variables(prometheus):
    """The lists from which datasets and servers are chosen are not empty."""
    for variable in read_dashboard()["templating"]["list"]:
        if variable["type"] == "query":
            selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"]).groups()
            matched = {"match[]": filled_in(selector, ".*", WINDOW)}
            assert prometheus.ask(f"label/{label}/values", **matched), variable["name"]


def check_names(servers):
    _, is_documented = documented()
    told = set().union(*(server.told() for server in servers))
    shown = metrics_of("\n".join(query for *_, query in queries_of(read_dashboard())))
    assert all(map(is_documented, told)), f"not in docs/operations.md: {[n for n in told if not is_documented(n)]}"
    assert told - shown == NOT_SHOWN, f"not on the dashboard: {told - shown}"
    assert metrics_of("\n".join(expressions_of_rules())) | shown <= told
    return told


def check_fleet(binaries):
    need("prometheus")
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as ended:
        folder = Path(name)
        make_data(folder, binaries)
        store = FaultyServer(folder, "500s")
        ended.callback(store.shutdown)

        def started(it):
            ended.callback(it.process.wait)
            ended.callback(it.process.kill)
            return it

        servers = [started(Server(folder, number, binaries, store.url)) for number in range(3)]
        shutil.rmtree(folder / "gone")
        prometheus = started(Prometheus(folder, servers))
        substituting = ["--pipeline", folder / "substituting.yaml", "--epochs", 1_000_000]
        for dataset in ("photos", "photos", "shards"):  # Two equal jobs, so that the span cache finds something.
            job = subprocess.Popen(bench(binaries, servers, dataset, *substituting), stdout=subprocess.DEVNULL)
            ended.callback(job.wait)
            ended.callback(job.kill)
        servers[2].config.write_text("datasets: [{nam: one}]\n")
        servers[2].process.send_signal(signal.SIGHUP)
        check_queries(prometheus, servers, lambda: meet_faults(folder, binaries, servers))
        told = check_names(servers)
        print(f"fleet.py: the fleet tells {len(told)} metrics, all of them listed")


def check_queries(prometheus, servers, meet_faults):
    instances = "|".join(server.admin.replace(".", r"\\.") for server in servers)
    queries = {
        (panel, legend): filled_in(query, instances, WINDOW) for panel, legend, query in queries_of(read_dashboard())
    }
    missing, deadline = dict.fromkeys(queries, "it was not asked"), time.monotonic() + DEADLINE
    while missing or (alerts_missing := check_alerts(prometheus)):
        assert time.monotonic() < deadline, (missing or alerts_missing, [queries[key] for key in missing])
        meet_faults()
        missing = {key: why for key in missing if (why := lacking(prometheus, key, queries[key]))}
        time.sleep(0.5)
    check_variables(prometheus)
    print(f"fleet.py: {len(queries)} queries find what they should")


if __name__ == "__main__":
    check_fleet(Path(sys.argv[1]))
