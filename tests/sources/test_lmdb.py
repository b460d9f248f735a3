#!/usr/bin/env python3
"""test_lmdb.py DUMP-SAMPLES: environments that py-lmdb writes, read by us and by it: every entry is equal, on disk, over
HTTP and in a bucket, with one fingerprint."""

from __future__ import annotations

import os
import pickle
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import lmdb
import msgpack
import msgpack_numpy
import numpy as np
from dumped import Dumped, documented, expect, expect_equal, image
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from servers import bucket, http_server

Entries = dict[bytes, bytes]


def write(folder: Path, entries: Entries, database: bytes | None = None, **options: object) -> None:
    """Writes entries in transactions of 100, as scripts do."""
    keys = list(entries)
    with lmdb.open(str(folder), map_size=1 << 28, max_dbs=4, **options) as environment:
        handle = environment.open_db(database)
        for first in range(0, len(keys), 100):
            with environment.begin(write=True, db=handle) as transaction:
                for key in keys[first : first + 100]:
                    transaction.put(key, entries[key])


def read(folder: Path) -> Entries:
    with lmdb.open(str(folder), readonly=True, lock=False) as environment, environment.begin() as transaction:
        return {bytes(key): bytes(value) for key, value in transaction.cursor()}


def datum_message() -> Callable:
    """The message Datum of caffe.proto."""
    file = descriptor_pb2.FileDescriptorProto(name="datum.proto", package="caffe", syntax="proto2")
    message = file.message_type.add(name="Datum")
    kinds = {"channels": 5, "height": 5, "width": 5, "data": 12, "label": 5, "float_data": 2, "encoded": 8}
    for number, (name, kind) in enumerate(kinds.items(), 1):
        message.field.add(name=name, number=number, type=kind, label=3 if name == "float_data" else 1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("caffe.Datum"))


def dumped(program: str, config: dict | str) -> Dumped:
    got = Dumped(program, config)
    expect(not got.error, got.error)
    return got


def check_images(program: str, config: dict | str, wanted: Entries) -> Dumped:
    got = dumped(program, config)
    expect_equal(got.schema, {"image": "image"}, "schema")
    expect_equal(got.names, [key.decode() for key in sorted(wanted)], "names")
    expect_equal([sample["image"] for sample in got.samples], [wanted[key] for key in sorted(wanted)], "images")
    return got


def check_labelled(program: str, config: dict | str, wanted: list[tuple[object, int]]) -> Dumped:
    got = dumped(program, config)
    expect_equal(len(got.samples), len(wanted), "samples")
    for name, sample in zip(got.names, got.samples):
        picture, label = wanted[int(name)]
        expect_equal(sample["image"], picture, f"image of {name}")
        expect_equal(int(sample["label"]), label, f"label of {name}")
    return got


def numbers(count: int) -> Entries:
    return {b"__len__": pickle.dumps(count), b"__keys__": pickle.dumps([b"%d" % i for i in range(count)])}


def of_layout(layout: str, path: Path) -> str:
    """The configuration of a layout that docs/sources.md has, with another path."""
    page = Path(__file__).parents[2] / "docs" / "sources.md"
    found = re.search(rf"`(lmdb: {{path: )[^,}}]+(, layout: {layout}}})`", page.read_text(encoding="utf-8"))
    expect(found is not None, f"docs/sources.md has no configuration of the layout {layout}")
    return f"name: test\n{found[1]}{path}{found[2]}\n"


def check_stores(program: str, folder: Path, local: Dumped) -> None:
    with http_server(folder) as http, bucket(folder.parent) as environment:
        os.environ.update(environment)
        for config in (
            {"lmdb": {"path": f"{http.url}/"}},
            {"data": f"{http.url}/data.mdb"},
            {"lmdb": {"path": f"s3://bucket/{folder.name}"}},
            {"data": f"s3://bucket/{folder.name}/"},
        ):
            got = dumped(program, config)
            expect_equal(got.fingerprint, local.fingerprint, f"fingerprint of {config}")
            expect_equal(got.names, local.names, f"names of {config}")
            expect_equal(got.samples, local.samples, f"samples of {config}")


def check_image_layouts(program: str, root: Path, generator: np.random.Generator) -> None:
    # LSUN: the keys are hashes, and the values WebP.
    hashed = {generator.bytes(20).hex().encode(): image(generator, "WebP") for _ in range(700)}
    write(root / "lsun", hashed)
    expect_equal(read(root / "lsun"), hashed, "what py-lmdb reads")
    local = check_images(program, documented("lmdb", root / "lsun"), hashed)
    for config in (
        of_layout("image", root / "lsun"),
        {"lmdb": {"path": [str(root / "lsun" / "data.mdb")]}},
        {"data": str(root / "lsun")},
    ):
        expect_equal(check_images(program, config, hashed).fingerprint, local.fingerprint, config)
    check_stores(program, root / "lsun", local)

    # Keys that are paths, in a file without a folder, and in a named database.
    paths = {f"class{i % 3}/{i:04d}.png".encode(): image(generator, "PNG") for i in range(300)}
    write(root / "paths.lmdb", paths, subdir=False)
    check_images(program, {"data": str(root / "paths.lmdb")}, paths)
    write(root / "named", paths, b"photos")
    check_images(program, {"lmdb": {"path": str(root / "named"), "database": "photos"}}, paths)
    expect("set `database` to one of: photos" in Dumped(program, {"data": str(root / "named")}).error, "a named database")

    # Text recognition, with an entry that was written anew.
    pictures = {b"image-%09d" % i: image(generator, "JPEG") for i in range(1, 200)}
    texts = {b"label-%09d" % i: f"wörd {i}".encode() for i in range(1, 200)}
    write(root / "words", {**pictures, **texts, b"num-samples": b"199"})
    pictures[b"image-%09d" % 7] = image(generator, "PNG")
    write(root / "words", {b"image-%09d" % 7: pictures[b"image-%09d" % 7]})
    found = check_images(program, {"data": str(root / "words")}, pictures)
    expect("labels" in found.warnings[0], found.warnings)
    check_images(program, of_layout("numbered", root / "words"), pictures)


def check_labelled_layouts(program: str, root: Path, generator: np.random.Generator) -> None:
    labelled = [(image(generator, "JPEG"), int(label)) for label in generator.integers(-5, 70000, 250)]
    for protocol in (3, 4, 5):
        entries = {b"%d" % i: pickle.dumps(sample, protocol) for i, sample in enumerate(labelled)}
        folder = root / f"pickle{protocol}"
        write(folder, {**entries, **numbers(250)})
        check_labelled(program, {"data": str(folder)}, labelled)
    check_labelled(program, of_layout("pickle", root / "pickle4"), labelled)
    # Images of many sizes, since pickle frames them differently.
    large = [(generator.bytes(size), 1) for size in (10, 255, 256, 65535, 65536, 300000)]
    write(root / "large", {b"%d" % i: pickle.dumps(sample) for i, sample in enumerate(large)})
    check_labelled(program, of_layout("pickle", root / "large"), large)

    packed = {b"%d" % i: msgpack.packb(sample) for i, sample in enumerate(labelled)}
    write(root / "msgpack", {**packed, **numbers(250)})
    check_labelled(program, of_layout("msgpack", root / "msgpack"), labelled)
    # tensorpack: the file's bytes are an array, and the label may be NumPy's.
    arrays = {
        b"%d" % i: msgpack.packb([np.frombuffer(jpg, np.uint8), np.int64(label)], default=msgpack_numpy.encode)
        for i, (jpg, label) in enumerate(labelled)
    }
    write(root / "tensorpack", {**arrays, **numbers(250)})
    check_labelled(program, {"data": str(root / "tensorpack")}, labelled)

    datum = datum_message()
    files = {b"%08d" % i: datum(data=jpg, label=label, encoded=True) for i, (jpg, label) in enumerate(labelled)}
    write(root / "files", {key: value.SerializeToString() for key, value in files.items()})
    check_labelled(program, of_layout("datum", root / "files"), labelled)
    pixels = [(generator.integers(0, 256, (32, 30, 3), dtype=np.uint8), i % 10) for i in range(400)]
    planes = {
        b"%08d" % i: datum(channels=3, height=32, width=30, data=array.transpose(2, 0, 1).tobytes(), label=label)
        for i, (array, label) in enumerate(pixels)
    }
    write(root / "pixels", {key: value.SerializeToString() for key, value in planes.items()})
    found = check_labelled(program, {"data": str(root / "pixels")}, pixels)
    expect_equal(found.schema, {"image": "uint8 [32, 30, 3]", "label": "int64 []"}, "schema of pixels")


def main() -> None:
    program, generator = sys.argv[1], np.random.default_rng(4)
    with tempfile.TemporaryDirectory() as folder:
        check_image_layouts(program, Path(folder), generator)
        check_labelled_layouts(program, Path(folder), generator)
    print("every entry is equal")


if __name__ == "__main__":
    main()
