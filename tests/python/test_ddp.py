"""Training under torchrun, with gloo on the CPU: ddp_job.py, as one process, as ranks, killed, and gone on with."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES, EPOCHS, RANKS = 960, 2, 4
GLOBAL_BATCH = 32  # Of every run, its ranks' together; but see that with three ranks.
KILL_STEP, KEPT_STEPS = 14, 12  # In the midst of the first epoch's 30; the checkpoint before it.

CONFIG = f"""
workers: 1
datasets:
  - name: numbers
    synthetic:
      samples: {SAMPLES}
      fields:
        - {{name: image, dtype: uint8, shape: [8, 8, 3]}}
        - {{name: number, dtype: int64, shape: []}}
"""


def run(server, folder: Path, ranks: int, batch_size: int, *arguments: str) -> int:
    """The exit status of ddp_job.py under torchrun; as one process without it."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable]
    if ranks > 1:
        command += ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(ranks)]
    command += [str(Path(__file__).with_name("ddp_job.py")), server.address, str(folder)]
    command += ["--batch-size", str(batch_size), "--epochs", str(EPOCHS), *arguments]
    log = folder / "log"
    with open(log, "w") as output:
        # A group of its own, so that no rank outlives a test that gave up.
        job = subprocess.Popen(
            command, stdout=output, stderr=output, start_new_session=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
        )
        try:
            status = job.wait(timeout=250)
        finally:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)
    print(log.read_text()[-4000:])  # Shown where a test fails.
    return status


def steps_of(folder: Path):
    return [json.loads(line) for line in (folder / "steps.jsonl").read_text().splitlines()]


def told_by_rank(folder: Path, rank: int):
    return json.loads((folder / f"rank-{rank}.json").read_text())


def order_of(steps):
    return [{key: step[key] for key in ("epoch", "positions", "sample_ids", "numbers")} for step in steps]


def assert_every_sample_once(steps):
    ids = {}
    for epoch in range(EPOCHS):
        of_epoch = [step for step in steps if step["epoch"] == epoch]
        positions = [position for step in of_epoch for position in step["positions"]]
        assert positions == list(range(SAMPLES))
        ids[epoch] = [sample for step in of_epoch for sample in step["sample_ids"]]
        assert sorted(ids[epoch]) == list(range(SAMPLES))
    assert ids[0] != ids[1]


@pytest.fixture(scope="module", autouse=True)
def torch():
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def numbers(runs):
    from conftest import Server

    (runs / "stokerd.yaml").write_text(CONFIG)
    server = Server(runs, "--config", str(runs / "stokerd.yaml"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def alone(numbers, runs):
    """What one process did."""
    assert run(numbers, runs / "alone", 1, GLOBAL_BATCH) == 0
    return runs / "alone"


@pytest.fixture(scope="module")
def killed(numbers, runs):
    """What a job of four ranks left, of which one was killed."""
    folder = runs / "killed"
    assert run(numbers, folder, RANKS, GLOBAL_BATCH // RANKS, "--kill-step", str(KILL_STEP)) != 0
    assert "Signal 9 (SIGKILL)" in (folder / "log").read_text()
    assert KEPT_STEPS <= len(steps_of(folder)) < SAMPLES // GLOBAL_BATCH
    assert not list(folder.glob("rank-*.json"))
    return folder


def test_one_process_trains_on_every_sample_of_every_epoch_once(alone):
    steps = steps_of(alone)
    assert_every_sample_once(steps)
    losses = [step["loss"] for step in steps]
    assert sum(losses[-5:]) < sum(losses[:5]) / 2


def test_a_killed_job_goes_on_and_ends_as_if_nothing_had_been(numbers, alone, killed, runs):
    folder = shutil.copytree(killed, runs / "resumed")
    assert run(numbers, folder, RANKS, GLOBAL_BATCH // RANKS) == 0
    told = [told_by_rank(folder, rank) for rank in range(RANKS)]
    assert [one["steps"] for one in told] == [told_by_rank(alone, 0)["steps"]] * RANKS
    # Four ranks have the global order of one.
    assert order_of(steps_of(folder)) == order_of(steps_of(alone))
    # They trained: all have the parameters that one process has, up to the order of additions.
    for one in told:
        assert one["parameters"] == told[0]["parameters"]
    assert one["parameters"] == pytest.approx(told_by_rank(alone, 0)["parameters"], rel=1e-3, abs=1e-5)


def test_a_killed_job_goes_on_with_another_world_size(numbers, alone, killed, runs):
    folder = shutil.copytree(killed, runs / "with-three")
    assert run(numbers, folder, 3, 8) == 0
    steps = steps_of(folder)
    assert {len(step["positions"]) for step in steps[:KEPT_STEPS]} == {GLOBAL_BATCH}
    assert {len(step["positions"]) for step in steps[KEPT_STEPS:]} == {24}
    assert {told_by_rank(folder, rank)["steps"] for rank in range(3)} == {len(steps)}
    assert_every_sample_once(steps)
    for epoch in range(EPOCHS):
        order = [
            [sample for step in steps_of(of) if step["epoch"] == epoch for sample in step["sample_ids"]]
            for of in (folder, alone)
        ]
        assert order[0] == order[1]
