"""Writes data for the other examples, as tar shards, with the configuration by which a stokerd serves it.

    python make_data.py shapes FOLDER [--samples N]     for train_segmentation.py: drawings with label maps
    python make_data.py features FOLDER [--samples N]   for train_features.py: vectors of 256 float32 with labels
    python make_data.py objects FOLDER [--samples N]    for train_detection.py: drawings with boxes and classes
    python make_data.py captions FOLDER [--samples N]   for train_contrastive.py: drawings with captions
    python make_data.py sizes FOLDER [--samples N]      for train_native_size.py: drawings of many sizes with labels
    python make_data.py sounds FOLDER [--samples N]     for train_audio.py: chords of several instruments, WAV

It needs NumPy, and for drawings Pillow.
"""

from __future__ import annotations

import argparse
import io
import json
import tarfile
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy

SHARD_SAMPLES = 128
FEATURES, CLASSES = 256, 10
OVERTONES = [(1,), (1, 3), (1, 2, 4), (2, 3, 5), (1, 5, 6), (1, 2, 3, 4, 5)]  #: Of each kind of sound.

Members = dict[str, bytes]  #: What a sample consists of, by extension.


class Drawn(NamedTuple):
    """A disk, a square or a ring, and where it is."""

    kind: int  # 1, 2 or 3.
    center: tuple[float, float]  # y and x in pixels.
    size: float  # Half of its extent.

    def cover(self, height: int, width: int) -> tuple[numpy.ndarray, numpy.ndarray]:
        """For each pixel whether the shape covers it, and whether it lies on the border."""
        y, x = numpy.mgrid[:height, :width]
        dy, dx = abs(y - self.center[0]), abs(x - self.center[1])
        distance = numpy.maximum(dy, dx) if self.kind == 2 else numpy.hypot(dy, dx)
        inside = distance < self.size
        if self.kind == 3:
            inside &= distance > self.size / 2
        return inside, abs(distance - self.size) < 0.7


def some_shapes(draw: numpy.random.Generator, height: int, width: int) -> list[Drawn]:
    return [
        Drawn(int(draw.integers(1, 4)), (draw.uniform(0, height), draw.uniform(0, width)), draw.uniform(10, 28))
        for _ in range(draw.integers(2, 6))
    ]


def noise(draw: numpy.random.Generator, height: int, width: int) -> numpy.ndarray:
    return draw.normal(100, 25, (height, width, 3))


def shape(number: int) -> Members:
    """Shapes on noise, and for each pixel what is drawn there: 0 nothing, 1 disk, 2 square, 3 ring, and 255 where a shape
    ends, which is nobody's."""
    draw = numpy.random.default_rng(number)
    height, width = map(int, draw.integers(80, 140, 2))
    image, labels = noise(draw, height, width), numpy.zeros((height, width), numpy.uint8)
    for drawn in some_shapes(draw, height, width):
        inside, border = drawn.cover(height, width)
        image[inside] = draw.uniform(0, 255, 3) + draw.normal(0, 12, (inside.sum(), 3))
        labels[inside] = drawn.kind
        labels[border] = 255
    return {"png": png(image), "seg.png": png(labels)}


def objects(number: int) -> Members:
    """Shapes on noise, and the box and the class of each: left, top, right, bottom, and 0 disk, 1 square, 2 ring."""
    draw = numpy.random.default_rng(number)
    height, width = map(int, draw.integers(80, 140, 2))
    image, document = noise(draw, height, width), {"boxes": [], "classes": []}
    for drawn in some_shapes(draw, height, width):
        image[drawn.cover(height, width)[0]] = draw.uniform(0, 255, 3)
        (y, x), size = drawn.center, drawn.size
        box = [max(x - size, 0), max(y - size, 0), min(x + size, width), min(y + size, height)]
        document["boxes"].append([round(side, 2) for side in box])
        document["classes"].append(drawn.kind - 1)
    return {"png": png(image), "json": json.dumps(document).encode()}


COLORS = {"red": (220, 40, 40), "green": (40, 200, 60), "blue": (50, 70, 230), "white": (250, 250, 250)}


def caption(number: int) -> Members:
    """Two shapes on noise, and a sentence that tells of them."""
    draw = numpy.random.default_rng(number)
    image, told = noise(draw, 64, 64), []
    for center in ((32, 16), (32, 48)):
        color = str(draw.choice(list(COLORS)))
        drawn = Drawn(int(draw.integers(1, 4)), center, draw.uniform(8, 14))
        image[drawn.cover(64, 64)[0]] = COLORS[color]
        told.append(f"a {color} {('disk', 'square', 'ring')[drawn.kind - 1]}")
    return {"png": png(image), "txt": f"{told[0]} beside {told[1]}".encode()}


def sizes(number: int) -> Members:
    """A shape on noise, in an image of any size and shape, and which of COLORS it has."""
    draw = numpy.random.default_rng(number)
    height, width = map(int, draw.integers(40, 160, 2))
    image, label = noise(draw, height, width), int(draw.integers(len(COLORS)))
    drawn = Drawn(int(draw.integers(1, 4)), (height / 2, width / 2), min(height, width) * draw.uniform(0.25, 0.45))
    image[drawn.cover(height, width)[0]] = list(COLORS.values())[label]
    return {"png": png(image), "cls": str(label).encode()}


def png(pixels: numpy.ndarray) -> bytes:
    from PIL import Image  # Vectors need none.

    file = io.BytesIO()
    Image.fromarray(pixels.clip(0, 255).astype(numpy.uint8)).save(file, "png")
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


def sound(number: int) -> Members:
    """A tone with overtones: which ones there are is the label, as with instruments. Rate, length, pitch and loudness
    differ."""
    draw = numpy.random.default_rng(number)
    label, rate = number % len(OVERTONES), int(draw.choice([8000, 11025, 16000]))
    time = numpy.arange(int(rate * draw.uniform(0.4, 1.2))) / rate
    pitch = draw.uniform(150, 300)
    tones = [numpy.sin(2 * numpy.pi * pitch * tone * time + draw.uniform(0, 6)) for tone in OVERTONES[label]]
    samples = draw.uniform(0.2, 0.8) * numpy.mean(tones, 0) + draw.normal(0, 0.02, len(time))
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(rate)
        written.writeframes((samples.clip(-1, 1) * 32767).astype("<i2").tobytes())
    return {"wav": file.getvalue(), "cls": str(label).encode()}


class Kind(NamedTuple):
    sample: Callable[[int], Members]
    fields: dict[str, Any]  # As in a server's configuration.


KINDS = {
    "shapes": Kind(shape, {"image": "png", "labels": {"from": "seg.png", "kind": "label_map"}}),
    "objects": Kind(
        objects,
        {
            "image": "png",
            "boxes": {"json": "$.boxes", "kind": "boxes", "max_bytes": "1KiB", "typical_bytes": "64"},
            "classes": {"json": "$.classes", "kind": "ragged", "max_bytes": "512", "typical_bytes": "32"},
        },
    ),
    "captions": Kind(caption, {"image": "png", "caption": {"from": "txt", "kind": "text", "max_bytes": "256"}}),
    "sizes": Kind(sizes, {"image": "png", "label": "cls"}),
    "sounds": Kind(
        sound,
        {"audio": {"from": "wav", "kind": "audio", "max_bytes": "64KiB", "typical_bytes": "18KiB"}, "label": "cls"},
    ),
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
