#!/usr/bin/env python3
"""test_prepared.py webdataset|mds DUMP-SAMPLES STOKERD: shards that `stokerd prepare` writes of a class folder, read by
the format's own reader and by us: every sample has the image and the label of the folder that it prepares without
--format, in its order, also after the folder grew."""

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


main()
