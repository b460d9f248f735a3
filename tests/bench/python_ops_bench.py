"""./dev bench python-ops: what it costs to run an op in Python on a server, beside the op itself.

The same function runs four ways: called in a loop; as a worker of stokerd has it work on a span, and on one image by
itself, which it does where an image is large; and in the one worker of PyTorch's DataLoader, on an image that is there
already. What each takes more than the loop is its overhead. The ways take turns, round by round.
"""

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import torch

import stoker

BINARIES = Path(os.environ["STOKER_BENCH_BINARIES"])

OPS = """
import numpy, stoker

@stoker.op(version=1)
def nothing(image, rng):
    return image

@stoker.op(version=1)
def invert(image, rng, p=0.5):
    return 255 - image if rng.bernoulli(p) else image

@stoker.op(version=1)
def darken(image, rng, by=0.5):
    return (image * (1 - rng.uniform(0, by))).astype("uint8")
"""


class Images(torch.utils.data.Dataset):
    """Applies `function` to the same image again and again, as a DataLoader's worker does after decoding."""

    def __init__(self, function, image, count):
        self.function, self.image, self.count = function, image, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return torch.from_numpy(self.function(self.image, stoker.ops.Draws(1, index)))


def in_a_loop(function, image, count):
    begun = time.perf_counter()
    for i in range(count):
        function(image, stoker.ops.Draws(1, i))
    return (time.perf_counter() - begun) / count


def in_a_dataloader(function, image, count):
    loader = iter(torch.utils.data.DataLoader(Images(function, image, count + 80), batch_size=8, num_workers=1))
    for _ in range(10):
        next(loader)
    begun = time.perf_counter()
    taken = sum(len(batch) for batch in loader)
    return (time.perf_counter() - begun) / taken


def on_a_server(file, name, side, count, span):
    command = [BINARIES / "time-op-calls", sys.executable, file, name, str(side), str(count), str(span)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(prog="bench-python-ops", description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=4000, help="of a turn")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each way; the median counts")
    parser.add_argument("--span", type=int, default=8, help="images that a worker has in hand, at most 16")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "ops.py")
        file.write_text(OPS)
        spec = importlib.util.spec_from_file_location("ops", file)
        ops = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(ops)
        print(f"{arguments.rounds} rounds of {arguments.images} images; µs an image, the medians\n")
        span = f"span of {arguments.span}"
        print(f"{'':22}{'loop':>8}{span:>12}{'by itself':>11}{'DataLoader':>12}{'adds:':>9}{span:>11}{'by itself':>11}{'DataLoader':>12}")
        for side in (224, 64):
            image = numpy.random.default_rng(1).integers(256, size=(side, side, 3)).astype("uint8")
            for name in ("nothing", "invert", "darken"):
                function = getattr(ops, name)
                turns = [
                    (
                        in_a_loop(function, image, arguments.images),
                        on_a_server(file, name, side, arguments.images, arguments.span),
                        on_a_server(file, name, side, arguments.images, 0),
                        in_a_dataloader(function, image, arguments.images),
                    )
                    for _ in range(arguments.rounds)
                ]
                loop, spans, alone, theirs = (1e6 * statistics.median(way) for way in zip(*turns))
                print(f"{f'{name}, {side} × {side}':22}{loop:8.1f}{spans:12.1f}{alone:11.1f}{theirs:12.1f}", end="")
                print(f"{'':9}{spans - loop:11.1f}{alone - loop:11.1f}{theirs - loop:12.1f}", flush=True)


if __name__ == "__main__":
    main()
