"""The examples for training frameworks, each with the real one: it is killed, goes on, and takes each sample in its order."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Callable

import pytest
from conftest import loader_of

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDING = Path(__file__).parent / "recording"
LAUNCH = [sys.executable, "-m"]
ON_TWO_CORES = {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}  # The second as `accelerate launch --cpu` does it.
TWO_RANKS = ["torch.distributed.run", "--nproc-per-node", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]


class Run:
    """An example that trains, in processes of its own; its rank R's batches are lines of the file NAME.R of `folder`."""

    def __init__(self, folder: Path, name: str, *command: str, **environment: str) -> None:
        self.folder, self.name = folder, name
        path = os.pathsep.join([str(RECORDING), os.environ.get("PYTHONPATH", "")])
        self.output = open(folder / f"{name}.log", "w+")
        self.process = subprocess.Popen(
            [*map(str, command)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "STOKER_RECORD": str(folder / name), **ON_TWO_CORES, **environment},
            stdout=self.output,
            stderr=subprocess.STDOUT,
        )

    def steps(self) -> list[tuple[str, ...]]:
        """What each step trained on: for each rank its batch's epoch and ids. Only steps that all ranks have begun."""
        files = sorted(self.folder.glob(f"{self.name}.[0-9]*"))
        return list(zip(*(file.read_text().splitlines() for file in files)))

    def kill_once(self, ready: Callable[[], bool]) -> None:
        """Ends all its processes at once when that is so."""
        deadline = time.monotonic() + 300
        while not ready() and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        in_time = self.process.poll() is None and ready()
        self.end()
        assert in_time, self.told()

    def end(self) -> None:
        """Ends all its processes that live."""
        while processes := self.processes():  # Launchers put their ranks into groups of their own.
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            self.process.poll()  # Takes leave of it.

    def processes(self) -> list[int]:
        """Those that live: by their environment, which they have from us, or by a parent of which that is so. Ray's write
        their titles over their environment."""
        parents, found = {}, set()
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if state not in "ZX":
                    parents[int(folder.name)] = int(parent)
                if f"STOKER_RECORD={self.folder / self.name}\0".encode() in (folder / "environ").read_bytes():
                    found.add(int(folder.name))
        while more := {process for process, parent in parents.items() if parent in found} - found:
            found |= more
        return sorted(found)

    def finish(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=300)
        ended = self.process.poll()
        self.end()
        assert ended == 0, self.told()

    def told(self) -> str:
        self.output.seek(0)
        return self.output.read()


FRAMEWORKS = {
    "lightning": ("train_lightning.py", [], ["--devices", "1"], 1),
    "lightning-ddp": ("train_lightning.py", [], ["--devices", "2"], 2),
    "accelerate": ("train_accelerate.py", [*LAUNCH, *TWO_RANKS], [], 2),
    "transformers": ("train_trainer.py", [*LAUNCH, *TWO_RANKS], [], 2),
    "composer": ("train_composer.py", [*LAUNCH, "composer", "-n", "2"], [], 2),
    "ray": ("train_ray.py", [], ["--workers", "2"], 2),
    "jax": ("train_jax.py", [], [], 1),
    "ddp": ("train_ddp.py", [*LAUNCH, *TWO_RANKS], [], 2),
}
NEEDED = {
    "train_lightning.py": "lightning",
    "train_accelerate.py": "accelerate",
    "train_trainer.py": "transformers",
    "train_composer.py": "composer",
    "train_ray.py": "ray",
    "train_jax.py": "jax",
}


@pytest.fixture
def cluster():
    """What a Ray of our own is told: where its files go, in few letters since sockets are among them, and who may use it."""
    folder = tempfile.mkdtemp(prefix="ray-")
    yield {
        "RAY_TMPDIR": folder,
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_OVERRIDE_RESOURCES": '{"CPU": 4}',  # It would wait for cores that a small machine has not.
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "240",
    }
    shutil.rmtree(folder, ignore_errors=True)


def has_noted_a_checkpoint(folder: Path) -> bool:
    """Whether Ray's controller has, by which the next run goes on: it does so a while after a rank reported it."""
    with contextlib.suppress(OSError, ValueError):
        noted = json.loads((folder / "runs/photographs/checkpoint_manager_snapshot.json").read_text())
        return bool(noted["checkpoint_results"])
    return False


def expected_steps(server, ranks: int) -> list[tuple[str, ...]]:
    """What ranks take in two epochs that nobody interrupts, by loaders without a framework."""
    of_rank = []
    for rank in range(ranks):
        with loader_of(server, rank=rank, world_size=ranks) as loader:
            epochs = [batch.info() for _ in range(2) for batch in loader.batches()]
        of_rank.append([" ".join(map(str, [info.epoch, *info.sample_ids])) for info in epochs])
    return list(zip(*of_rank))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_is_killed_goes_on_in_the_same_order(server, tmp_path, cluster, framework):
    example, launcher, options, ranks = FRAMEWORKS[framework]
    pytest.importorskip(NEEDED.get(example, "torch"))
    program = [*(launcher or [sys.executable]), EXAMPLES / example, server.address, "--classes", "4", *options]
    expected = expected_steps(server, ranks)
    steps = 200 // (16 * ranks)
    assert len(expected) == 2 * steps and {len(step) for step in expected} == {ranks}
    for epoch in range(2):  # Each sample once, none twice, on whatever rank.
        ids = [i for step in expected[epoch * steps : (epoch + 1) * steps] for rank in step for i in rank.split()[1:]]
        assert len(ids) == len(set(ids)) == steps * 16 * ranks

    held = steps + 4  # In mid-epoch, some steps after a checkpoint.
    killed = Run(tmp_path, "before", *program, STOKER_HOLD_AT=str(held), **cluster)
    killed.kill_once(lambda: len(killed.steps()) == held and (framework != "ray" or has_noted_a_checkpoint(tmp_path)))
    assert killed.steps() == expected[:held]
    resumed = Run(tmp_path, "after", *program, **cluster)
    resumed.finish()
    after = resumed.steps()
    begun = len(expected) - len(after)
    assert 0 < begun <= held and after == expected[begun:], resumed.told()
    if framework == "composer":  # It would take batches and skip them, where it is to find its place itself.
        assert (tmp_path / f"checkpoints/ep2-ba{2 * steps}-rank0.pt").exists()


_SHARED_SAMPLES = """
    import os, sys, stoker, torch.distributed
    from torch.utils.data import DataLoader

    def refusal(batches):
        try:
            next(iter(batches))
        except stoker.FailedPreconditionError as error:
            return str(error)

    ranks = {key: os.environ.pop(key) for key in ("RANK", "WORLD_SIZE")}
    early = stoker.Loader(sys.argv[1], batch_size=16)
    told = stoker.Loader(sys.argv[1], batch_size=16, rank=0, world_size=1)
    os.environ.update(ranks)
    torch.distributed.init_process_group("gloo")
    late = stoker.Loader(sys.argv[1], batch_size=16)
    assert (late.rank, late.world_size) == (int(ranks["RANK"]), 2) and refusal(late) is None and refusal(told) is None
    assert "torch.distributed has 2 ranks and the loader was made for 1" in refusal(early)

    from accelerate import Accelerator
    accelerator = Accelerator(cpu=True)
    assert refusal(accelerator.prepare(late)) is None
    wrong = refusal(accelerator.prepare(DataLoader(late, batch_size=None)))
    assert "Give prepare() the loader itself" in wrong
    print("done", flush=True)
    os._exit(0)  # Accelerate would wait for what was broken off.
"""


def test_ranks_that_would_train_on_the_same_samples_are_refused(server, tmp_path):
    pytest.importorskip("accelerate")
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(_SHARED_SAMPLES))
    run = Run(tmp_path, "run", *LAUNCH, *TWO_RANKS, program, server.address)
    run.finish()
    assert run.told().count("done") == 2
