"""The examples in Python, for a short time."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
