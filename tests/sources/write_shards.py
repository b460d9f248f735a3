#!/usr/bin/env python3
"""write_shards.py FORMAT FOLDER OUT: writes the class folder FOLDER in another format, by that format's reference tool.

FORMAT is tar, tfrecord, mds, lmdb, parquet or hdf5. The samples stand in the order of the folder's paths, with the labels that their class
folders have. OUT must not exist; it appears when it is whole."""

import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

SHARD_BYTES = 16 << 20
PARQUET_ROWS = 160
ROW_GROUP = 20  # as small a part of a few photographs as the usual 100 rows are of a dataset


def photographs(folder: Path) -> Iterator[tuple[str, bytes, int]]:
    """The name without its suffix, the bytes and the label of each file."""
    classes = sorted(os.fsencode(path) for path in folder.iterdir() if path.is_dir())
    for label, name in enumerate(classes):
        for file in sorted(Path(os.fsdecode(name)).iterdir(), key=os.fsencode):
            yield f"{file.parent.name}/{file.stem.replace('.', '_')}", file.read_bytes(), label


def write_tar(folder: Path, out: Path) -> None:
    import webdataset

    with webdataset.ShardWriter(str(out / "%04d.tar"), maxsize=SHARD_BYTES, verbose=0) as writer:
        for key, image, label in photographs(folder):
            writer.write({"__key__": key, "jpg": image, "cls": label})


def write_tfrecord(folder: Path, out: Path) -> None:
    from tfrecord.writer import TFRecordWriter

    writer, shard, size = None, 0, SHARD_BYTES
    for _, image, label in photographs(folder):
        if size >= SHARD_BYTES:
            if writer is not None:
                writer.close()
            writer, shard, size = TFRecordWriter(str(out / f"{shard:04}.tfrecord")), shard + 1, 0
        writer.write({"image/encoded": (image, "byte"), "image/class/label": (label, "int")})
        size += len(image)
    writer.close()


def write_mds(folder: Path, out: Path) -> None:
    from mds_package import import_mds

    writer, _ = import_mds()
    with writer(out=str(out), columns={"image": "bytes", "label": "int"}, size_limit=SHARD_BYTES) as shards:
        for _, image, label in photographs(folder):
            shards.write({"image": image, "label": label})


def write_lmdb(folder: Path, out: Path) -> None:
    import lmdb

    with lmdb.open(str(out), map_size=1 << 34) as environment, environment.begin(write=True) as transaction:
        for i, (_, image, label) in enumerate(photographs(folder)):
            transaction.put(b"%09d" % i, pickle.dumps((image, label)))


def write_parquet(folder: Path, out: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    rows = [{"image": {"bytes": image, "path": name}, "label": label} for name, image, label in photographs(folder)]
    for shard, first in enumerate(range(0, len(rows), PARQUET_ROWS)):
        table = pyarrow.Table.from_pylist(rows[first : first + PARQUET_ROWS])
        pyarrow.parquet.write_table(table, out / f"train-{shard:05}.parquet", row_group_size=ROW_GROUP)


def write_hdf5(folder: Path, out: Path) -> None:
    import h5py
    import numpy

    all_of_them = list(photographs(folder))
    with h5py.File(out / "train.h5", "w") as file:
        images = file.create_dataset("images", len(all_of_them), h5py.vlen_dtype(numpy.uint8))
        for i, (_, image, _) in enumerate(all_of_them):
            images[i] = numpy.frombuffer(image, numpy.uint8)
        file["labels"] = [label for _, _, label in all_of_them]


def main() -> None:
    form, folder, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    part = out.with_name(out.name + ".part")
    part.mkdir(parents=True)
    writers = {
        "tar": write_tar,
        "tfrecord": write_tfrecord,
        "mds": write_mds,
        "lmdb": write_lmdb,
        "parquet": write_parquet,
        "hdf5": write_hdf5,
    }
    writers[form](folder, part)
    part.rename(out)


main()
