"""A fleet that is restarted, server by server, and whose configuration is read again and again, good or broken, while a
job reads from it: one digest, and the longest wait for a batch is printed."""

from __future__ import annotations

import itertools
import signal
import threading
import time

import pytest

from stoker import Digest, Loader

SAMPLES = 4000
FIELD = "{name: image, dtype: uint8, shape: [64, 64, 3]}"
GOOD = f"datasets: [{{name: noise, synthetic: {{samples: {SAMPLES}, fields: [{FIELD}]}}}}]\n"
OTHERS = GOOD + "pipelines: {plain: {ops: []}}\n"
BROKEN = "datasets: [{nam: noise}]\n"


def read_epoch(servers, beside):
    """The digest of an epoch, its longest wait for a batch in seconds, and what `beside` did meanwhile.

    `beside` is a generator that takes a step each time it is asked, on a thread of its own, until the epoch is over. The
    job trains for a moment on each batch, as if a GPU did, so that it lasts for as long as `beside` has steps.
    """
    steps, over = [], threading.Event()

    def work():
        for step in beside:
            steps.append(step)
            if over.is_set():
                break

    worker = threading.Thread(target=work)
    digest, waits = Digest(), []
    options = {"batch_size": 16, "output": "numpy", "last_batch": "partial", "transforms": []}
    with Loader([one.address for one in servers], **options) as loader:
        batches = loader.batches()
        worker.start()
        while True:
            begun = time.monotonic()
            batch = next(batches, None)
            waits.append(time.monotonic() - begun)
            if batch is None:
                break
            digest.add(batch)
            time.sleep(0.01)
            while len(waits) > SAMPLES / 16 / 2 and worker.is_alive() and len(steps) < 4:
                time.sleep(0.05)  # What is beside has begun too late; half of the epoch is left for it.
        over.set()
        worker.join()
        assert not loader.stats()["differing_spans"]
    return digest.hexdigest(), max(waits), steps


@pytest.fixture
def fleet(tmp_path, start_server):
    """Four servers, each with a configuration of its own."""
    servers = []
    for number in range(4):
        config = tmp_path / f"{number}.yaml"
        config.write_text(GOOD)
        servers.append(start_server("--config", config))
        servers[-1].config = config
    return servers


@pytest.fixture
def plain(fleet):
    return read_epoch(fleet[:1], iter(()))[0]


def test_a_rolling_restart_changes_no_byte(fleet, plain):
    def restarts():
        for server in fleet:
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(60) == 0, server.log.read_text()
            server.start(*server.arguments)
            yield server.address

    digest, longest, restarted = read_epoch(fleet, restarts())
    print(f"restarted {len(restarted)} servers in one epoch; the longest wait for a batch was {longest * 1e3:.0f} ms")
    assert digest == plain and len(restarted) == 4


def told(server):
    """How often the server's log says that it has read its configuration again."""
    return server.log.read_text().count("the configuration was read again")


def test_storms_of_reloads_change_no_byte(fleet, plain):
    def storm():
        for number, text in enumerate(itertools.cycle([BROKEN, GOOD, OTHERS])):
            before = [told(server) for server in fleet]
            for server in fleet:
                server.config.write_text(text)
                server.process.send_signal(signal.SIGHUP)
            while any(told(server) == said for server, said in zip(fleet, before)):
                time.sleep(0.01)
            yield number

    digest, longest, reloads = read_epoch(fleet, storm())
    print(f"{len(reloads)} times SIGHUP for four servers; the longest wait for a batch was {longest * 1e3:.0f} ms")
    assert digest == plain and len(reloads) >= 4
    for server in fleet:
        log = server.log.read_text()
        assert "is not used: " in log and "the configuration was read again: new streams use it" in log
