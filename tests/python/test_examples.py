"""The examples in Python, for a short time."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stoker import Loader, transforms

EXAMPLES = Path(__file__).parents[2] / "examples"


def losses_of(folder, example, *arguments):
    command = [sys.executable, str(EXAMPLES / example), *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    return [float(loss) for loss in re.findall(r" loss ([\d.]+)$", done.stdout, re.MULTILINE)]


@pytest.mark.parametrize(
    "example, needs, length",
    [("train_cnn.py", "torch", ["--steps", 60]), ("train_jax.py", "jax", ["--epochs", 6])],
)
def test_the_loss_falls(server, tmp_path, example, needs, length):
    pytest.importorskip(needs)
    losses = losses_of(tmp_path, example, server.address, "--classes", 4, *length)
    assert len(losses) == 6
    assert sum(losses[-2:]) < sum(losses[:2]) / 2


# ---- Segmentation ----


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    """The drawings with label maps."""
    pytest.importorskip("torch")
    pytest.importorskip("PIL")
    folder = tmp_path_factory.mktemp("shapes")
    subprocess.run([sys.executable, EXAMPLES / "make_data.py", "shapes", folder, "--samples", "256"], check=True)
    return folder


def test_segmentation_is_learned(shapes, start_server, tmp_path):
    server = start_server("--config", shapes / "stokerd.yaml")
    losses = losses_of(tmp_path, "train_segmentation.py", server.address, "--steps", 60)
    assert len(losses) == 6
    assert losses[-1] < losses[0] * 0.75


def test_segmentation_goes_on_in_the_middle_of_an_epoch(shapes, start_server, tmp_path):
    server = start_server("--config", shapes / "stokerd.yaml")
    steps = ["--steps", 30]  # Of 16 an epoch.
    whole = losses_of(tmp_path, "train_segmentation.py", server.address, *steps)
    state = tmp_path / "state"
    first = losses_of(tmp_path, "train_segmentation.py", server.address, "--steps", 20, "--state", state)
    rest = losses_of(tmp_path, "train_segmentation.py", server.address, *steps, "--state", state)
    assert len(whole) == 3 and first == whole[:2] and rest == whole[2:]


def test_three_servers_of_which_one_is_killed_make_what_one_makes(shapes, start_server):
    servers = [start_server("--config", shapes / "stokerd.yaml") for _ in range(3)]
    ops = [transforms.RandomRotation(15, map_fill=255), transforms.RandomResizedCrop(64)]

    def epoch_of(addresses, after_batch=lambda number: None):
        digest = hashlib.sha256()
        with Loader(addresses, batch_size=16, transforms=ops, output="numpy", prefetch=2) as loader:
            for number, (images, labels) in enumerate(loader):
                assert labels.dtype == "int64" and labels.shape == images.shape[:3]
                digest.update(images.tobytes() + labels.tobytes())
                after_batch(number)
        return digest.hexdigest()

    one = epoch_of(servers[0].address)
    kill = lambda number: servers[1].stop() if number == 4 else None  # noqa: E731
    assert epoch_of([server.address for server in servers], kill) == one


# ---- Vectors ----


def test_features_are_learned(start_server, tmp_path):
    pytest.importorskip("torch")
    subprocess.run([sys.executable, EXAMPLES / "make_data.py", "features", tmp_path, "--samples", "640"], check=True)
    server = start_server("--config", tmp_path / "stokerd.yaml")
    losses = losses_of(tmp_path, "train_features.py", server.address, "--steps", 60)
    assert len(losses) == 6
    assert losses[-1] < losses[0] / 2
