"""The examples in Python, for a short time."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stoker import Loader, Ragged, RaggedImages, transforms

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


# ---- Drawings and sounds ----

#: What make_data.py makes: the example that trains on it, and what its loss falls to in 60 steps.
DRAWINGS = {
    "shapes": ("train_segmentation.py", 0.75),
    "objects": ("train_detection.py", 0.6),
    "captions": ("train_contrastive.py", 0.8),
    "sizes": ("train_native_size.py", 0.6),
    "sounds": ("train_audio.py", 0.6),
}


@pytest.fixture(scope="module")
def drawings(tmp_path_factory):
    """Makes drawings, or sounds, of a kind, once."""
    pytest.importorskip("torch")
    pytest.importorskip("PIL")
    made = {}

    def make(name):
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name)
            command = [sys.executable, EXAMPLES / "make_data.py", name, made[name], "--samples", "256"]
            subprocess.run(command, check=True)
        return made[name] / "stokerd.yaml"

    return make


@pytest.mark.parametrize("name", DRAWINGS)
def test_the_loss_falls_on_drawings(drawings, start_server, tmp_path, name):
    example, share = DRAWINGS[name]
    server = start_server("--config", drawings(name))
    losses = losses_of(tmp_path, example, server.address, "--steps", 60)
    assert len(losses) == 6
    assert losses[-1] < losses[0] * share


@pytest.mark.parametrize("name", DRAWINGS)
def test_training_goes_on_in_the_middle_of_an_epoch(drawings, start_server, tmp_path, name):
    example = DRAWINGS[name][0]
    server = start_server("--config", drawings(name))
    steps = ["--steps", 30]  # An epoch has 16, and 8 of captions and sounds.
    whole = losses_of(tmp_path, example, server.address, *steps)
    state = tmp_path / "state"
    first = losses_of(tmp_path, example, server.address, "--steps", 20, "--state", state)
    rest = losses_of(tmp_path, example, server.address, *steps, "--state", state)
    assert len(whole) == 3 and first == whole[:2] and rest == whole[2:]


@pytest.mark.parametrize("name", DRAWINGS)
def test_three_servers_of_which_one_is_killed_make_what_one_makes(drawings, start_server, name):
    servers = [start_server("--config", drawings(name)) for _ in range(3)]
    crops = [transforms.RandomResizedCrop(64), transforms.RandomHorizontalFlip()]
    ops = {
        "shapes": [*crops, transforms.RandomRotation(15, map_fill=255)],
        "objects": [*crops, transforms.SanitizeBoundingBoxes(labels=["classes"])],
        "captions": crops,
        "sizes": [transforms.Resize(64, max_size=96, multiple=8), transforms.RandomHorizontalFlip()],
        "sounds": [transforms.Resample(8000)],
    }[name]
    if name == "sizes":
        ops = transforms.Pipeline(ops, native_size={"max_pixels": 96 * 96})

    def epoch_of(addresses, after_batch=lambda number: None):
        digest = hashlib.sha256()
        with Loader(addresses, batch_size=16, transforms=ops, output="numpy", prefetch=2) as loader:
            for number, batch in enumerate(loader):
                for field in batch:
                    parts = field.__slots__[:3] if isinstance(field, RaggedImages) else ("values", "offsets")
                    ragged = isinstance(field, (Ragged, RaggedImages))
                    arrays = [getattr(field, part) for part in parts] if ragged else [field]
                    digest.update(b"".join(array.tobytes() for array in arrays))
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
