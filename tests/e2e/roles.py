#!/usr/bin/env python3
"""roles.py BIN: three machines of a heterogeneous cluster, which all run one command: two serve, one trains.

The machines are addresses of the loopback. The resource configuration has the form that SageMaker's guide shows.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

BIN = Path(sys.argv[1])
SERVERS, TRAINER = ["127.0.0.2", "127.0.0.3"], "127.0.0.4"
FIELD = "{name: image, dtype: uint8, shape: [32, 32, 3]}"
DATASET = f"datasets: [{{name: noise, synthetic: {{samples: 512, fields: [{FIELD}]}}}}]\n"


def resource_config(folder, host, group):
    path = folder / f"{host}.json"
    groups = [("train", "ml.p4d.24xlarge", [TRAINER]), ("data", "ml.c5.4xlarge", SERVERS)]
    names = ("instance_group_name", "instance_type", "hosts")
    document = {
        "current_host": host,
        "current_group_name": group,
        "hosts": [TRAINER, *SERVERS],
        "instance_groups": [dict(zip(names, one)) for one in groups],
        "network_interface_name": "eth0",
    }
    path.write_text(json.dumps(document))
    return {**os.environ, "STOKER_RESOURCE_CONFIG": str(path)}


def free_port():
    """A port that all of the addresses have free."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind((SERVERS[0], 0))
            try:
                second.bind((SERVERS[1], first.getsockname()[1]))
                return first.getsockname()[1]
            except OSError:
                continue


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        port = free_port()
        trained = folder / "digest"
        commands = {}
        for host in [*SERVERS, TRAINER]:
            config = folder / f"{host}.yaml"
            config.write_text(f"listen: {host}:{port}\ninsecure: true\n{DATASET}")
            options = ["--role", "auto", "--exit-when-idle", "2", "--config", config, "--server-group", "data"]
            commands[host] = [BIN / "stokerd", "serve", *options]
        job = ["--", "sh", "-c", f'"{BIN}/stoker" digest > "{trained}"']
        servers = [
            subprocess.Popen(
                [*commands[host], *job], stdout=subprocess.PIPE, text=True, env=resource_config(folder, host, "data")
            )
            for host in SERVERS
        ]
        try:
            for server, host in zip(servers, SERVERS):
                assert server.stdout.readline() == f"listening on {host}:{port}\n"
            environment = resource_config(folder, TRAINER, "train")
            told = subprocess.run(commands[TRAINER], env=environment, capture_output=True, text=True, check=True).stdout
            assert told == ",".join(f"{host}:{port}" for host in SERVERS) + "\n", told
            subprocess.run([*commands[TRAINER], *job], env=environment, check=True)
            for server in servers:
                assert server.wait(60) == 0, "servers end with the job"
        finally:
            for server in servers:
                server.kill()
                server.wait()
        assert len(trained.read_text().split()[0]) == 64, trained.read_text()
        here_alone = [*commands[TRAINER], "--listen", "127.0.0.1:0"]
        closed = subprocess.run(here_alone, env=environment, capture_output=True, text=True)
        assert closed.returncode == 1 and "no address that other machines reach" in closed.stderr, closed.stderr
        missing = subprocess.run(
            [*commands[TRAINER], "--", "no-such-program"], env=environment, capture_output=True, text=True
        )
        assert missing.returncode == 1 and "cannot run 'no-such-program'" in missing.stderr, missing.stderr
    print("roles.py: two served, one trained, and all ended")


if __name__ == "__main__":
    main()
