"""The examples in Python, for a short time."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def losses_of(example, *arguments):
    command = [sys.executable, str(EXAMPLES / example), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    return [float(loss) for loss in re.findall(r" loss ([\d.]+)$", done.stdout, re.MULTILINE)]


@pytest.mark.parametrize("example, needs", [("train_cnn.py", "torch"), ("train_jax.py", "jax")])
def test_the_loss_falls(server, example, needs):
    pytest.importorskip(needs)
    losses = losses_of(example, server.address, "--classes", 4, "--steps", 60)
    assert len(losses) == 6
    assert sum(losses[-2:]) < sum(losses[:2]) / 2
