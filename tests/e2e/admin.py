#!/usr/bin/env python3
"""admin.py BIN: asks a server's admin address what an operator would, while a job reads from it and while it ends.

What /metrics says is checked by Prometheus's own promtool, where that is installed.
"""

import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BIN = Path(sys.argv[1])
TOKEN = "a-token-of-enough-bytes"


class Server:
    def __init__(self, folder, *arguments, admin="127.0.0.1:0"):
        command = [BIN / "stokerd", "serve", "--listen", "127.0.0.1:0", "--admin", admin, "--cache-dir", folder]
        self.log = folder / f"{time.monotonic_ns()}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=log, text=True)
        self.address, self.admin = (self.process.stdout.readline().rpartition(" ")[2].strip() for _ in range(2))
        assert self.admin, self.log.read_text()

    def get(self, path, method="GET", raw=False, **headers):
        """The status, the type and the text of a page, or its bytes."""
        connection = http.client.HTTPConnection(self.admin, timeout=60)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        return answer.status, answer.getheader("Content-Type"), body if raw else body.decode()

    def end(self):
        self.process.kill()
        self.process.wait()


def wait_until(so, what):
    deadline = time.monotonic() + 60
    while not so():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def figures(text):
    """The series of /metrics by their names with labels."""
    return {key: float(value) for key, value in re.findall(r"^([a-z_]+(?:\{.*?\})?) (\S+)$", text, re.MULTILINE)}


def check_by_promtool(text):
    promtool = shutil.which("promtool")
    if promtool is None:
        print("admin.py: there is no promtool")
        return
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stdout and not done.stderr, done.stdout + done.stderr


def read_batches(server, *arguments):
    command = [BIN / "stoker", "bench", "--servers", server.address, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def check_pages(folder):
    server = Server(folder, "--synthetic", "64x48x3", "--span-cache", "8MiB", "--workers", "2")
    try:
        assert server.get("/healthz")[::2] == server.get("/readyz")[::2] == (200, "ok\n")
        read_batches(server, "--batches", "20")
        status, kind, text = server.get("/metrics")
        assert status == 200 and kind == "text/plain; version=0.0.4; charset=utf-8"
        check_by_promtool(text)
        told = figures(text)
        samples = told['stoker_samples_total{dataset="synthetic"}']
        assert samples >= 20 and told['stoker_sent_bytes_total{dataset="synthetic"}'] > 64 * 48 * 3 * 20
        assert told['stoker_spans_total{dataset="synthetic",outcome="made"}'] > 0
        assert told['stoker_stage_duration_seconds_count{dataset="synthetic",stage="read"}'] == samples
        assert told["stoker_workers"] == 2 and told["stoker_config_reload_success"] == 1
        assert told['stoker_cache_requests_total{cache="span",result="miss"}'] > 0
        assert told["process_resident_memory_bytes"] > 1e6
        assert any(key.startswith("stoker_build_info{") for key in told)
        calls = {key for key in told if key.startswith("grpc_server_call_duration_seconds_count{")}
        assert calls and not any("ListClasses" in key for key in calls), "a server's own pulse is not counted"
        status, kind, text = server.get("/status")
        assert status == 200 and kind == "application/json"
        document = json.loads(text)
        assert document["address"] == server.address and document["healthy"] and not document["draining"]
        assert [dataset["name"] for dataset in document["datasets"]] == ["synthetic"]
        assert document["figures"]["stoker_workers"] == 2
        status, _, text = server.get("/config")
        assert status == 200 and "workers: 2\n" in text and "memory_limit: " in text and "admin:" in text
        assert server.get("/nothing")[0] == 404 and server.get("/status", "POST")[0] == 405
    finally:
        server.end()


def check_token(folder):
    (folder / "token").write_text(TOKEN + "\n")
    server = Server(folder, "--synthetic", "8x8x3", "--admin-token", folder / "token")
    try:
        assert server.get("/metrics")[0] == 401 and server.get("/healthz")[0] == 200
        assert server.get("/metrics", Authorization=f"Bearer {TOKEN}")[0] == 200
        assert TOKEN not in server.get("/config", Authorization=f"Bearer {TOKEN}")[2]
        (folder / "token").write_text("short\n")
        wait_until(lambda: "admin.token_file: " in server.log.read_text(), "a bad token is told")
        assert server.get("/metrics", Authorization=f"Bearer {TOKEN}")[0] == 200, "what was read before stays in use"
        (folder / "token").write_text("another-token-of-enough-bytes\n")
        another = {"Authorization": "Bearer another-token-of-enough-bytes"}
        wait_until(lambda: server.get("/metrics", **another)[0] == 200, "a new token is taken up")
        assert server.get("/metrics", Authorization=f"Bearer {TOKEN}")[0] == 401
    finally:
        server.end()
    command = [BIN / "stokerd", "serve", "--synthetic", "8x8x3", "--admin", "0.0.0.0:0"]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 1 and "admin.listen: 0.0.0.0:0 is open to other machines; give it a token" in refused.stderr


def check_end(folder):
    """A server that drains is alive, and not ready."""
    server = Server(folder, "--synthetic", "64x48x3")
    reader = subprocess.Popen(
        [BIN / "stoker", "bench", "--servers", server.address, "--batches", "1000000"], stdout=subprocess.DEVNULL
    )
    try:
        while figures(server.get("/metrics")[2]).get('stoker_streams_active{dataset="synthetic"}', 0) < 1:
            time.sleep(0.05)
        reader.send_signal(signal.SIGSTOP)  # It takes nothing now, so that something is owed.
        server.process.send_signal(signal.SIGTERM)
        while (answer := server.get("/readyz"))[0] == 200:
            time.sleep(0.05)
        assert answer[0] == 503 and answer[2].startswith("draining"), answer
        assert server.get("/healthz")[0] == 200 and json.loads(server.get("/status")[2])["draining"]
        health = [BIN / "stokerd", "health", "--admin", server.admin]
        assert subprocess.run(health, capture_output=True, text=True, check=True).stdout == "ok\n"
        drains = subprocess.run([*health, "--ready"], capture_output=True, text=True)
        assert drains.returncode == 1 and "503" in drains.stderr, drains.stderr
        reader.kill()
        assert server.process.wait(120) == 0, server.log.read_text()
        gone = subprocess.run(health, capture_output=True, text=True)
        assert gone.returncode == 1 and server.admin in gone.stderr, gone.stderr
    finally:
        reader.kill()
        reader.wait()
        server.end()


def check_reload_at_sighup(folder):
    check_reload(folder, by_signal=True)


def check_reload_when_the_file_changes(folder):
    check_reload(folder, by_signal=False)


def check_reload(folder, by_signal):
    config = folder / "stokerd.yaml"
    config.write_text("datasets: [{name: one, synthetic: {samples: 8, fields: [{name: x, dtype: uint8, shape: [4]}]}}]\n")
    server = Server(folder, "--config", config)
    try:
        for text, success, names in (
            ("datasets: [{nam: one}]\n", 0, ["one"]),
            (config.read_text().replace("one", "two"), 1, ["two"]),
        ):
            config.write_text(text)
            if by_signal:
                server.process.send_signal(signal.SIGHUP)
            for _ in range(1200):
                told = figures(server.get("/metrics")[2])["stoker_config_reload_success"]
                served = [dataset["name"] for dataset in json.loads(server.get("/status")[2])["datasets"]]
                if told == success and served == names:
                    break
                time.sleep(0.1)
            assert told == success and served == names, (told, served, server.log.read_text())
        assert "name: two" in server.get("/config")[2] and "name: one" not in server.get("/config")[2]
    finally:
        server.end()


def check_preview(folder):
    config = folder / "stokerd.yaml"
    photos = "{name: photos, synthetic: {samples: 40, fields: [{name: image, encoding: jpeg, shape: [60, 80, 3]}]}}"
    numbers = "{name: numbers, synthetic: {samples: 8, fields: [{name: x, dtype: uint8, shape: [4]}]}}"
    config.write_text(f"admin: {{preview: true, peers: ['http://cpu2:7078']}}\ndatasets: [{photos}, {numbers}]\n")
    server = Server(folder, "--config", config)
    try:
        status, kind, picture = server.get("/preview?dataset=photos&first=20", raw=True)
        assert (status, kind) == (200, "image/png") and picture.startswith(b"\x89PNG"), picture[:200]
        for query, code, words in (
            ("dataset=photos&first=40", 404, "there are 40 samples"),
            ("dataset=photos&first=-1", 400, "first: give the id"),
            ("dataset=numbers", 404, "no images"),
            ("dataset=none", 404, "none"),
        ):
            status, _, text = server.get("/preview?" + query)
            assert status == code and words in text, (query, status, text)
        document = json.loads(server.get("/status")[2])
        assert document["preview"] is True and document["peers"] == ["http://cpu2:7078"]
        connection = http.client.HTTPConnection(server.admin, timeout=60)
        for path, origin in (("/readyz", "*"), ("/", None), ("/status", None)):
            connection.request("GET", path)
            answer = connection.getresponse()
            assert answer.getheader("Access-Control-Allow-Origin") == origin, path
            answer.read()
        status, kind, page = server.get("/")
        assert status == 200 and kind == "text/html; charset=utf-8" and page.lower().startswith("<!doctype html>")
    finally:
        server.end()
    refused = subprocess.run([BIN / "stokerd", "config", "--config", config], capture_output=True, text=True)
    assert refused.returncode == 1 and "admin.listen" in refused.stderr, refused.stderr


def check_status(folder):
    """What `stoker status` prints of two servers, one of which is gone then."""
    servers = [Server(folder, "--synthetic", "64x48x3", "--workers", "1") for _ in range(2)]
    reader = subprocess.Popen(
        [BIN / "stoker", "bench", "--servers", ",".join(one.address for one in servers), "--batches", "1000000"],
        stdout=subprocess.DEVNULL,
    )
    command = [BIN / "stoker", "status", "--servers", ",".join(one.address for one in servers), "--seconds", "1.5"]

    def look():
        return json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)

    try:
        deadline = time.monotonic() + 120
        while not all(one["clients_waiting"] and one["streams"] for one in look()["servers"]):
            assert time.monotonic() < deadline
        told = look()
        assert [one["address"] for one in told["servers"]] == sorted(one.address for one in servers)
        assert all(one["samples_per_second"] > 0 and one["streams"] == 1 for one in told["servers"]), told
        table = subprocess.run([*command, "--datasets"], capture_output=True, text=True, check=True).stdout.splitlines()
        assert table[0].split()[:3] == ["SERVER", "STATE", "BUSY"] and table[2].split()[0] == "synthetic", table
        assert len(table) == 6 and "serving" in table[1], table
        assert any('stoker_client_wait_seconds_total{dataset="synthetic"}' in one.get("/metrics")[2] for one in servers)
        status = json.loads(servers[0].get("/status")[2])
        stream = status["streams"][0]
        assert status["streams_total"] == 1 and stream["dataset"] == "synthetic" and stream["samples"] > 0, stream
        assert status["datasets"][0]["stages"]["read"] > 0 and status["busy_seconds"] > 0
        servers[1].end()
        half = subprocess.run(command, capture_output=True, text=True)
        assert half.returncode == 1 and "refuse" in half.stdout, half.stdout
        watch = subprocess.Popen([*command, "--watch"], stdout=subprocess.PIPE, text=True)
        for _ in range(2):
            while not watch.stdout.readline().startswith("SERVER"):
                pass
        watch.send_signal(signal.SIGINT)
        assert watch.wait(60) == 130
    finally:
        reader.kill()
        reader.wait()
        for one in servers:
            one.end()


def check_unix_socket(folder):
    path = folder / "admin.sock"
    path.touch(mode=0o600)
    taken = subprocess.run(
        [BIN / "stokerd", "serve", "--synthetic", "8x8x3", "--listen", "127.0.0.1:0", "--admin", f"unix:{path}"],
        capture_output=True,
        text=True,
    )
    assert taken.returncode == 1 and f"admin.listen: cannot listen on unix:{path}: " in taken.stderr, taken.stderr
    path.unlink()
    server = Server(folder, "--synthetic", "8x8x3", admin=f"unix:{path}")
    try:
        assert server.admin == f"unix:{path}"
        assert path.stat().st_mode & 0o022 == 0, "who may not write may not connect"
        health = subprocess.run([BIN / "stokerd", "health", "--admin", server.admin], capture_output=True, text=True)
        assert (health.returncode, health.stdout) == (0, "ok\n"), health.stderr
        connection = http.client.HTTPConnection("localhost", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(path))
        connection.request("GET", "/metrics")
        assert "stoker_build_info" in connection.getresponse().read().decode()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0 and not path.exists(), "it is removed at the end"
    finally:
        server.end()


def check_host_commands():
    for command in ([BIN / "stokerd", "check", "--host"], [BIN / "stoker", "check", "--host"]):
        report = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert re.search(r"^(ok  |look)  open files: ", report, re.MULTILINE), report
        assert report.endswith(" findings deserve a look\n"), report


def check_config_command():
    command = [BIN / "stokerd", "config", "--synthetic", "8x8x3", "--workers", "3"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "workers: 3\n" in printed and "listen: 127.0.0.1:7077\n" in printed and "drain_seconds: 30\n" in printed
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(printed)
        file.flush()
        again = subprocess.run([BIN / "stokerd", "config", "--config", file.name], capture_output=True, text=True, check=True)
    assert again.stdout == printed, "what is printed is a configuration"


def main():
    check_config_command()
    check_host_commands()
    reloads = (check_reload_at_sighup, check_reload_when_the_file_changes)
    for check in (check_pages, check_token, check_end, *reloads, check_preview, check_status, check_unix_socket):
        with tempfile.TemporaryDirectory() as folder:
            check(Path(folder))
    print("admin.py: all pages as they should be")


if __name__ == "__main__":
    main()
