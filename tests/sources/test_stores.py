"""test_stores.py BIN: one dataset on disk, over HTTP and in a bucket has one fingerprint and one digest.

BIN has stokerd and stoker. The bucket is moto's, which checks the signature of each request; the HTTP server is ours, and
errs at a tenth of the requests. Prints what is wrong and exits with 1.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import boto3
import requests
from moto.server import ThreadedMotoServer

BIN = pathlib.Path(sys.argv[1])

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


class Erring(BaseHTTPRequestHandler):
    """Serves the files of a folder by ranges; at each tenth request it errs, each time in another way."""

    protocol_version = "HTTP/1.1"
    requests = 0
    lock = threading.Lock()

    def __init__(self, *arguments: object, folder: pathlib.Path) -> None:
        self.folder = folder
        super().__init__(*arguments)

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, with_body: bool) -> None:
        with Erring.lock:
            Erring.requests += 1
            number = Erring.requests
        path = self.folder / urllib.parse.unquote(self.path[1:])
        fault = ["reset", "500", "throttle", "truncate", "wrong range"][number // 10 % 5] if number % 10 == 0 else ""
        if not path.is_file():
            self.head(404, 0)
            return
        whole = body = path.read_bytes()
        status, extra = 200, {"ETag": f'"{hash(whole)}"'}
        if fault == "500" or fault == "throttle":
            self.head(500 if fault == "500" else 503, 0)
            return
        if fault == "reset":
            self.close_connection = True
            return
        if wanted := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")):
            first, last = int(wanted[1]), int(wanted[2])
            status, body = 206, whole[first : last + 1]
            extra["Content-Range"] = f"bytes {first + (fault == 'wrong range')}-{last}/{len(whole)}"
        self.head(status, len(body), extra)
        if with_body and fault == "truncate":
            body = body[: len(body) // 2]
            self.close_connection = True
        if with_body:
            self.wfile.write(body)

    def head(self, status: int, length: int, extra: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        for name, value in (extra or {}).items():
            self.send_header(name, value)
        self.end_headers()


@contextlib.contextmanager
def http_server(folder: pathlib.Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Erring, folder=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@contextlib.contextmanager
def bucket(folder: pathlib.Path) -> Iterator[dict[str, str]]:
    """A bucket `bucket` with the folder's files; yields an environment that may read it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    client = functools.partial(boto3.client, endpoint_url=endpoint, region_name="us-east-1")
    anybody = {"aws_access_key_id": "x", "aws_secret_access_key": "y"}
    iam = client("iam", **anybody)
    iam.create_user(UserName="trainer")
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
    made = iam.create_policy(PolicyName="reads", PolicyDocument=json.dumps(policy))
    iam.attach_user_policy(UserName="trainer", PolicyArn=made["Policy"]["Arn"])
    key = iam.create_access_key(UserName="trainer")["AccessKey"]
    s3 = client("s3", **anybody)
    s3.create_bucket(Bucket="bucket")
    for path in folder.rglob("*"):
        if path.is_file():
            s3.put_object(Bucket="bucket", Key=str(path.relative_to(folder)), Body=path.read_bytes())
    for i in range(1000):  # The listing has more than a page.
        s3.put_object(Bucket="bucket", Key=f"vectors/notes/{i}.txt", Body=b"")
    requests.post(f"{endpoint}/moto-api/reset-auth", data="0", timeout=60)  # From now on signatures are checked.
    yield {
        "AWS_ENDPOINT_URL_S3": endpoint,
        "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
    }
    server.stop()


def serve(arguments: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [BIN / "stokerd", "serve", "--listen", "127.0.0.1:0", *arguments],
        env={**os.environ, "HOME": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def refusal(arguments: list[str], environment: dict[str, str]) -> str:
    """What a server that does not start says."""
    with serve(arguments, environment) as server:
        try:
            out, err = server.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            server.kill()
            raise
        assert server.returncode != 0, out
        return err


def epoch(
    arguments: list[str], environment: dict[str, str], pipeline: pathlib.Path | None = None
) -> tuple[str, str]:
    """The fingerprint and the digest that a server of the dataset gives; without a pipeline, by the default one."""
    with serve(arguments, environment) as server:
        try:
            assert server.stdout is not None and server.stderr is not None
            address = ""
            for line in server.stdout:
                if line.startswith("listening on "):
                    address = line.removeprefix("listening on ").strip()
                    break
            assert address, server.stderr.read()
            # Nobody reads what it logs later, and a full pipe would stop it.
            threading.Thread(target=server.stderr.read, daemon=True).start()
            ask = [BIN / "stoker", "{}", "--servers", address, *(["--pipeline", pipeline] if pipeline else [])]
            say = lambda what: subprocess.run(  # noqa: E731
                [ask[0], what, *ask[2:]], check=True, capture_output=True, text=True
            ).stdout
            described = say("describe")
            found = re.search(r"fingerprint\s+([0-9a-f]+)", described)
            assert found, described
            return found[1], say("digest").strip()
        finally:
            server.terminate()


def main() -> None:
    with tempfile.TemporaryDirectory() as work:
        data = pathlib.Path(work) / "data"
        folder = data / "vectors"
        write_vectors(folder)
        write_images(data / "images")
        pipeline = pathlib.Path(work) / "pipeline.yaml"
        pipeline.write_text("{ops: []}")
        names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.npy"))
        with http_server(data) as http, bucket(data) as environment:
            # HTTP cannot list, so the configuration has each name.
            paths = [f"{http}/vectors/{urllib.parse.quote(name)}" for name in names]
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
            assert epoch(["--data", f"{http}/vectors/shard-{{000..099}}.npy"], {}, pipeline) == some
            assert epoch(["--data", "s3://bucket/vectors/shard-*.npy"], environment, pipeline) == some

            images = epoch(["--data", str(data / "images")], {})
            print("images", *images)
            ways = {
                "HTTP by a list": (["--data", f"{http}/images/files.txt"], {}),
                "S3": (["--data", "s3://bucket/images/"], environment),
                "S3 without a slash": (["--data", "s3://bucket/images"], environment),
                "S3 by a list": (["--data", "s3://bucket/images/files.txt"], environment),
            }
            for name, (arguments, variables) in ways.items():
                found = epoch(arguments, variables)
                print(name, *found)
                assert found == images, f"{name}: {found}, where the folder has {images}"

            said = refusal(["--data", f"{http}/vectors/"], {})
            assert "HTTP cannot list" in said and "braces" in said, said
            said = refusal(["--data", f"{http}/vectors"], {})
            assert "is not there" in said and "braces" in said, said
            said = refusal(["--data", "s3://bucket/none"], environment)
            assert "s3://bucket/none" in said and "is not there" in said, said
            wrong = {**environment, "AWS_SECRET_ACCESS_KEY": "0123456789-hidden"}
            said = refusal(["--data", "s3://bucket/vectors/"], wrong)
            assert "SignatureDoesNotMatch" in said and "hidden" not in said, said
            assert environment["AWS_ACCESS_KEY_ID"] not in said, said
            said = refusal(["--data", "s3://bucket/vectors/"], {"AWS_ENDPOINT_URL_S3": environment["AWS_ENDPOINT_URL_S3"]})
            assert "AWS_ACCESS_KEY_ID" in said, said
        print(f"{Erring.requests} requests over HTTP, a tenth of which met a fault")


main()
