"""Writes a folder of tar shards for segmentation: drawings of disks, squares and rings on noise, each with a label map.

    python make_shapes.py FOLDER [--samples 512]

A sample has the members KEY.png, the drawing, and KEY.seg.png, a number for each of its pixels: 0 background, 1 disk,
2 square, 3 ring, and 255 where a shape ends, which is nobody's. FOLDER also gets stokerd.yaml, by which a stokerd serves
it. It needs numpy and Pillow.
"""

from __future__ import annotations

import argparse
import io
import json
import tarfile
from pathlib import Path

import numpy
from PIL import Image

SHARD_SAMPLES = 128


def drawing(seed: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """A drawing of height × width × 3 uint8, and its label map of height × width uint8."""
    draw = numpy.random.default_rng(seed)
    height, width = draw.integers(80, 140, 2)
    image = draw.normal(100, 25, (height, width, 3))
    labels = numpy.zeros((height, width), numpy.uint8)
    y, x = numpy.mgrid[:height, :width]
    for _ in range(draw.integers(2, 6)):
        shape, size = draw.integers(1, 4), draw.uniform(10, 28)
        dy, dx = abs(y - draw.uniform(0, height)), abs(x - draw.uniform(0, width))
        distance = numpy.maximum(dy, dx) if shape == 2 else numpy.hypot(dy, dx)
        inside = distance < size
        if shape == 3:
            inside &= distance > size / 2
        image[inside] = draw.uniform(0, 255, 3) + draw.normal(0, 12, (inside.sum(), 3))
        labels[inside] = shape
        labels[abs(distance - size) < 0.7] = 255
    return image.clip(0, 255).astype(numpy.uint8), labels


def png(pixels: numpy.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "png")
    return file.getvalue()


def write_shards(folder: Path, samples: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for first in range(0, samples, SHARD_SAMPLES):
        with tarfile.open(folder / f"shapes-{first // SHARD_SAMPLES:04}.tar", "w") as shard:
            for number in range(first, min(first + SHARD_SAMPLES, samples)):
                image, labels = drawing(number)
                for extension, content in (("png", png(image)), ("seg.png", png(labels))):
                    member = tarfile.TarInfo(f"{number:06}.{extension}")
                    member.size = len(content)
                    shard.addfile(member, io.BytesIO(content))
    fields = {"image": "png", "labels": {"from": "seg.png", "kind": "label_map"}}
    config = {"datasets": [{"name": "shapes", "webdataset": {"path": str(folder.resolve()), "fields": fields}}]}
    (folder / "stokerd.yaml").write_text(json.dumps(config, indent=1))  # JSON is YAML.


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes drawings of shapes with label maps, as tar shards.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=512)
    arguments = parser.parse_args()
    write_shards(arguments.folder, arguments.samples)
    print(f"serve it: stokerd serve --config {arguments.folder}/stokerd.yaml")
