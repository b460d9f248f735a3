#!/usr/bin/env python3
"""test_hdf5.py DUMP-SAMPLES: HDF5 files that h5py writes, read by us: every field of every sample is equal, on disk, over
HTTP and in a bucket, and damaged files are errors or bytes, and never a crash of ours."""

import os
import random
import re
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np
from dumped import Dumped, documented, expect, expect_equal, image
from servers import bucket, http_server

PROGRAM = sys.argv[1]
NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
WIDER = {"int8": "int16", "uint16": "int32", "uint32": "int64", "uint64": "int64"}
ENCODED = h5py.vlen_dtype(np.uint8)


def numbers_of(generator: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    if name.startswith("float"):
        return generator.standard_normal(shape).astype(name)
    limits = np.iinfo("int64" if name == "uint64" else name)
    return generator.integers(0 if name == "uint64" else limits.min, limits.max, shape, name, endpoint=True)


def add_lists(group: h5py.Group, name: str, lists: list[bytes], **options: object) -> None:
    options.pop("fletcher32", None)  # which the library refuses for lists
    dataset = group.create_dataset(name, len(lists), ENCODED, **options)
    for i, value in enumerate(lists):
        dataset[i] = np.frombuffer(value, np.uint8)


def write(generator: np.random.Generator, path: Path, rows: int, options: dict, **file_options: object) -> None:
    """A file with datasets of all kinds that become fields, and of some that do not."""
    chunks = {"chunks": None if not options else options.pop("rows", None)}

    def layout(shape: tuple[int, ...]) -> dict:
        chunk = chunks["chunks"]
        return {**options, **({"chunks": (min(chunk, rows), *shape)} if chunk else {})}

    with h5py.File(path, "w", **file_options) as file:
        add_lists(file, "images", [image(generator, "JPEG") for _ in range(rows)], **layout(()))
        file.create_dataset("labels", data=np.arange(rows), **layout(()))
        for name in NUMBERS:
            file.create_dataset(f"numbers/{name}", data=numbers_of(generator, name, (rows,)), **layout(()))
            file.create_dataset(f"arrays/{name}", data=numbers_of(generator, name, (rows, 3, 2)), **layout((3, 2)))
        file.create_dataset("big_endian", data=numbers_of(generator, "int32", (rows, 4)).astype(">i4"), **layout((4,)))
        file.create_dataset("big_half", data=numbers_of(generator, "float16", (rows,)).astype(">f2"), **layout(()))
        file.create_dataset("pixels", data=numbers_of(generator, "uint8", (rows, 8, 9, 3)), **layout((4, 5, 3)))
        file.create_dataset("flags", data=generator.integers(0, 2, rows).astype(bool), **layout(()))
        texts = [image(generator, "PNG") for _ in range(rows)]
        longest = max((len(text) for text in texts), default=1)
        file.create_dataset("texts", data=np.array(texts, f"S{longest}"), **layout(()))
        file.create_dataset("keys", data=np.array([generator.bytes(7) for _ in range(rows)], "V7"), **layout(()))
        colors = h5py.enum_dtype({"RED": 0, "GREEN": 1, "BLUE": 300}, basetype="i2")
        file.create_dataset("colors", data=np.array([300, 0, 1] * rows, "i2")[:rows], dtype=colors, **layout(()))
        # These are left out.
        file.create_dataset("captions", data=[f"photo {i}" for i in range(rows)], dtype=h5py.string_dtype())
        file.create_dataset("complex", data=np.ones(rows, np.complex64))
        file.create_dataset("ragged", data=[np.arange(i % 3) for i in range(rows)], dtype=h5py.vlen_dtype(np.int32))
        file.create_dataset("mean", data=0.5)
        add_lists(file, "blobs", [b"blob" * (i + 1) for i in range(rows)])
        file["alias"] = h5py.SoftLink("/labels")
        file["elsewhere"] = h5py.ExternalLink("/etc/passwd", "/labels")


LEFT_OUT = {"captions", "complex", "ragged", "mean", "blobs", "alias", "elsewhere"}


def rows_of(path: Path) -> list[dict]:
    """What our fields should be, of a file as h5py reads it."""
    rows: list[dict] = []
    with h5py.File(path) as file:

        def take(name: str, item: h5py.Dataset) -> None:
            if not isinstance(item, h5py.Dataset) or name in LEFT_OUT:
                return
            field = {"images": "image", "labels": "label"}.get(name, name.replace("/", "_"))
            while len(rows) < len(item):
                rows.append({})
            for row in range(len(item)):
                value = item[row]
                if name == "images":
                    value = value.tobytes()
                elif name == "texts":
                    value = bytes(value)
                elif name == "keys":
                    value = np.frombuffer(value.tobytes(), np.uint8)
                rows[row][field] = value

        file.visititems(take)
    return rows


def compare(dumped: Dumped, rows: list[dict]) -> None:
    expect(not dumped.error, dumped.error)
    expect_equal(len(dumped.samples), len(rows), "samples")
    for got, wanted in zip(dumped.samples, rows, strict=True):
        expect_equal(set(got), set(wanted), "fields")
        for name, value in got.items():
            expect_equal(value, wanted[name], name)


WAYS = {
    "contiguous": ({}, {}),
    "chunked": ({"rows": 4}, {}),
    "deflated": ({"rows": 5, "compression": "gzip"}, {}),
    "shuffled": ({"rows": 100, "compression": "gzip", "shuffle": True, "fletcher32": True}, {}),
    "scale": ({"rows": 1, "compression": "gzip", "compression_opts": 9}, {}),
    "v110": ({"rows": 3, "compression": "gzip"}, {"libver": ("v110", "v110")}),
    "user block": ({"rows": 3}, {"userblock_size": 512}),
    "paged": ({"rows": 7, "compression": "gzip"}, {"fs_strategy": "page", "fs_page_size": 4096}),
}


def writings(generator: np.random.Generator, root: Path) -> None:
    """Files of h5py's many ways to write, alone and together."""
    for name, (options, file_options) in WAYS.items():
        path = root / name / "t.h5"
        path.parent.mkdir()
        write(generator, path, 23, dict(options), **file_options)
        rows = rows_of(path)
        dumped = Dumped(PROGRAM, {"data": str(path.parent)})
        compare(dumped, rows)
        left_out = {re.search("'(.*?)'", warning)[1] for warning in dumped.warnings}
        expect_equal(left_out, LEFT_OUT, dumped.warnings)
        for number in NUMBERS:
            expect_equal(dumped.schema[f"arrays_{number}"], f"{WIDER.get(number, number)} [3, 2]", number)
        expect_equal(dumped.schema["flags"], "uint8 []", "flags")
        expect_equal(dumped.schema["colors"], "int16 []", "colors")
        expect_equal(dumped.schema["texts"], "image", "texts")
        expect_equal(dumped.names[5], "t.h5:5", "a name")
        small = Dumped(PROGRAM, {"hdf5": {"path": str(path), "cache": "1KiB"}})
        compare(small, rows)
        expect_equal(small.fingerprint, dumped.fingerprint, "the fingerprint does not depend on the cache")
    compare(Dumped(PROGRAM, documented("hdf5", root / "deflated")),
            [{name: row[name] for name in ("image", "label")} for row in rows_of(root / "deflated" / "t.h5")])

    (root / "deflated" / "t.h5").rename(root / "nameless")
    compare(Dumped(PROGRAM, {"data": str(root / "nameless")}), rows_of(root / "nameless"))

    several = root / "several"
    several.mkdir()
    rows = []
    for i, (count, way) in enumerate(((9, "chunked"), (0, "contiguous"), (14, "deflated"))):
        path = several / f"part-{i}.hdf5"
        write(generator, path, count, dict(WAYS[way][0]))
        rows += rows_of(path)
    compare(Dumped(PROGRAM, {"data": str(several)}), rows)


def groups(generator: np.random.Generator, root: Path) -> None:
    path = root / "groups.h5"
    with h5py.File(path, "w") as file:
        for group, rows in (("train", 6), ("test", 4)):
            add_lists(file, f"{group}/images", [image(generator, "PNG") for _ in range(rows)])
            file[f"{group}/labels"] = np.arange(rows) + rows
        wanted = [{"image": file["train/images"][i].tobytes(), "label": file["train/labels"][i]} for i in range(6)]
    said = Dumped(PROGRAM, {"data": str(path)}).error
    expect("'test/images' and 'train/images' have 4 and 6 rows" in said, said)
    fields = {"image": "/train/images", "label": "train/labels"}
    compare(Dumped(PROGRAM, {"hdf5": {"path": str(path), "fields": fields}}), wanted)


def errors(generator: np.random.Generator, root: Path) -> None:
    def error_of(fill: object, fields: dict | None = None) -> str:
        path = root / "wrong.h5"
        with h5py.File(path, "w") as file:
            fill(file)
        return Dumped(PROGRAM, {"hdf5": {"path": str(path), "fields": fields or {}}}).error

    said = error_of(lambda file: file.create_dataset("label", data=np.arange(9), compression="lzf"))
    expect("'label' is left out: it is compressed by lzf (32000), which" in said, said)
    said = error_of(lambda file: file.create_dataset("label", data=np.array([1, 1 << 63], "u8")))
    expect("wrong.h5:1: the dataset label: is above what int64 holds" in said, said)
    said = error_of(lambda file: file.create_dataset("label", data=[1, 2]), {"label": "labels"})
    expect("there is no dataset 'labels'" in said and "label" in said, said)

    def empty_image(file: h5py.File) -> None:
        add_lists(file, "image", [image(generator, "PNG"), b"", b""])

    said = error_of(empty_image)
    expect("wrong.h5:1: the dataset image: is null" in said, said)

    def virtual(file: h5py.File) -> None:
        layout = h5py.VirtualLayout((4,), "i8")
        layout[:] = h5py.VirtualSource("other.h5", "label", (4,))
        file.create_virtual_dataset("label", layout)

    said = error_of(virtual)
    expect("it is virtual" in said, said)
    said = error_of(lambda file: file.create_dataset("label", (4,), "i8", external=[("/etc/passwd", 0, 32)]))
    expect("it lies in other files" in said, said)
    said = error_of(lambda file: file.create_group("nothing"))
    expect("no dataset" in said, said)
    (root / "text.h5").write_text("a,b\n1,2\n" * 100)
    said = Dumped(PROGRAM, {"data": str(root / "text.h5")}).error
    expect("text.h5: it cannot be opened" in said, said)


def stores(generator: np.random.Generator, root: Path) -> None:
    """One dataset wherever it lies, once it is staged."""
    (root / "data").mkdir(parents=True)
    for i in range(2):
        write(generator, root / "data" / f"train-{i}.h5", 12, {"rows": 5, "compression": "gzip"})
    local = Dumped(PROGRAM, {"data": str(root / "data")})
    with http_server(root) as http, bucket(root) as environment, tempfile.TemporaryDirectory() as staged:
        os.environ.update(environment)
        said = Dumped(PROGRAM, {"data": "s3://bucket/data/"}).error
        bytes_ = sum(path.stat().st_size for path in (root / "data").iterdir())
        expect(f"2 files of {bytes_} bytes" in said and "raw_cache" in said, said)
        for url in (f"{http.url}/data/train-{{0..1}}.h5", "s3://bucket/data/"):
            for _ in range(2):
                remote = Dumped(PROGRAM, {"hdf5": {"path": url}}, Path(staged))
                expect(not remote.error, remote.error)
                expect_equal(remote.fingerprint, local.fingerprint, url)
                compare(remote, local.samples)
                expect_equal(remote.names, local.names, url)


def damage(generator: np.random.Generator, root: Path) -> None:
    """Flipped bytes anywhere: an error that names the file, or samples, and never a crash of ours."""
    path = root / "damaged.h5"
    write(generator, path, 6, {"rows": 3, "compression": "gzip", "fletcher32": True})
    whole, draw = path.read_bytes(), random.Random(1)
    outcomes = {"read": 0, "refused": 0, "children lost": 0}
    for i in range(300):
        bytes_ = bytearray(whole)
        for _ in range(draw.choice((1, 3, 30))):
            bytes_[draw.randrange(len(whole))] = draw.randrange(256)
        path.write_bytes(bytes_[: draw.randrange(len(whole))] if i % 10 == 0 else bytes_)
        dumped = Dumped(PROGRAM, {"data": str(path)})
        said = dumped.error
        expect(not said or "damaged.h5" in said, said)
        outcomes["refused" if said else "read"] += 1
        outcomes["children lost"] += "ended by signal" in said
    print(f"of 300 damaged files: {outcomes}")


def main() -> None:
    generator = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        writings(generator, root)
        groups(generator, root)
        errors(generator, root)
        stores(generator, root / "stores")
        damage(generator, root)
    print("every field of every sample is equal")


if __name__ == "__main__":
    main()
