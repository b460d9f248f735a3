#!/usr/bin/env python3
"""test_prepared.py webdataset|mds DUMP-SAMPLES STOKERD: shards that `stokerd prepare` writes of a class folder, read by
the format's own reader and by us: every sample has the image and the label of the folder that it prepares without
--format, in its order, also after the folder grew. Then shards of tar files with further fields."""

from __future__ import annotations

import functools
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np
from dumped import Dumped, documented, expect, expect_equal, image
from PIL import Image

NAMES = ("1.jpg", "1.png", "a.b.c.jpg", "50%.jpg", "below/" * 30 + "deep.jpg", "été.JPEG", "x" * 180 + ".jpg")
Samples = list[tuple[bytes, int]]


def fill(folder: Path, classes: list[str], generator: np.random.Generator) -> None:
    for name in classes:
        for file in NAMES:
            path = folder / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(image(generator, "PNG" if file.endswith("png") else "JPEG"))


def prepare(stokerd: str, *flags: object) -> None:
    run = subprocess.run([stokerd, "prepare", *map(str, flags)], capture_output=True, text=True, check=False)
    expect(run.returncode == 0, run.stderr)


def dumped(program: str, config: dict | str) -> tuple[Dumped, Samples]:
    got = Dumped(program, config)
    expect(not got.error, got.error)
    expect_equal(got.warnings, [], "warnings")
    expect_equal(got.schema, {"image": "image", "label": "int64 []"}, "schema")
    return got, [(sample["image"], int(sample["label"])) for sample in got.samples]


def read_tars(shards: Path) -> Samples:
    import webdataset

    paths = sorted(map(str, shards.glob("*.tar")))
    for path in paths:
        with tarfile.open(path, errorlevel=2) as archive:
            expect(all(member.isfile() for member in archive), path)
    expect(len(paths) > 2, paths)
    samples = list(webdataset.WebDataset(paths, shardshuffle=False))
    expect_equal(len({sample["__key__"] for sample in samples}), len(samples), "different keys")
    expect("a/a%2eb%2ec" in {sample["__key__"] for sample in samples}, "a key without dots")
    for sample, decoded in zip(
        samples, webdataset.WebDataset(paths, shardshuffle=False).decode("pil"), strict=True
    ):
        expect_equal(np.asarray(decoded["jpg"]), np.asarray(Image.open(io.BytesIO(sample["jpg"])).convert("RGB")), "pil")
        expect_equal(decoded["cls"], int(sample["cls"]), "cls")
    return [(sample["jpg"], int(sample["cls"])) for sample in samples]


@functools.cache
def mds_reader() -> type:
    from mds_package import import_mds

    return import_mds()[1]


def read_mds(shards: Path) -> Samples:
    index = json.loads((shards / "index.json").read_text(encoding="utf-8"))
    expect_equal(index["version"], 2, "version")
    expect(len(index["shards"]) > 2, "several shards")
    samples = []
    for shard in index["shards"]:
        reader = mds_reader().from_json(str(shards), None, dict(shard))
        reader.validate(allow_unsafe_types=False)
        for i in range(reader.size):
            stored = reader.decode_sample(reader.get_sample_data(i))
            raw = reader.get_sample_data(i)
            size = int.from_bytes(raw[:4], "little")
            expect_equal(np.asarray(stored["image"]), np.asarray(Image.open(io.BytesIO(raw[4 : 4 + size]))), "an image")
            samples.append((raw[4 : 4 + size], int(stored["label"])))
    return samples


Fields = list[dict[str, np.ndarray]]


def write_tar(path: Path, first: int, generator: np.random.Generator) -> Fields:
    """Writes a tar file of ten samples with a photo, a mask, a label and two arrays, and returns what they are."""
    samples = []
    with tarfile.open(path, "w") as archive:
        for number in range(first, first + 10):
            boxes = generator.standard_normal((3, 4)).astype(np.float32)
            count = np.array(generator.integers(-99, 99), np.int16)
            photo, mask = image(generator, "JPEG"), image(generator, "PNG")
            members = {"jpg": photo, "mask.png": mask, "cls": str(number * 7).encode()}
            for name, array in (("boxes.npy", boxes), ("count.npy", count)):
                buffer = io.BytesIO()
                np.save(buffer, array)
                members[name] = buffer.getvalue()
            for extension, content in members.items():
                entry = tarfile.TarInfo(f"sample {number:03}.{extension}")
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
            pixels = {name: np.asarray(Image.open(io.BytesIO(file))) for name, file in (("image", photo), ("mask", mask))}
            samples.append({**pixels, "label": np.array(number * 7), "boxes": boxes, "count": count})
    return samples


def fields_of_tars(shards: Path) -> Fields:
    import webdataset

    paths = sorted(map(str, shards.glob("*.tar")))
    samples = list(webdataset.WebDataset(paths, shardshuffle=False))
    expect_equal(len({sample["__key__"] for sample in samples}), len(samples), "different keys")
    read = {
        "image": lambda sample: np.asarray(Image.open(io.BytesIO(sample["jpg"]))),
        "mask": lambda sample: np.asarray(Image.open(io.BytesIO(sample["mask.jpg"]))),
        "label": lambda sample: np.array(int(sample["cls"])),
        "boxes": lambda sample: np.load(io.BytesIO(sample["boxes.npy"])),
        "count": lambda sample: np.load(io.BytesIO(sample["count.npy"])),
    }
    return [{name: take(sample) for name, take in read.items()} for sample in samples]


def fields_of_mds(shards: Path) -> Fields:
    samples = []
    for shard in json.loads((shards / "index.json").read_text(encoding="utf-8"))["shards"]:
        reader = mds_reader().from_json(str(shards), None, dict(shard))
        for i in range(reader.size):
            stored = reader.decode_sample(reader.get_sample_data(i))
            samples.append({name: np.asarray(value) for name, value in stored.items()})
    return samples


def check_fields(got: Fields, wanted: Fields, what: str) -> None:
    expect_equal(len(got), len(wanted), what)
    for sample, original in zip(got, wanted, strict=True):
        expect_equal(sorted(sample), sorted(original), what)
        for name, value in original.items():
            expect_equal(sample[name], value, f"{what}, {name}")
            if name in ("boxes", "count"):
                expect_equal((sample[name].dtype, sample[name].shape), (value.dtype, value.shape), f"{what}, {name}")


def prepare_tars(form: str, program: str, stokerd: str, root: Path, generator: np.random.Generator) -> None:
    """Prepares tar files with further fields, before and after there is one more."""
    tars, shards, config = root / "tars", root / "of tars", root / "config.yaml"
    tars.mkdir()
    wanted = write_tar(tars / "t-0.tar", 0, generator) + write_tar(tars / "t-1.tar", 10, generator)
    extensions = {"image": "jpg", "mask": "mask.png", "label": "cls", "boxes": "boxes.npy", "count": "count.npy"}
    dataset = {"name": "tars", "webdataset": {"path": str(tars), "fields": extensions}}
    config.write_text(json.dumps({"cache_dir": str(root / "cache"), "datasets": [dataset]}))
    flags = ["--config", config, "--dataset", "tars", "--out", shards, "--format", form, "--shard-size", "8KB"]
    read = {"webdataset": fields_of_tars, "mds": fields_of_mds}[form]
    prepare(stokerd, *flags)
    check_fields(read(shards), wanted, "tar files by the format's own reader")
    before = {path: path.read_bytes() for path in shards.glob("shard*")}
    expect(len(before) > 3, before.keys())
    wanted += write_tar(tars / "t-2.tar", 20, generator)
    prepare(stokerd, *flags)
    check_fields(read(shards), wanted, "one tar file more, by the format's own reader")
    expect(all(path.read_bytes() == content for path, content in before.items()), "shards stay")
    got = Dumped(program, {"data": str(shards)})
    expect(not got.error, got.error)
    expect_equal(got.warnings, [], "warnings")
    for sample, original in zip(got.samples, wanted, strict=True):
        for name in ("label", "boxes", "count"):
            expect_equal(sample[name], original[name], f"{name} by ours")
        for name in ("image", "mask"):
            expect_equal(np.asarray(Image.open(io.BytesIO(sample[name]))), original[name], f"{name} by ours")


def main() -> None:
    form, program, stokerd = sys.argv[1:]
    read = {"webdataset": read_tars, "mds": read_mds}[form]
    generator = np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as root:
        source, folder, shards = Path(root, "in"), Path(root, "folder"), Path(root, "shards")
        fill(source, ["a", "b.c", "d"], generator)
        flags = ["--format", form, "--shard-size", "6KB", "--data", source, "--out", shards]
        for mode in ([], ["--short-side", 12]):
            prepare(stokerd, "--data", source, "--out", folder, "--overwrite", *mode)
            prepare(stokerd, *flags, "--overwrite", *mode)
            _, wanted = dumped(program, {"data": str(folder)})
            expect_equal(len(wanted), 21, "samples")
            expect_equal(read(shards), wanted, "by its own reader")
            found, got = dumped(program, {"data": str(shards)})
            expect_equal(got, wanted, "by ours")
            same, got = dumped(program, documented(form, shards))
            expect_equal(got, wanted, "as documented")
            expect_equal(len(same.fingerprint), len(found.fingerprint), "fingerprints")
        expect_equal((shards / "classes.txt").read_text(encoding="utf-8"), "a\nb.c\nd\n", "classes")

        before = {path: path.read_bytes() for path in shards.glob("shard*")}
        fill(source, ["e"], generator)
        prepare(stokerd, *flags, *mode)
        prepare(stokerd, "--data", source, "--out", folder, "--overwrite", *mode)
        _, grown = dumped(program, {"data": str(folder)})
        expect_equal(read(shards), grown, "a class more, by its own reader")
        expect_equal(dumped(program, {"data": str(shards)})[1], grown, "a class more, by ours")
        expect(all(path.read_bytes() == bytes_before for path, bytes_before in before.items()), "shards stay")
        prepare_tars(form, program, stokerd, Path(root), generator)


main()
