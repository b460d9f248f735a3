"""Servers that tests of sources read from, and stokerd over what they have."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import pathlib
import re
import subprocess
import threading
from collections.abc import Iterator

from faulty_http import PASSING, FaultyServer


@contextlib.contextmanager
def http_server(folder: pathlib.Path) -> Iterator[FaultyServer]:
    """A server of the folder's files, of whose requests a tenth has to be tried again."""
    server = FaultyServer(folder, *PASSING)
    yield server
    server.shutdown()


@contextlib.contextmanager
def bucket(folder: pathlib.Path, more: tuple[str, ...] = ()) -> Iterator[dict[str, str]]:
    """moto's bucket `bucket`, with the files below the folder and more empty objects; yields an environment that may read
    it. The signature of each request is checked."""
    # Tests without a bucket need not have these.
    import boto3
    import requests
    from moto.server import ThreadedMotoServer

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
    for name in more:
        s3.put_object(Bucket="bucket", Key=name, Body=b"")
    requests.post(f"{endpoint}/moto-api/reset-auth", data="0", timeout=60)  # From now on signatures are checked.
    yield {
        "AWS_ENDPOINT_URL_S3": endpoint,
        "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
    }
    server.stop()


def serve(programs: pathlib.Path, arguments: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [programs / "stokerd", "serve", "--listen", "127.0.0.1:0", *arguments],
        env={**os.environ, "HOME": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def refusal(programs: pathlib.Path, arguments: list[str], environment: dict[str, str]) -> str:
    """What a server that does not start says."""
    with serve(programs, arguments, environment) as server:
        try:
            out, err = server.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            server.kill()
            raise
        assert server.returncode != 0, out
        return err


def epoch(
    programs: pathlib.Path, arguments: list[str], environment: dict[str, str], pipeline: pathlib.Path | None = None
) -> tuple[str, str]:
    """The fingerprint and the digest that a server of the dataset gives; without a pipeline, by the default one."""
    with serve(programs, arguments, environment) as server:
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
            ask = [programs / "stoker", "{}", "--servers", address, *(["--pipeline", pipeline] if pipeline else [])]
            say = lambda what: subprocess.run(  # noqa: E731
                [ask[0], what, *ask[2:]], check=True, capture_output=True, text=True
            ).stdout
            described = say("describe")
            found = re.search(r"fingerprint\s+([0-9a-f]+)", described)
            assert found, described
            return found[1], say("digest").strip()
        finally:
            server.terminate()
