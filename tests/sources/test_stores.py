"""test_stores.py BIN: one dataset on disk, over HTTP and in a bucket has one fingerprint and one digest.

BIN has stokerd and stoker. The bucket is moto's, which checks the signature of each request; the HTTP server is ours, and
errs at a tenth of the requests. Prints what is wrong and exits with 1.
"""

from __future__ import annotations

import functools
import gzip
import json
import pathlib
import random
import struct
import sys
import tarfile
import tempfile
import urllib.parse
import zlib

import servers
from servers import bucket, http_server

BIN = pathlib.Path(sys.argv[1])
epoch, refusal = (functools.partial(function, BIN) for function in (servers.epoch, servers.refusal))

# Names that are easy to sign or to encode wrongly.
AWKWARD = ["a b", "a+b", "c=d", "(e)", "f%41", "g%", "ünïcode", "h&i,j;k@l", "m!n'o*p", "q~r-s_t.u", "deep/er/v w", "x$y:z"]


def write_vectors(folder: pathlib.Path) -> None:
    """A .npy file of 32 floats for each name."""
    draw = random.Random(1)
    for name in AWKWARD + [f"shard-{i:03}" for i in range(100)]:
        path = folder / f"{name}.npy"
        path.parent.mkdir(parents=True, exist_ok=True)
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (32,), }".ljust(117) + "\n"
        path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + draw.randbytes(128))


def png(seed: int) -> bytes:
    """An image of 8 × 8 pixels."""
    pixels = random.Random(seed)
    rows = b"".join(b"\0" + pixels.randbytes(24) for _ in range(8))
    parts = [(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part)) for name, part in parts
    )


def write_images(folder: pathlib.Path) -> None:
    """Class folders of images, some of whose names are awkward; and what is none."""
    names = [f"class {i % 3}/{name}.png" for i, name in enumerate(AWKWARD)]
    names += [f"class/{i:04}.png" for i in range(30)] + [f"class-2/{i}.PNG" for i in range(5)]
    for i, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(i))
    (folder / "class" / "readme").write_text("no image")
    (folder / "files.txt").write_text("".join(f"{name}\n" for name in [*names, "class/readme"]))


def write_tars(vectors: pathlib.Path, plain: pathlib.Path, zipped: pathlib.Path) -> None:
    """Tar shards of some vectors, plain and compressed by gzip."""
    plain.mkdir()
    zipped.mkdir()
    for shard in range(3):
        path = plain / f"t-{shard}.tar"
        with tarfile.open(path, "w") as tar:
            for i in range(shard * 10, shard * 10 + 10):
                tar.add(vectors / f"shard-{i:03}.npy", f"s{i}.npy")
        (zipped / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))


def main() -> None:
    with tempfile.TemporaryDirectory() as work:
        data = pathlib.Path(work) / "data"
        folder = data / "vectors"
        write_vectors(folder)
        write_images(data / "images")
        write_tars(folder, data / "tars", data / "zipped")
        pipeline = pathlib.Path(work) / "pipeline.yaml"
        pipeline.write_text("{ops: []}")
        names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.npy"))
        notes = tuple(f"vectors/notes/{i}.txt" for i in range(1000))  # The listing has more than a page.
        with http_server(data) as http, bucket(data, notes) as environment:
            # HTTP cannot list, so the configuration has each name.
            paths = [f"{http.url}/vectors/{urllib.parse.quote(name)}" for name in names]
            config = pathlib.Path(work) / "http.yaml"
            config.write_text(json.dumps({"datasets": [{"name": "vectors", "feature_vectors": {"path": paths}}]}))
            local = epoch(["--data", str(folder)], {}, pipeline)
            print("local", *local)
            ways = {
                "HTTP": (["--config", str(config)], {}),
                "S3": (["--data", "s3://bucket/vectors/"], environment),
                "S3 without a slash": (["--data", "s3://bucket/vectors"], environment),
            }
            for name, (arguments, variables) in ways.items():
                found = epoch(arguments, variables, pipeline)
                print(name, *found)
                assert found == local, f"{name}: {found}, where the folder has {local}"
            some = epoch(["--data", str(folder / "shard-{000..099}.npy")], {}, pipeline)
            assert epoch(["--data", f"{http.url}/vectors/shard-{{000..099}}.npy"], {}, pipeline) == some
            assert epoch(["--data", "s3://bucket/vectors/shard-*.npy"], environment, pipeline) == some

            images = epoch(["--data", str(data / "images")], {})
            print("images", *images)
            ways = {
                "HTTP by a list": (["--data", f"{http.url}/images/files.txt"], {}),
                "S3": (["--data", "s3://bucket/images/"], environment),
                "S3 without a slash": (["--data", "s3://bucket/images"], environment),
                "S3 by a list": (["--data", "s3://bucket/images/files.txt"], environment),
            }
            for name, (arguments, variables) in ways.items():
                found = epoch(arguments, variables)
                print(name, *found)
                assert found == images, f"{name}: {found}, where the folder has {images}"

            # Compressed shards, staged, are what the shards are.
            tars = epoch(["--data", str(data / "tars")], {}, pipeline)
            ways = {
                "staged": (str(data / "zipped"), {}),
                "staged from HTTP": (f"{http.url}/zipped/t-{{0..2}}.tar.gz", {}),
                "staged from S3": ("s3://bucket/zipped/", environment),
                "staged from S3 before": ("s3://bucket/zipped/", environment),
            }
            for name, (path, variables) in ways.items():
                disk = {"path": f"{work}/cache", "size": "1GiB"}
                datasets = [{"name": "tars", "webdataset": {"path": path}}]
                config.write_text(json.dumps({"raw_cache": {"disk": disk}, "datasets": datasets}))
                found = epoch(["--config", str(config)], variables, pipeline)
                print(name, *found)
                assert found == tars, f"{name}: {found}, where the shards have {tars}"
            kept = list(pathlib.Path(work, "cache", "staged").iterdir())
            assert len(kept) == 9, f"three shards of three stores: {kept}"
            said = refusal(["--data", "s3://bucket/zipped/"], environment)
            assert "3 shards of" in said and "raw_cache" in said, said

            said = refusal(["--data", f"{http.url}/vectors/"], {})
            assert "HTTP cannot list" in said and "braces" in said, said
            said = refusal(["--data", f"{http.url}/vectors"], {})
            assert "is not there" in said and "braces" in said, said
            said = refusal(["--data", "s3://bucket/none"], environment)
            assert "s3://bucket/none" in said and "is not there" in said, said
            wrong = {**environment, "AWS_SECRET_ACCESS_KEY": "0123456789-hidden"}
            said = refusal(["--data", "s3://bucket/vectors/"], wrong)
            assert "SignatureDoesNotMatch" in said and "hidden" not in said, said
            assert environment["AWS_ACCESS_KEY_ID"] not in said, said
            said = refusal(["--data", "s3://bucket/vectors/"], {"AWS_ENDPOINT_URL_S3": environment["AWS_ENDPOINT_URL_S3"]})
            assert "AWS_ACCESS_KEY_ID" in said, said
        print(f"{http.requests} requests over HTTP, of which {http.faults} met a fault")


main()
