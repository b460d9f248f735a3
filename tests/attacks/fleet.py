#!/usr/bin/env python3
"""fleet.py --bin FOLDER [--seconds N] [NAME...]: the attacks for long, on a fleet of two servers with two jobs on it.

Prints for each attack what the attacked server's memory and time on the CPU did, and what became of the jobs' epochs and of
the time that a small question takes. Exits with 0 only if no job failed or got another digest, and memory stayed bounded.
`./dev attack` runs it.
"""

import argparse
import contextlib
import resource
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import attacks
import http2
import run

SAMPLES = 8192


class Job(threading.Thread):
    """Reads one epoch after another from both servers."""

    def __init__(self, binaries, addresses):
        super().__init__()
        self.binaries, self.addresses = binaries, addresses
        self.stopped = threading.Event()
        self.digests, self.seconds, self.failures = set(), [], []

    def run(self):
        while not self.stopped.is_set():
            since = time.monotonic()
            try:
                self.digests |= run.epoch_digest(self.binaries, self.addresses)
                self.seconds.append(time.monotonic() - since)
            except AssertionError as failed:
                self.failures.append(str(failed))


class Probe(threading.Thread):
    """Asks the attacked server for its datasets, 50 times a second on one connection, and measures how long it takes."""

    def __init__(self, address):
        super().__init__()
        self.address = address
        self.stopped = threading.Event()
        self.seconds = []

    def run(self):
        block = http2.request_headers("/stoker.v1.DataService/ListDatasets")
        while not self.stopped.is_set():
            with contextlib.suppress(http2.Closed, OSError):
                connection = http2.Connection(self.address)
                for stream in range(1, 1 << 30, 2):
                    if self.stopped.wait(0.02):
                        return
                    since = time.monotonic()
                    connection.send(
                        http2.frame(http2.HEADERS, http2.END_HEADERS, stream, block)
                        + http2.frame(http2.DATA, http2.END_STREAM, stream, http2.message(b""))
                    )
                    connection.await_frame(lambda kind, flags, *_: kind == http2.HEADERS and flags & http2.END_STREAM)
                    self.seconds.append(time.monotonic() - since)

    def percentiles(self):
        """The median and the 99th percentile, in milliseconds."""
        if len(self.seconds) < 2:
            return float("nan"), float("nan")
        return statistics.median(self.seconds) * 1e3, statistics.quantiles(self.seconds, n=100)[98] * 1e3


def measure(name, binaries, seconds):
    """One attack on the first of two servers; without a name, none. Returns what is to be said, and whether it held."""
    attack = run.ATTACKS.get(name, run.Attack(0))
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ended:
        extra = attack.limits
        servers = [run.Stokerd(folder, binaries, samples=SAMPLES, files=attack.files, extra=extra) for _ in range(2)]
        for server in servers:
            ended.callback(server.stop)
        addresses = [server.address for server in servers]
        digest = run.epoch_digest(binaries, addresses)
        jobs = [Job(binaries, addresses) for _ in range(2)]
        probe = Probe(addresses[0])
        before = servers[0].memory()
        servers[0].forget_peak()
        for thread in (*jobs, probe):
            thread.start()
        sent, until = 0, time.monotonic() + seconds
        while time.monotonic() < until:
            if name:
                with contextlib.suppress(OSError, http2.Closed):
                    sent += getattr(attacks, name)(addresses[0], attack.small)
            else:
                time.sleep(0.5)
        for thread in (*jobs, probe):
            thread.stopped.set()
        for thread in (*jobs, probe):
            thread.join()
        growth = servers[0].peak() - before
        kept = run.await_memory(servers[0], before + run.MOST_KEPT, 30) - before
        epochs = [second for job in jobs for second in job.seconds]
        failures = [failure for job in jobs for failure in job.failures]
        same = all(job.digests <= digest for job in jobs)
        half, most = probe.percentiles()
        print(
            f"{name or 'none':22s} {sent / 1e6:8.1f} MB {growth >> 20:5d} MB {kept >> 20:5d} MB"
            f" {len(epochs):4d} {statistics.median(epochs or [float('nan')]):7.2f} s {half:7.1f} ms {most:7.1f} ms"
            f"  {'same' if same else 'ANOTHER DIGEST'}{''.join(' FAILED: ' + failure for failure in failures[:1])}",
            flush=True,
        )
        return same and not failures and growth <= run.MOST_GROWTH and kept <= run.MOST_KEPT


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("names", nargs="*", choices=[*run.ATTACKS, []])
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print("attack                     sent    growth     kept  epochs  median  question p50      p99  digests")
    held = [measure(name, options.bin, options.seconds) for name in ["", *(options.names or run.ATTACKS)]]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
