#!/usr/bin/env python3
"""test_mds.py DUMP-SAMPLES: shards that mosaicml-streaming's MDSWriter writes, read by us and by its own reader: every
field of every sample is equal."""

import io
import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import zstd
from dumped import Dumped, documented, expect, expect_equal, expect_rows, image
from mds_package import import_mds
from PIL import Image


INTEGERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "int64")
COLUMNS = {
    "image": "jpeg",
    "picture": "png",
    "webp": "bytes",
    "blob": "bytes",
    "caption": "str",
    "extra": "json",
    "label": "int",
    "pixels": "pil",
    "digits": "str_int",
    "decimal": "str_float",
    "free": "ndarray",
    "typed": "ndarray:uint16",
    "fixed": "ndarray:float32:3,2",
    **{name: name for name in (*INTEGERS, "uint64", "float16", "float32", "float64")},
}
LEFT_OUT = {"blob", "caption", "extra"}


def sample_of(generator: np.random.Generator, i: int) -> dict:
    numbers = {n: int(generator.integers(np.iinfo(n).min, np.iinfo(n).max, dtype=n, endpoint=True)) for n in INTEGERS}
    return {
        "image": Image.open(io.BytesIO(image(generator, "JPEG"))),
        "picture": Image.open(io.BytesIO(image(generator, "PNG"))),
        "webp": image(generator, "WebP"),
        "blob": b"\x00" * i,
        "caption": "a cat" * i,
        "extra": {"i": i},
        "label": i - 3,
        "pixels": Image.fromarray(generator.integers(0, 256, (5, 7, 3), dtype=np.uint8)),
        "digits": -(10**i % 10**18),
        "decimal": i / 7,
        "free": generator.random((4, 300)),
        "typed": generator.integers(0, 65536, (2, 3, 4), dtype=np.uint16),
        "fixed": generator.random((3, 2)).astype(np.float32),
        "uint64": int(generator.integers(0, 1 << 63)),
        **{name: getattr(np, name)(generator.standard_normal()) for name in ("float16", "float32", "float64")},
        **numbers,
    }


def compare(got: dict, read: dict, encoded: dict) -> None:
    """Compares our fields with what the reference reader decodes, and images with the bytes that are stored."""
    for name, value in got.items():
        if COLUMNS[name] in ("jpeg", "png", "bytes"):
            expect_equal(value, encoded[name], name)
        else:
            expect_equal(value, np.asarray(read[name]), name)


def values_of(reader: object, i: int) -> dict:
    """The bytes of each column of a sample, taken apart by the reference reader's own numbers."""
    data = reader.get_sample_data(i)
    kept = {}
    sizes = [size or None for size in reader.column_sizes]
    at = 4 * sizes.count(None)
    variable = iter(np.frombuffer(data[:at], np.uint32))
    for name, size in zip(reader.column_names, sizes):
        size = int(next(variable)) if size is None else size
        kept[name] = data[at : at + size]
        at += size
    return kept


def write(writer: type, folder: Path, samples: list[dict], **options: object) -> None:
    with writer(out=str(folder), columns=COLUMNS, **options) as out:
        for sample in samples:
            out.write(sample)


def readers_of(reader: type, folder: Path) -> list:
    index = json.loads((folder / "index.json").read_text())
    return [reader.from_json(str(folder), None, shard) for shard in index["shards"]]


def rows_of_all_kinds(program: str, writer: type, generator: np.random.Generator, folder: Path) -> None:
    """Arrays whose first dimension differs, texts, JSON and bytes."""
    columns = {"boxes": "ndarray:float32", "ids": "ndarray", "caption": "str", "extra": "json", "blob": "bytes"}
    written = []
    with writer(out=str(folder), columns=columns, size_limit=1 << 10) as out:
        for i in range(11):
            sample = {
                "boxes": generator.random((i % 3 + 1, 4)).astype(np.float32),
                "ids": generator.integers(0, 60000, i % 4 + 1, dtype=np.uint16),
                "caption": "猫 " * i,
                "extra": {"i": i},
                "blob": generator.bytes(i),
            }
            out.write(sample)
            written.append({**sample, "caption": sample["caption"].encode(), "extra": json.dumps({"i": i}).encode()})
    size = {"max_bytes": "1KiB"}
    kinds = {"boxes": "boxes", "ids": "ragged", "caption": "text", "extra": "text", "blob": "bytes"}
    fields = {name: {"kind": kind, **size} for name, kind in kinds.items()}
    schema = {"blob": "bytes", "boxes": "rows float32 [4]", "caption": "text", "extra": "text", "ids": "rows int32 []"}
    expect_rows(program, {"mds": {"path": str(folder), "fields": fields}}, schema, written)


def main() -> None:
    program, generator = sys.argv[1], np.random.default_rng(2)
    writer, reader = import_mds()
    with tempfile.TemporaryDirectory() as root:
        rows_of_all_kinds(program, writer, generator, Path(root) / "rows")
        a, b = Path(root) / "streams" / "a", Path(root) / "streams" / "b"
        samples = [sample_of(generator, i) for i in range(17)]
        write(writer, a, samples[:12], size_limit=1 << 16, hashes=["sha1", "xxh64"])
        write(writer, b, samples[12:])
        readers = readers_of(reader, a) + readers_of(reader, b)
        expect(len(readers) > 3, "there are several shards")

        both = Dumped(program, {"mds": {"path": [str(a), str(b)]}})
        expect(not both.error, both.error)
        expect_equal(set(both.schema), set(COLUMNS) - LEFT_OUT, "the fields")
        expect_equal(both.schema["pixels"], "uint8 [5, 7, 3]", "pixels")
        expect_equal(both.schema["free"], "float64 [4, 300]", "an array of any shape")
        expect_equal(len(both.warnings), len(LEFT_OUT), both.warnings)
        wanted = [(r, i) for r in readers for i in range(r.samples)]
        for got, (r, i) in zip(both.samples, wanted, strict=True):
            compare(got, r.get_item(i), values_of(r, i))

        for config in ({"data": str(a)}, {"mds": {"path": str(a)}}, {"data": f"{a}/index.json"}, documented("mds", a)):
            one = Dumped(program, config)
            expect(not one.error, one.error)
            expect_equal(len(one.samples), 12, config)
        fields = {"image": "webp", "label": "digits"}
        mapped = Dumped(program, {"mds": {"path": str(a), "fields": fields}})
        expect(not mapped.error, mapped.error)
        expect_equal(mapped.schema, {"image": "image", "label": "int64 []"}, "a mapping")
        for got, (r, i) in zip(mapped.samples, wanted):
            expect_equal(got["image"], r.get_item(i)["webp"], "image")
            expect_equal(got["label"], np.asarray(r.get_item(i)["digits"]), "label")

        zipped = Path(root) / "zipped"
        write(writer, zipped, samples[:3], compression="zstd:3")
        refused = Dumped(program, {"data": str(zipped)})
        expect("is compressed as a whole" in refused.error, refused.error)
        staged = Dumped(program, {"data": str(zipped)}, Path(root) / "staged")
        expect(not staged.error, staged.error)
        plain = Path(root) / "plain"
        shutil.copytree(zipped, plain)
        for shard in plain.glob("*.zstd"):
            shard.with_suffix("").write_bytes(zstd.decompress(shard.read_bytes()))
        same = Dumped(program, {"data": str(plain)})
        expect_equal(staged.fingerprint, same.fingerprint, "the fingerprint of the shards decompressed")
        expect_equal(len(staged.samples), 3, "samples")
        for got, wanted in zip(staged.samples, same.samples, strict=True):
            for name in wanted:
                expect_equal(got[name], wanted[name], name)

        index = json.loads((b / "index.json").read_text())
        index["shards"][0]["samples"] += 1
        (b / "index.json").write_text(json.dumps(index))
        lies = Dumped(program, {"data": str(b)})
        expect("shard.00000.mds: has 5 samples, where index.json tells of 6" in lies.error, lies.error)
    print("every field of every sample is equal")


if __name__ == "__main__":
    main()
