"""Writes data for the other examples, as tar shards, with the configuration by which a stokerd serves it.

    python make_data.py shapes FOLDER [--samples N]     for train_segmentation.py: drawings with label maps
    python make_data.py features FOLDER [--samples N]   for train_features.py: vectors of 256 float32 with labels

It needs NumPy, and for shapes Pillow.
"""

from __future__ import annotations

import argparse
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy

SHARD_SAMPLES = 128
FEATURES, CLASSES = 256, 10

Members = dict[str, bytes]  #: What a sample consists of, by extension.


def shape(number: int) -> Members:
    """Disks, squares and rings on noise, and for each pixel what is drawn there: 0 nothing, 1 disk, 2 square, 3 ring, and
    255 where a shape ends, which is nobody's."""
    draw = numpy.random.default_rng(number)
    height, width = draw.integers(80, 140, 2)
    image = draw.normal(100, 25, (height, width, 3))
    labels = numpy.zeros((height, width), numpy.uint8)
    y, x = numpy.mgrid[:height, :width]
    for _ in range(draw.integers(2, 6)):
        kind, size = draw.integers(1, 4), draw.uniform(10, 28)
        dy, dx = abs(y - draw.uniform(0, height)), abs(x - draw.uniform(0, width))
        distance = numpy.maximum(dy, dx) if kind == 2 else numpy.hypot(dy, dx)
        inside = distance < size
        if kind == 3:
            inside &= distance > size / 2
        image[inside] = draw.uniform(0, 255, 3) + draw.normal(0, 12, (inside.sum(), 3))
        labels[inside] = kind
        labels[abs(distance - size) < 0.7] = 255
    return {"png": png(image.clip(0, 255).astype(numpy.uint8)), "seg.png": png(labels)}


def png(pixels: numpy.ndarray) -> bytes:
    from PIL import Image  # Vectors need none.

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "png")
    return file.getvalue()


def feature(number: int) -> Members:
    """A vector of a class's own mean, in elements of very different sizes, as networks make them."""
    centers = numpy.random.default_rng(0).normal(0, 1, (CLASSES, FEATURES))
    sizes = numpy.logspace(-2, 2, FEATURES)
    draw = numpy.random.default_rng(number + 1)
    label = int(draw.integers(CLASSES))
    file = io.BytesIO()
    numpy.save(file, (sizes * (centers[label] + draw.normal(0, 2, FEATURES))).astype(numpy.float32))
    return {"npy": file.getvalue(), "cls": str(label).encode()}


class Kind(NamedTuple):
    sample: Callable[[int], Members]
    fields: dict[str, Any]  # As in a server's configuration.


KINDS = {
    "shapes": Kind(shape, {"image": "png", "labels": {"from": "seg.png", "kind": "label_map"}}),
    "features": Kind(feature, {"features": "npy", "label": "cls"}),
}


def write(name: str, folder: Path, samples: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for first in range(0, samples, SHARD_SAMPLES):
        with tarfile.open(folder / f"{name}-{first // SHARD_SAMPLES:04}.tar", "w") as shard:
            for number in range(first, min(first + SHARD_SAMPLES, samples)):
                for extension, content in KINDS[name].sample(number).items():
                    member = tarfile.TarInfo(f"{number:06}.{extension}")
                    member.size = len(content)
                    shard.addfile(member, io.BytesIO(content))
    source = {"path": str(folder.resolve()), "fields": KINDS[name].fields}
    config = {"datasets": [{"name": name, "webdataset": source}]}
    (folder / "stokerd.yaml").write_text(json.dumps(config, indent=1))  # JSON is YAML.


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes data for the other examples, as tar shards.")
    parser.add_argument("name", choices=KINDS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=512)
    arguments = parser.parse_args()
    write(**vars(arguments))
    print(f"serve it: stokerd serve --config {arguments.folder}/stokerd.yaml")
