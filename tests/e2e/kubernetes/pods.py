"""Pods of the rendered manifests, run as processes on this machine by what kubelet would do: user, rights, root, files,
environment, address, probes and end.

`in_a_cluster()` must be called first. From then on everything is in namespaces of the kernel that end with this
process: the addresses of pods, /etc/hosts with the names of Services, and all that is mounted. Cgroups, seccomp and
NetworkPolicies are not imitated.
"""

from __future__ import annotations

import base64
import ctypes
import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import manifests
from manifests import Object, find

HOST = "10.42.0.1"
CLONE_NEWNET, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 0x40000000, 24, 38
_libc = ctypes.CDLL(None, use_errno=True)


def command(*words) -> None:
    manifests.run(*words)


def in_a_cluster() -> Path:
    """Goes on in namespaces of its own, or ends with 77 where there can be none. Returns a folder in memory, which goes
    with the namespaces. Nobody may empty it, who would walk into what is mounted there."""
    if os.environ.get("STOKER_TEST_CLUSTER") != "inside":
        apart = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if os.geteuid() != 0 or subprocess.run([*apart, "true"], capture_output=True).returncode != 0:
            print("SKIPPED: this user may not make namespaces")
            sys.exit(77)
        if shutil.which("ip") is None:
            print("SKIPPED: this machine has no ip command (iproute2)")
            sys.exit(77)
        os.environ["STOKER_TEST_CLUSTER"] = "inside"
        os.execvp("unshare", [*apart, sys.executable, *sys.argv])
    command("mount", "-t", "tmpfs", "tmpfs", "/run")  # `ip netns` keeps names there.
    command("ip", "link", "set", "lo", "up")
    command("ip", "address", "add", f"{HOST}/32", "dev", "lo")
    folder = Path("/mnt")
    command("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", folder)
    return folder


class Names:
    """/etc/hosts, with the addresses behind each Service."""

    def __init__(self, folder: Path):
        self.file, self.addresses = folder / "hosts", {}
        self.file.write_text("127.0.0.1 localhost\n")
        command("mount", "--bind", self.file, "/etc/hosts")

    def add(self, name: str, address: str) -> None:
        self.addresses.setdefault(name, []).append(address)
        self._write()

    def remove(self, name: str, address: str) -> None:
        self.addresses[name].remove(address)
        self._write()

    def _write(self) -> None:
        lines = [f"{address} {name}\n" for name, all_of_it in self.addresses.items() for address in all_of_it]
        self.file.write_text("127.0.0.1 localhost\n" + "".join(lines))


class Pod:
    """The pod of `objects`, with `made` by hand, whose image has the program `stokerd`. `node` is the node's own file
    system, and `more` are further variables."""

    count = 0

    def __init__(self, folder: Path, stokerd: Path, objects: list[Object], made: list[Object], node: Path, more: dict):
        Pod.count += 1
        self.name, self.address = f"pod{Pod.count}", f"10.42.1.{Pod.count}"
        self.objects, self.made, self.node = objects, made, node
        self.spec = manifests.pod_of(objects)["spec"]
        (self.container,) = self.spec["containers"]
        self.root, self.log = folder / self.name, folder / f"{self.name}.log"
        self._connect()
        self._lay_out_image(stokerd)
        self._mount_volumes()
        command("mount", "-o", "remount,ro", self.root)
        environment = self._environment() | more
        network = os.open(f"/run/netns/{self.name}", os.O_RDONLY)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*self.container["command"], *self.container["args"]],
                stdout=log, stderr=log, env=environment, preexec_fn=lambda: self._become_it(network),
            )  # fmt: skip
        os.close(network)

    def _connect(self) -> None:
        inside = ("ip", "-n", self.name)
        command("ip", "netns", "add", self.name)
        command("ip", "link", "add", self.name, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        command("ip", "link", "set", self.name, "up")
        command("ip", "route", "add", self.address, "dev", self.name, "src", HOST)
        for words in ("link set lo up", f"address add {self.address}/32 dev eth0", "link set eth0 up"):
            command(*inside, *words.split())
        command(*inside, "route", "add", "default", "dev", "eth0")

    def _lay_out_image(self, stokerd: Path) -> None:
        """The program and its libraries: no shell, and nothing else that could be run."""
        self.root.mkdir()
        command("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", self.root)
        needed = re.findall(r"=> (/\S+)/[^/]+ \(", manifests.run("ldd", stokerd))
        beyond = {folder for folder in needed if not folder.startswith(("/lib", "/usr/lib"))}
        for folder in ("/usr/lib", "/usr/lib64", "/sys", "/dev", *beyond):
            if Path(folder).exists():
                self._bind(folder, folder)
        for link in ("lib", "lib64"):
            (self.root / link).symlink_to(f"usr/{link}")
        self._bind(stokerd, "/usr/bin/stokerd")
        (self.root / "proc").mkdir()
        command("mount", "-t", "proc", "-o", "ro", "proc", self.root / "proc")
        (self.root / "etc").mkdir()
        for file in ("hosts", "nsswitch.conf", "ld.so.cache"):
            shutil.copy(f"/etc/{file}", self.root / "etc" / file)

    def _bind(self, source: object, target: str, read_only: bool = True) -> None:
        place = self.root / target.lstrip("/")
        if Path(source).is_dir():
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        command("mount", "--bind", source, place)
        if read_only:
            command("mount", "-o", "remount,bind,ro", place)

    def _mount_volumes(self) -> None:
        volumes = {volume["name"]: volume for volume in self.spec["volumes"]}
        group = self.spec["securityContext"]["fsGroup"]
        # Parents first, so that nothing hides what is mounted in it.
        for mount in sorted(self.container["volumeMounts"], key=lambda mount: mount["mountPath"]):
            volume, path = volumes[mount["name"]], mount["mountPath"]
            place = self.root / path.lstrip("/")
            if "hostPath" in volume:
                source = self.node / volume["hostPath"]["path"].lstrip("/")
                assert source.is_dir(), f"the node has no folder {source}"  # What `type: Directory` says.
                self._bind(source, path, mount.get("readOnly", False))
                continue
            place.mkdir(parents=True)
            command("mount", "-t", "tmpfs", "-o", f"mode=2777,gid={group}", "tmpfs", place)
            if "emptyDir" in volume:
                continue
            for name, data, mode in self._files(volume):
                (place / name).write_bytes(data)
                os.chown(place / name, 0, group)
                (place / name).chmod(mode)
            command("mount", "-o", "remount,ro", place)

    def _files(self, volume: Object):
        if "configMap" in volume:
            kind, name, usual = "ConfigMap", volume["configMap"]["name"], volume["configMap"].get("defaultMode", 0o644)
        else:
            kind, name, usual = "Secret", volume["secret"]["secretName"], volume["secret"].get("defaultMode", 0o644)
        for key, data in held(find(self.objects, kind, name) or find(self.made, kind, name)).items():
            yield key, data, usual

    def _environment(self) -> dict[str, str]:
        variables = {}
        for source in self.container.get("envFrom", []):
            secret = find(self.made, "Secret", source["secretRef"]["name"])
            variables |= {name: value.decode() for name, value in held(secret).items()}
        variables |= {entry["name"]: entry["value"] for entry in self.container["env"]}
        # There is no cgroup here, from which the server would take 80% of its limit.
        limit = manifests.bytes_of(self.container["resources"]["limits"]["memory"])
        return variables | {"STOKER_MEMORY_LIMIT": f"{limit * 8 // 10 >> 20}MiB"}

    def _become_it(self, network: int) -> None:
        context = self.spec["securityContext"]
        assert _libc.setns(network, CLONE_NEWNET) == 0
        os.chroot(self.root)
        os.chdir("/")
        for capability in range(64):
            _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # Those beyond the kernel's last are errors.
        assert _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        os.setgroups([context["fsGroup"]])
        os.setgid(context["runAsGroup"])
        os.setuid(context["runAsUser"])

    def get(self, path: str, port: str, **headers) -> tuple[int, str]:
        number = next(each["containerPort"] for each in self.container["ports"] if each["name"] == port)
        connection = http.client.HTTPConnection(self.address, number, timeout=60)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def probe(self, kind: str) -> bool:
        asked = self.container[kind]["httpGet"]
        try:
            return self.get(asked["path"], asked["port"])[0] == 200
        except OSError:
            return False

    def await_start(self) -> None:
        while not self.probe("startupProbe"):
            assert self.process.poll() is None, f"{self.name} ended: {self.log.read_text()}"
            time.sleep(0.1)
        assert self.probe("readinessProbe") and self.probe("livenessProbe"), self.log.read_text()

    def status(self) -> dict[str, str]:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return dict(re.split(r":\s*", line, maxsplit=1) for line in lines)

    def can_write(self, folder: str) -> bool:
        """Whether the pod's user can, in its root."""
        child = os.fork()
        if child == 0:
            try:
                os.chroot(self.root)
                os.setgroups([self.spec["securityContext"]["fsGroup"]])
                os.setgid(self.spec["securityContext"]["runAsGroup"])
                os.setuid(self.spec["securityContext"]["runAsUser"])
                Path(folder, "written").touch()
                os._exit(0)
            except OSError:
                os._exit(1)
        return os.waitpid(child, 0)[1] == 0

    def token(self) -> str:
        """The admin port's."""
        (volume,) = [volume for volume in self.spec["volumes"] if volume["name"] == "admin"]
        name = volume["secret"]["secretName"]
        return held(find(self.objects, "Secret", name) or find(self.made, "Secret", name))["token"].decode()

    def metrics(self) -> str:
        status, text = self.get("/metrics", "admin", Authorization=f"Bearer {self.token()}")
        assert status == 200, text
        return text

    def streams(self) -> float:
        return sum(map(float, re.findall(r"^stoker_streams_active\{.*\} (\S+)$", self.metrics(), re.MULTILINE)))

    def stop(self) -> None:
        """As kubelet does, after `preStop`: SIGTERM, and nothing may be left when the pod's time is over."""
        left = self.spec["terminationGracePeriodSeconds"] - self.container["lifecycle"]["preStop"]["sleep"]["seconds"]
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(left) == 0, self.log.read_text()


def held(thing: Object) -> dict[str, bytes]:
    """The files of a ConfigMap or Secret."""
    if thing["kind"] == "ConfigMap":
        return {name: text.encode() for name, text in thing["data"].items()}
    data = {name: base64.b64decode(text) for name, text in thing.get("data", {}).items()}
    return data | {name: text.encode() for name, text in thing.get("stringData", {}).items()}


class Issuer:
    """A cluster's issuer of service accounts' tokens."""

    def __init__(self):
        from cryptography.hazmat.primitives.asymmetric import rsa

        self._key = rsa.generate_private_key(65537, 2048)

    def key_set(self) -> str:
        import json

        numbers = self._key.public_key().public_numbers()
        size = {"n": 256, "e": 3}
        key = {name: _text(getattr(numbers, name).to_bytes(length, "big")) for name, length in size.items()}
        return json.dumps({"keys": [{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1", **key}]})

    def token(self, account: str) -> str:
        import json

        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import padding

        claims = {"iss": "https://kubernetes.default.svc.cluster.local", "aud": ["stoker"], "sub": account}
        claims["exp"] = int(time.time()) + 3600
        header = {"alg": "RS256", "kid": "1", "typ": "JWT"}
        signed = ".".join(_text(json.dumps(part).encode()) for part in (header, claims))
        return f"{signed}.{_text(self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class ObjectStore:
    """moto's S3 on the host, with the files below a folder in the bucket `datasets`."""

    def __init__(self, folder: Path):
        import logging

        import boto3
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        server = ThreadedMotoServer(ip_address=HOST, port=0, verbose=False)
        server.start()
        self.endpoint = "http://{}:{}".format(*server.get_host_and_port())
        anybody = {"aws_access_key_id": "x", "aws_secret_access_key": "y", "region_name": "us-east-1"}
        s3 = boto3.client("s3", endpoint_url=self.endpoint, **anybody)
        s3.create_bucket(Bucket="datasets")
        for path in folder.rglob("*"):
            if path.is_file():
                s3.put_object(Bucket="datasets", Key=str(path.relative_to(folder)), Body=path.read_bytes())


class Job:
    """A training job in the cluster: it finds the servers by the Service's name."""

    def __init__(self, programs: Path, name: str, dataset: str, *more: object):
        self.programs = programs
        self.arguments = ["--servers", f"dns:///{name}:7077", "--dataset", dataset, *more]

    def digest(self) -> str:
        return manifests.run(self.programs / "stoker", "digest", *self.arguments, timeout=120).strip()

    def start_reading(self) -> subprocess.Popen:
        endless = [self.programs / "stoker", "bench", "--batches", "1000000000", "--quiet", *self.arguments]
        return subprocess.Popen(endless, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


class Site:
    """What is around pods: datasets, in the object store and on the node; Secrets; the names of Services; and proofs of
    who a job is."""

    def __init__(self, folder: Path, programs: Path, kubectl: Path):
        self.folder, self.programs, self.kubectl, self.names = folder, programs, kubectl, Names(folder)
        self.node = folder / "node"
        datasets = self.node / "srv/datasets"
        for dataset, classes in (("photos", 3), ("scans", 2)):
            manifests.run(programs / "make-photo-folder", datasets / dataset / "train",
                          "--classes", classes, "--images", "20", "--width", "160", "--height", "120")  # fmt: skip
        (self.node / "var/lib").mkdir(parents=True)
        manifests.run("install", "-d", "-o", "65532", "-g", "65532", self.node / "var/lib/stoker")
        self.store = ObjectStore(datasets)
        issuer = Issuer()
        self.made = manifests.by_hand(kubectl, issuer.key_set())
        (folder / "token").write_text(issuer.token("system:serviceaccount:vision:trainer"))
        (folder / "ca.crt").write_bytes(held(find(self.made, "Secret", "stoker-tls"))["tls.crt"])
        self.trusts = ("--tls-ca", folder / "ca.crt", "--tls-name", "stoker")
        self.proves = ("--token-file", folder / "token")

    def render(self, overlay: str) -> list[Object]:
        return manifests.render(self.kubectl, manifests.MANIFESTS / "overlays" / overlay)

    def service_of(self, objects: list[Object]) -> str:
        return f"stoker.{manifests.workload_of(objects)['metadata']['namespace']}.svc.cluster.local"

    def start(self, objects: list[Object]) -> Pod:
        more = {"AWS_ENDPOINT_URL_S3": self.store.endpoint}
        return Pod(self.folder, self.programs / "stokerd", objects, self.made, self.node, more)

    def job(self, service: str, dataset: str, *more: object) -> Job:
        return Job(self.programs, service, dataset, *more)

    def digest_without_pods(self, *arguments: object, read: tuple[str, ...] = ()) -> str:
        """Of a stokerd with these arguments on this host, to which `read` goes."""
        serve = ["serve", "--listen", "127.0.0.1:0", "--cache-dir", self.folder / "cache"]
        server = subprocess.Popen(
            [self.programs / "stokerd", *serve, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            address = server.stdout.readline().split()[-1]
            command = [self.programs / "stoker", "digest", "--servers", address, *read]
            return manifests.run(*command, timeout=120).strip()
        finally:
            server.kill()
            server.wait()
