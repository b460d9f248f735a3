#!/usr/bin/env python3
"""test_webdataset.py DUMP-SAMPLES: tar shards that webdataset's ShardWriter writes, read by us and by its own reader:
every field of every sample is equal, whether an index lies beside the shards or not."""

import gzip
import io
import json
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np
import webdataset
from dumped import Dumped, documented, expect, expect_equal, expect_rows, image

FIELDS = {
    "image": "jpg;png",
    "mask": "seg.png",
    "label": "cls",
    "vector": "npy",
    "class": {"json": "$.of.class"},
    "x": {"from": "json", "json": "$.boxes[1].x"},
}


def sample_of(generator: np.random.Generator, i: int) -> dict:
    long = "folder/" * (20 if i % 5 == 0 else 1)  # Names above 100 bytes take extended headers.
    return {
        "__key__": f"{long}sample-{i:04}",
        "png" if i % 3 == 1 else "jpg": image(generator, "PNG" if i % 3 == 1 else "JPEG"),
        "seg.png": image(generator, "PNG"),
        "cls": i - 2,
        "npy": generator.random((2, 3)).astype(np.float32),
        "json": {"of": {"class": i * 10**12}, "boxes": [{"x": 1}, {"x": i / 7}], "caption": "a, b" * i},
        "caption.txt": "a cat " * i,
    }


def compare(got: dict, read: dict) -> None:
    for name, wanted in {
        "image": read.get("jpg", read.get("png")),
        "mask": read["seg.png"],
        "label": np.asarray(int(read["cls"])),
        "vector": np.load(io.BytesIO(read["npy"])),
        "class": np.asarray(json.loads(read["json"])["of"]["class"]),
        "x": np.asarray(float(json.loads(read["json"])["boxes"][1]["x"])),
    }.items():
        if name in got:
            expect_equal(got[name], wanted, name)


def check(program: str, config: dict | str, wanted: list[dict], fields: int) -> Dumped:
    dumped = Dumped(program, config)
    expect(not dumped.error, dumped.error)
    expect_equal(len(dumped.schema), fields, dumped.schema)
    expect_equal(dumped.names, [sample["__key__"] for sample in wanted], "names")
    for got, read in zip(dumped.samples, wanted, strict=True):
        compare(got, read)
    return dumped


def write_dali_index(shard: Path) -> None:
    """What wds2idx writes, by the same means: Python's tarfile."""
    samples = {}
    with tarfile.open(shard) as archive:
        for member in archive:
            folder, _, base = member.name.rpartition("/")
            key, _, extension = base.partition(".")
            line = samples.setdefault(f"{folder}/{key}", [])
            line.append(f"{extension} {member.offset_data} {member.size} {member.name}")
    lines = [" ".join(line) for line in samples.values()]
    shard.with_suffix(".idx").write_text("\n".join([f"v1.2 {len(lines)}", *lines, ""]))


def rows_of_all_kinds(program: str, generator: np.random.Generator, root: Path) -> None:
    """Captions, bytes, arrays and JSON documents whose samples differ in size, some of them empty."""
    folder = root / "rows"
    folder.mkdir()
    written = []
    with webdataset.ShardWriter(f"{folder}/t-%04d.tar", maxcount=5, verbose=0) as out:
        for i in range(12):
            boxes = generator.uniform(0, 90, (i % 4, 4)).astype(np.float32)
            tokens = generator.integers(0, 50000, i % 3)
            objects = [{"bbox": box.tolist(), "category": j, "keypoints": [1.5 * j] * 6} for j, box in enumerate(boxes)]
            caption = "eine Straße, ein Café, 猫 " * (i % 5)
            out.write({"__key__": f"s{i}", "txt": caption, "bin": bytes(range(i)), "boxes.npy": boxes,
                       "tokens.npy": tokens, "json": {"objects": objects, "tokens": tokens.tolist(), "said": caption}})
            written.append({
                "caption": caption.encode(), "said": caption.encode(), "blob": bytes(range(i)), "boxes": boxes,
                "json_boxes": boxes, "tokens": tokens, "json_tokens": tokens, "categories": np.arange(len(boxes)),
                "points": np.repeat(1.5 * np.arange(len(boxes)), 6).reshape(-1, 3, 2).astype(np.float32),
            })
    size = {"max_bytes": "4KiB"}
    fields = {
        "caption": {"from": "txt", "kind": "text", **size},
        "said": {"json": "$.said", "kind": "text", **size},
        "blob": {"from": "bin", "kind": "bytes", **size},
        "boxes": {"from": "boxes.npy", "kind": "boxes", **size},
        "json_boxes": {"json": "$.objects[*].bbox", "kind": "boxes", "box_format": "xywh", **size},
        "tokens": {"from": "tokens.npy", "kind": "ragged", **size},
        "json_tokens": {"json": "$.tokens", "kind": "ragged", **size},
        "categories": {"json": "$.objects[*].category", "kind": "ragged", "typical_bytes": "64B", **size},
        "points": {"json": "$.objects[*].keypoints", "kind": "keypoints", "shape": [3, 2], **size},
    }
    schema = {
        "blob": "bytes", "boxes": "rows float32 [4]", "caption": "text", "categories": "rows int64 []",
        "json_boxes": "rows float32 [4]", "json_tokens": "rows int64 []", "points": "rows float32 [3, 2]", "said": "text",
        "tokens": "rows int64 []",
    }
    expect_rows(program, {"webdataset": {"path": str(folder), "fields": fields}}, schema, written)
    wrong = {"boxes": {"json": "$.objects[*].keypoints", "kind": "boxes", **size}}
    error = Dumped(program, {"webdataset": {"path": str(folder), "fields": wrong}}).error
    expect("s1: " in error and "has a list of 6 numbers, where rows of [4] are" in error, error)


def main() -> None:
    program, generator = sys.argv[1], np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "train"
        folder.mkdir()
        with webdataset.ShardWriter(f"{folder}/t-%04d.tar", maxcount=7, verbose=0) as out:
            for i in range(24):
                out.write(sample_of(generator, i))
        shards = sorted(map(str, folder.glob("*.tar")))
        expect_equal(len(shards), 4, "shards")
        wanted = list(webdataset.WebDataset(shards, shardshuffle=False))

        rows_of_all_kinds(program, generator, Path(root))

        fields = {"fields": FIELDS}
        config = {"webdataset": {"path": str(folder), **fields}}
        whole = check(program, config, wanted, 6)
        expect_equal(whole.schema["class"], "int64 []", "a whole number")
        expect_equal(whole.schema["x"], "float64 []", "a number")
        for path in (f"{folder}/t-{{0000..0003}}.tar", f"{folder}/*.tar", shards):
            same = check(program, {"webdataset": {"path": path, **fields}}, wanted, 6)
            expect_equal(same.fingerprint, whole.fingerprint, path)
        check(program, documented("webdataset", folder), wanted, 2)

        found = check(program, {"data": str(folder)}, wanted, 3)
        expect_equal(found.schema, {"image": "image", "label": "int64 []", "npy": "float32 [2, 3]"}, "found by itself")
        expect(".caption.txt or .json or .seg.png" in found.warnings[0], found.warnings)

        compressed = Path(root) / "compressed"
        compressed.mkdir()
        samples = webdataset.WebDataset(shards, shardshuffle=False)
        written = [{k: v for k, v in sample.items() if k not in ("__url__", "__local_path__")} for sample in samples]
        for shard in shards:
            (compressed / (Path(shard).name + ".gz")).write_bytes(gzip.compress(Path(shard).read_bytes()))
        # What ShardWriter compresses by itself has headers of another time, and else the same bytes.
        direct = Path(root) / "direct"
        direct.mkdir()
        with webdataset.ShardWriter(f"{direct}/t-%04d.tar.gz", maxcount=7, verbose=0, encoder=False) as out:
            for sample in written:
                out.write(sample)
        own = Dumped(program, {"webdataset": {"path": str(direct), **fields}}, Path(root) / "staged")
        expect(not own.error, own.error)
        for got, read in zip(own.samples, wanted, strict=True):
            compare(got, read)
        refused = Dumped(program, {"data": str(compressed)})
        expect("raw_cache: {disk:" in refused.error and "4 shards of" in refused.error, refused.error)
        for _ in range(2):  # The second time it is staged already.
            staged = Dumped(program, {"webdataset": {"path": str(compressed), **fields}}, Path(root) / "staged")
            expect(not staged.error, staged.error)
            expect_equal(staged.names, whole.names, "names")
            for got, read in zip(staged.samples, wanted, strict=True):
                compare(got, read)
            expect_equal(staged.fingerprint, whole.fingerprint, "of the shards decompressed")

        for shard in shards:
            write_dali_index(Path(shard))
        expect_equal(check(program, config, wanted, 6).fingerprint, whole.fingerprint, "by DALI's index")
        (folder / "t-0001.idx").write_bytes((folder / "t-0000.idx").read_bytes())
        expect_equal(check(program, config, wanted, 6).fingerprint, whole.fingerprint, "an index of another shard")

        listed = [{"url": f"t-000{i}.tar", "nsamples": 7 if i < 3 else 3} for i in range(4)]
        index = folder / "index.json"
        index.write_text(json.dumps({"__kind__": "wids-shard-index-v1", "wids_version": 1, "shardlist": listed}))
        wids = {"webdataset": {"path": str(index), **fields}}
        expect_equal(check(program, wids, wanted, 6).fingerprint, whole.fingerprint, "by a list of wids")
        zipped = [{**shard, "url": shard["url"] + ".gz"} for shard in listed]
        (compressed / "index.json").write_text(json.dumps({"shardlist": zipped}))
        of_zipped = {"webdataset": {"path": str(compressed / "index.json"), **fields}}
        expect("raw_cache: {disk:" in Dumped(program, of_zipped).error, "a list of compressed shards without a disk")
        staged = Dumped(program, of_zipped, Path(root) / "staged")
        expect(not staged.error, staged.error)
        expect_equal(staged.fingerprint, whole.fingerprint, "by a list of compressed shards")
        listed[1]["nsamples"] = 8
        index.write_text(json.dumps({"shardlist": listed}))
        lies = Dumped(program, wids)
        expect("t-0001.tar: has 7 samples, where the list of shards tells of 8" in lies.error, lies.error)

        cut = Path(shards[2])
        cut.write_bytes(cut.read_bytes()[:5000])
        short = Dumped(program, config)
        expect("t-0002.tar: at byte " in short.error and "cut short" in short.error, short.error)
    print("every field of every sample is equal")


if __name__ == "__main__":
    main()
