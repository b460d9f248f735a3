#!/usr/bin/env python3
"""test_tfrecord.py DUMP-SAMPLES: files that the package `tfrecord` writes, read by us: every field of every sample is
equal, and an index by its tfrecord2idx changes no fingerprint."""

import gzip
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from dumped import Dumped, documented, expect, expect_equal, expect_rows, image
from tfrecord.tools.tfrecord2idx import create_index
from tfrecord.writer import TFRecordWriter

KINDS = ("JPEG", "PNG", "WebP", "GIF", "BMP")


def write(folder: Path, name: str, samples: list[dict]) -> None:
    writer = TFRecordWriter(str(folder / name))
    for sample in samples:
        writer.write(sample)
    writer.close()


def imagenet(generator: np.random.Generator, count: int) -> list[dict]:
    """Samples as TensorFlow's scripts write ImageNet."""
    return [
        {
            "image/encoded": (image(generator, KINDS[i % len(KINDS)]), "byte"),
            "image/class/label": (int(generator.integers(-5, 1 << 62)), "int"),
            "image/filename": (f"{i}.jpg".encode(), "byte"),
            "image/object/bbox/xmin": ([0.5] * (i % 3), "float"),
            "scores": (generator.random(5).astype(np.float32).tolist(), "float"),
            "sizes": ([i, -i, 1 << 40], "int"),
        }
        for i in range(count)
    ]


def rows_of_all_kinds(program: str, generator: np.random.Generator, root: Path) -> None:
    """Lists of any length and bytes that are texts."""
    folder = root / "rows"
    folder.mkdir()
    samples, written = [], []
    for i in range(9):
        boxes, tokens = generator.random((i % 3, 4)).astype(np.float32), generator.integers(-9, 1 << 40, i % 4)
        caption = f"猫 {i}".encode() * i
        samples.append({"bbox": (boxes.ravel().tolist(), "float"), "tokens": (tokens.tolist(), "int"),
                        "caption": (caption, "byte")})
        written.append({"bbox": boxes, "tokens": tokens, "caption": caption, "blob": caption})
    write(folder, "a.tfrecord", samples)
    size = {"max_bytes": "1KiB"}
    fields = {
        "bbox": {"kind": "boxes", **size},
        "tokens": {"kind": "ragged", **size},
        "caption": {"kind": "text", **size},
        "blob": {"from": "caption", "kind": "bytes", **size},
    }
    schema = {"bbox": "rows float32 [4]", "blob": "bytes", "caption": "text", "tokens": "rows int64 []"}
    expect_rows(program, {"tfrecord": {"path": str(folder), "fields": fields}}, schema, written)


def main() -> None:
    program, generator = sys.argv[1], np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as root:
        rows_of_all_kinds(program, generator, Path(root))
        folder = Path(root) / "train"
        folder.mkdir()
        samples = imagenet(generator, 23)
        write(folder, "train-00000-of-00003", samples[:10])
        write(folder, "train-00001-of-00003", samples[10:11])
        write(folder, "train-00002-of-00003", samples[11:])
        (folder / "dataset_info.json").write_text("{}")

        usual = Dumped(program, {"data": str(folder)})
        expect(not usual.error, usual.error)
        expect_equal(usual.schema, {"image": "image", "label": "int64 []"}, "the usual fields")
        expect_equal(usual.names[10], "train-00001-of-00003:0", "a sample's name")
        for got, wanted in zip(usual.samples, samples, strict=True):
            expect_equal(got["image"], wanted["image/encoded"][0], "image")
            expect_equal(got["label"], np.array(wanted["image/class/label"][0]), "label")

        same = Dumped(program, documented("tfrecord", folder))
        expect(not same.error, same.error)
        expect_equal(same.fingerprint, usual.fingerprint, "the documented configuration")

        fields = {"picture": "image/encoded", "scores": "scores", "sizes": {"from": "sizes"}}
        mapped = Dumped(program, {"tfrecord": {"path": f"{folder}/train-{{00000..00002}}-of-00003", "fields": fields}})
        expect(not mapped.error, mapped.error)
        expect_equal(mapped.schema, {"picture": "image", "scores": "float32 [5]", "sizes": "int64 [3]"}, "schema")
        for got, wanted in zip(mapped.samples, samples, strict=True):
            expect_equal(got["picture"], wanted["image/encoded"][0], "picture")
            expect_equal(got["scores"], np.array(wanted["scores"][0], np.float32), "scores")
            expect_equal(got["sizes"], np.array(wanted["sizes"][0]), "sizes")
        expect(mapped.fingerprint != usual.fingerprint, "another mapping has the same fingerprint")

        # What TensorFlow compresses by GZIP is the file that it would have written, as a gzip member; by any name.
        zipped = Path(root) / "zipped"
        for suffix in ("", ".gz"):
            zipped.mkdir()
            for shard in sorted(folder.glob("train-*-of-00003")):
                (zipped / (shard.name + suffix)).write_bytes(gzip.compress(shard.read_bytes()))
            refused = Dumped(program, {"data": str(zipped)})
            expect("is compressed as a whole" in refused.error, refused.error)
            staged = Dumped(program, {"data": str(zipped)}, Path(root) / "staged")
            expect(not staged.error, staged.error)
            expect_equal(staged.fingerprint, usual.fingerprint, "of the files decompressed")
            for got, wanted in zip(staged.samples, samples, strict=True):
                expect_equal(got["image"], wanted["image/encoded"][0], "image")
            shutil.rmtree(zipped)

        for shard in sorted(folder.glob("train-*-of-00003")):
            create_index(str(shard), f"{shard}.idx")
        for config in ({"data": str(folder)}, {"tfrecord": {"path": f"{folder}/train-*-of-00003"}}):
            indexed = Dumped(program, config)
            expect_equal(indexed.error, "", "with an index")
            expect_equal(indexed.fingerprint, usual.fingerprint, "the fingerprint with an index")
        index = folder / "train-00000-of-00003.idx"
        index.write_text(index.read_text().replace("0 ", "1 ", 1))
        lies = Dumped(program, {"data": str(folder)})
        expect("train-00000-of-00003.idx: does not fit train-00000-of-00003: line 1" in lies.error, lies.error)

        everything = Path(root) / "all"
        everything.mkdir()
        samples = [{"x": (i, "int"), "text": (b"a cat", "byte"), "y.z": ([i, 0.5], "float")} for i in range(4)]
        write(everything, "a.tfrecord", samples)
        dumped = Dumped(program, {"data": str(everything)})
        expect(not dumped.error, dumped.error)
        expect_equal(dumped.schema, {"x": "int64 []", "y_z": "float32 [2]"}, "all that can be fields")
        expect(len(dumped.warnings) == 1 and "'text' is left out" in dumped.warnings[0], dumped.warnings)
    print("every field of every sample is equal")


if __name__ == "__main__":
    main()
