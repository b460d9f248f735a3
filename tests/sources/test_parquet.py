#!/usr/bin/env python3
"""test_parquet.py DUMP-SAMPLES: Parquet files that pyarrow and Hugging Face's datasets write, read by us: every field of
every sample is equal, on disk, over HTTP and in a bucket, and damaged files are errors or the right bytes."""

import os
import random
import re
import sys
import tempfile
from pathlib import Path

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from dumped import Dumped, documented, expect, expect_equal, expect_rows, image
from servers import bucket, http_server

PROGRAM = sys.argv[1]
NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
WIDER = {"int8": "int16", "uint16": "int32", "uint32": "int64", "uint64": "int64"}


def table_of(generator: np.random.Generator, rows: int) -> pa.Table:
    """Columns of all types that become fields, and of some that do not."""
    numbers = {}
    for name in NUMBERS:
        if name.startswith("float"):
            values = generator.standard_normal(rows).astype(name)
        else:
            limits = np.iinfo("int64" if name == "uint64" else name)
            values = generator.integers(0 if name == "uint64" else limits.min, limits.max, rows, name, endpoint=True)
        numbers[name] = pa.array(values)
    vectors = generator.standard_normal((rows, 5)).astype(np.float32)
    grids = generator.integers(-9, 9, (rows, 2, 3))
    return pa.table({
        "image": pa.array(
            [{"bytes": image(generator, "JPEG"), "path": f"{i}.jpg"} for i in range(rows)],
            pa.struct({"bytes": pa.binary(), "path": pa.string()}),
        ),
        "again": pa.array([image(generator, "PNG")] * rows, pa.binary()),
        "label": pa.array(range(rows), pa.int64()),
        "caption": pa.array([f"photo {i}" for i in range(rows)]),
        "blob": pa.array([b"\0" * i for i in range(rows)], pa.binary()),
        "day": pa.array(range(rows), pa.date32()),
        "tags": pa.array([["a", "b"]] * rows),
        "ragged": pa.array([list(range(i % 3 + 1)) for i in range(rows)], pa.list_(pa.int32())),
        "flag": pa.array(generator.integers(0, 2, rows).astype(bool)),
        "key": pa.array([generator.bytes(7) for _ in range(rows)], pa.binary(7)),
        "vector": pa.array(vectors.tolist(), pa.list_(pa.float32())),
        "fixed": pa.array(vectors.tolist(), pa.list_(pa.float32(), 5)),
        "grid": pa.array(grids.tolist(), pa.list_(pa.list_(pa.int16()))),
        "box": pa.array([{"x": i, "size": {"w": i / 2}} for i in range(rows)]),
        **numbers,
    })


LEFT_OUT = {"caption", "blob", "day", "tags", "ragged"}


def wanted_of(row: dict) -> dict:
    """What our fields should be, of a row as pyarrow reads it."""
    wanted = {}
    for name, value in row.items():
        if name == "image":
            wanted[name] = value["bytes"]
        elif name == "box":
            wanted |= {"box_x": np.int64(value["x"]), "box_size_w": np.float64(value["size"]["w"])}
        elif name == "key":
            wanted[name] = np.frombuffer(value, np.uint8)
        elif name not in LEFT_OUT:
            wanted[name] = value if isinstance(value, bytes) else np.array(value)
    return wanted


def compare(dumped: Dumped, rows: list[dict]) -> None:
    expect(not dumped.error, dumped.error)
    expect_equal(len(dumped.samples), len(rows), "samples")
    for got, row in zip(dumped.samples, rows, strict=True):
        wanted = wanted_of(row)
        expect_equal(set(got), set(wanted), "fields")
        for name, value in got.items():
            expect_equal(value, wanted[name], name)


def writings(generator: np.random.Generator, root: Path) -> None:
    """Files of pyarrow's many ways to write, alone and together."""
    table = table_of(generator, 23)
    rows = table.to_pylist()
    ways = {
        "snappy": {"compression": "snappy", "row_group_size": 5},
        "zstd": {"compression": "zstd", "row_group_size": 23, "data_page_size": 100},
        "gzip": {"compression": "gzip", "row_group_size": 7, "use_dictionary": False},
        "none": {"compression": "none", "row_group_size": 2, "data_page_version": "2.0"},
        "brotli": {"compression": "brotli", "row_group_size": 10, "write_page_checksum": True},
        "lz4": {"compression": "lz4", "write_page_index": True, "store_schema": False},
    }
    prints = set()
    for name, options in ways.items():
        path = root / name / "t.parquet"
        path.parent.mkdir()
        pq.write_table(table, path, **options)
        dumped = Dumped(PROGRAM, {"data": str(path.parent)})
        compare(dumped, rows)
        prints.add(dumped.fingerprint)
        left_out = {re.search("'(.*)'", warning)[1] for warning in dumped.warnings}
        expect_equal(left_out, LEFT_OUT, dumped.warnings)
        expect_equal(dumped.schema["grid"], "int16 [2, 3]", "grid")
        expect_equal(dumped.schema["flag"], "uint8 []", "flag")
        for number in NUMBERS:
            expect_equal(dumped.schema[number], f"{WIDER.get(number, number)} []", number)
        expect_equal(dumped.names[5], "t.parquet:5", "a name")
        one = Dumped(PROGRAM, {"parquet": {"path": str(path), "fields": {"image": "image.bytes", "y": "label"}}})
        same = Dumped(PROGRAM, {"parquet": {"path": [str(path)], "fields": {"image": {}, "y": "label"}}})
        expect_equal(one.schema, {"image": "image", "y": "int64 []"}, "a mapping")
        expect_equal(same.fingerprint, one.fingerprint, "two names of one column")
        expect_equal([int(sample["y"]) for sample in one.samples], list(range(23)), "labels")
        expect(not one.warnings, one.warnings)
    expect_equal(len(prints), len(ways), "fingerprints")

    several = root / "several"
    several.mkdir()
    pq.write_table(table.slice(0, 9), several / "train-00000-of-00003.parquet", row_group_size=4)
    pq.write_table(table.slice(9, 0), several / "train-00001-of-00003.parquet")
    pq.write_table(table.slice(9), several / "train-00002-of-00003.parquet", row_group_size=100)
    compare(Dumped(PROGRAM, {"data": str(several)}), rows)
    documented_fields = Dumped(PROGRAM, documented("parquet", several))
    expect(not documented_fields.error, documented_fields.error)
    small = Dumped(PROGRAM, {"parquet": {"path": str(several), "cache": "1KiB"}})
    compare(small, rows)
    expect("block_samples: 14" in small.warnings[-1], small.warnings)


def errors(generator: np.random.Generator, root: Path) -> None:
    def error_of(table: pa.Table, fields: dict | None = None) -> str:
        path = root / "wrong.parquet"
        pq.write_table(table, path)
        return Dumped(PROGRAM, {"parquet": {"path": str(path), "fields": fields or {}}}).error

    table = table_of(generator, 4)
    null = pa.table({"label": pa.array([1, 2, None, 4], pa.int64())})
    expect("wrong.parquet:2: the column label: is null" in error_of(null), error_of(null))
    shapes = pa.table({"vector": pa.array([[1, 2], [3, 4], [5], [6, 7]], pa.list_(pa.int32()))})
    expect("wrong.parquet:2: the column vector: is of another shape than int32 [2]" in error_of(shapes, {"vector": "vector"}), 0)
    expect("'vector' is left out: it has lists of several lengths" in error_of(shapes), error_of(shapes))
    hole = pa.table({"vector": pa.array([[1, 2], [3, None]], pa.list_(pa.int32()))})
    expect("wrong.parquet:1: the column vector: is null" in error_of(hole), error_of(hole))
    large = pa.table({"n": pa.array([1, 1 << 63], pa.uint64())})
    expect("above what int64 holds" in error_of(large), error_of(large))
    said = error_of(table, {"label": "labels"})
    expect("no column 'labels'" in said and "image" in said, said)
    said = error_of(table, {"label": "caption"})
    expect("the column 'caption' is text" in said, said)
    said = error_of(table.slice(0, 0))
    expect("there is no row" in said, said)

    (root / "text.parquet").write_text("a,b\n1,2\n3,4\n5,6\n")
    said = Dumped(PROGRAM, {"data": str(root / "text.parquet")}).error
    expect("text.parquet: is no Parquet file" in said, said)
    two = root / "two"
    two.mkdir()
    pq.write_table(table, two / "a.parquet")
    pq.write_table(table.drop_columns("label"), two / "b.parquet")
    said = Dumped(PROGRAM, {"data": str(two)}).error
    expect("b.parquet: has no column label" in said, said)


def hugging_face(generator: np.random.Generator, root: Path) -> None:
    """What `datasets` writes, as it lies on the hub."""
    features = datasets.Features({
        "image": datasets.Image(),
        "label": datasets.ClassLabel(names=["cat", "dog"]),
        "embedding": datasets.Sequence(datasets.Value("float32"), length=4),
        "mask": datasets.Array2D((3, 2), "uint8"),
        "caption": datasets.Value("string"),
    })
    rows = {
        "image": [{"bytes": image(generator, "PNG"), "path": None} for _ in range(250)],
        "label": generator.integers(0, 2, 250).tolist(),
        "embedding": generator.standard_normal((250, 4)).astype(np.float32),
        "mask": generator.integers(0, 2, (250, 3, 2), np.uint8),
        "caption": ["a pet"] * 250,
    }
    made = datasets.Dataset.from_dict(rows, features=features)
    (root / "data").mkdir(parents=True)
    for i in range(2):
        path = root / "data" / f"train-{i:05}-of-00002.parquet"
        made.shard(2, i, contiguous=True).to_parquet(path, batch_size=100)
    dumped = Dumped(PROGRAM, {"data": str(root)})
    expect(not dumped.error, dumped.error)
    expect_equal(set(dumped.schema), {"image", "label", "embedding", "mask"}, dumped.schema)
    for i, sample in enumerate(dumped.samples):
        expect_equal(sample["image"], rows["image"][i]["bytes"], "image")
        for name in ("label", "embedding", "mask"):
            expect_equal(sample[name], np.array(rows[name][i]), name)
    expect_equal(len(dumped.samples), 250, "samples")


def stores(root: Path) -> None:
    """One dataset wherever it lies."""
    local = Dumped(PROGRAM, {"data": str(root / "data")})
    name = "data/train-{00000..00001}-of-00002.parquet"
    with http_server(root) as http, bucket(root) as environment:
        os.environ.update(environment)
        for url in (f"{http.url}/{name}", "s3://bucket/data/", "s3://bucket/data/train-*.parquet"):
            remote = Dumped(PROGRAM, {"parquet": {"path": url}})
            expect(not remote.error, remote.error)
            expect_equal(remote.fingerprint, local.fingerprint, url)
            expect(remote.names == local.names and len(remote.samples) == len(local.samples), url)
            for got, wanted in zip(remote.samples, local.samples):
                for field, value in got.items():
                    expect_equal(value, wanted[field], field)


def damage(generator: np.random.Generator, root: Path) -> None:
    """Flipped bytes anywhere: an error that names the file, or samples, and never a crash of ours. Where pages have
    checksums and the footer is whole, the samples are the right ones."""
    path = root / "damaged.parquet"
    pq.write_table(table_of(generator, 6), path, row_group_size=3, write_page_checksum=True)
    whole, draw = path.read_bytes(), random.Random(1)
    right = Dumped(PROGRAM, {"data": str(path)})
    outcomes = {"read": 0, "refused": 0}
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for i in range(300):
        bytes_ = bytearray(whole)
        begin, end = (4, footer) if i % 2 else (footer, len(whole))
        for _ in range(draw.randrange(1, 4)):
            bytes_[draw.randrange(begin, end)] = draw.randrange(256)
        cut = i % 10 == 0
        path.write_bytes(bytes_[: draw.randrange(len(whole))] if cut else bytes_)
        dumped = Dumped(PROGRAM, {"data": str(path)})
        expect(not dumped.error or "dataset test: " in dumped.error or "damaged.parquet" in dumped.error, dumped.error)
        if i % 2 and not dumped.error:
            for got, wanted in zip(dumped.samples, right.samples, strict=True):
                for name, value in got.items():
                    expect_equal(value, wanted[name], f"{name} of damaged file {i}")
        outcomes["refused" if dumped.error else "read"] += 1
    print(f"of 300 damaged files {outcomes['refused']} were refused, and {outcomes['read']} read")


def rows_of_all_kinds(generator: np.random.Generator, root: Path) -> None:
    """Texts, bytes and lists whose lengths differ, some of them empty, in both of Parquet's ways to store pages."""
    count = 41
    boxes = [generator.random((i % 4, 4)).astype(np.float32) for i in range(count)]
    tokens = [generator.integers(0, 9, i % 7) for i in range(count)]
    captions = ["猫 " * (i % 5) for i in range(count)]
    blobs = [generator.bytes(i % 3) for i in range(count)]
    table = pa.table({
        "caption": pa.array(captions),
        "blob": pa.array(blobs, pa.binary()),
        "key": pa.array([b"abc"] * count, pa.binary(3)),
        "tokens": pa.array([list(map(int, t)) for t in tokens], pa.list_(pa.uint16())),
        "boxes": pa.array([b.tolist() for b in boxes], pa.list_(pa.list_(pa.float32()))),
        "fixed": pa.array([b.tolist() for b in boxes], pa.list_(pa.list_(pa.float32(), 4))),
        "flat": pa.array([b.ravel().tolist() for b in boxes], pa.large_list(pa.float64())),
        "required": pa.array([b.ravel().tolist() for b in boxes], pa.list_(pa.field("item", pa.float32(), nullable=False))),
    }).cast(pa.schema([
        ("caption", pa.string()), ("blob", pa.binary()), ("key", pa.binary(3)), ("tokens", pa.list_(pa.uint16())),
        ("boxes", pa.list_(pa.list_(pa.float32()))), ("fixed", pa.list_(pa.list_(pa.float32(), 4))),
        ("flat", pa.large_list(pa.float64())),
        pa.field("required", pa.list_(pa.field("item", pa.float32(), nullable=False)), nullable=False),
    ]))
    size = {"max_bytes": "1KiB"}
    kinds = {"caption": "text", "blob": "bytes", "key": "bytes", "tokens": "ragged", "boxes": "boxes", "fixed": "boxes",
             "flat": "boxes", "required": "boxes"}
    fields = {name: {"kind": kind, **size} for name, kind in kinds.items()}
    schema = {
        "blob": "bytes", "boxes": "rows float32 [4]", "caption": "text", "fixed": "rows float32 [4]",
        "flat": "rows float64 [4]", "key": "bytes", "required": "rows float32 [4]", "tokens": "rows int32 []",
    }
    wanted = [{"caption": captions[i].encode(), "blob": blobs[i], "key": b"abc", "tokens": tokens[i], "boxes": boxes[i],
               "fixed": boxes[i], "flat": boxes[i].astype(np.float64), "required": boxes[i]} for i in range(count)]
    for version in ("1.0", "2.0"):
        path = root / f"rows-{version}.parquet"
        pq.write_table(table, path, row_group_size=17, data_page_version=version)
        expect_rows(PROGRAM, {"parquet": {"path": str(path), "fields": fields}}, schema, wanted)


def bad_rows(root: Path) -> None:
    """Rows that are null, have a null or are of another shape are bad samples, and others are none."""
    path = root / "bad-rows.parquet"
    values = [[[1.0, 2.0]], None, [], [None], [[3.0]], [[4.0, None]], [[5.0, 6.0], [7.0, 8.0]], [[]]]
    pq.write_table(pa.table({"points": pa.array(values, pa.list_(pa.list_(pa.float32())))}), path)
    fields = {"points": {"kind": "keypoints", "max_bytes": "64B"}}
    for row, what in {1: "null", 3: "null", 4: "of another shape", 5: "null", 7: "null"}.items():
        one = root / "bad-row.parquet"
        pq.write_table(pa.table({"points": pa.array([values[0], values[2], values[row]], pa.list_(pa.list_(pa.float32())))}), one)
        error = Dumped(PROGRAM, {"parquet": {"path": str(one), "fields": fields}}).error
        expect(f"bad-row.parquet:2: the column points: is {what}" in error, error)
    refused = Dumped(PROGRAM, {"parquet": {"path": str(path), "fields": {"points": {"kind": "text", "max_bytes": "1B"}}}})
    expect("fields.points.kind: text is of texts or bytes" in refused.error, refused.error)


def main() -> None:
    generator = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        writings(generator, root)
        rows_of_all_kinds(generator, root)
        bad_rows(root)
        errors(generator, root)
        hugging_face(generator, root / "hub")
        stores(root / "hub")
        damage(generator, root)
    print("every field of every sample is equal")


if __name__ == "__main__":
    main()
