#!/usr/bin/env python3
"""Each overlay with each set of components is rendered, validated, and held to what its objects say of each other."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import kubernetes_validate
import yaml

import manifests
from manifests import MANIFESTS, find, name_of, pod_of, workload_of

# The oldest whose pods can sleep before they stop, and the newest whose schemas there are.
VERSIONS = ("1.30", "1.37")
WITHOUT_SCHEMA = {"Certificate", "PodMonitor", "ScaledObject"}


_valid: set[str] = set()  # Objects that need not be looked at again.


def validate(objects: list, unvalidated: set[str]) -> None:
    """Adds kinds without a schema to `unvalidated`."""
    for thing in objects:
        text = repr(thing)
        if text in _valid:
            continue
        _valid.add(text)
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(thing, version, strict=True)
            except kubernetes_validate.SchemaNotFoundError:
                unvalidated.add(thing["kind"])
            except kubernetes_validate.ValidationError as error:
                _valid.remove(text)
                path = ".".join(map(str, error.path))
                raise AssertionError(f"{name_of(thing)} in Kubernetes {version}: {path}: {error.message}") from None


def check_that_errors_are_found(objects: list, made: list) -> None:
    """Each change of a good rendering is found."""

    def spec(everything):
        return pod_of(everything)["spec"]

    def container(everything):
        return spec(everything)["containers"][0]

    def volume(everything, name):
        return next(volume for volume in spec(everything)["volumes"] if volume["name"] == name)

    def config(old, new):
        def change(everything):
            held = find(everything, "ConfigMap", volume(everything, "config")["configMap"]["name"])
            assert old in held["data"]["stokerd.yaml"]
            held["data"]["stokerd.yaml"] = held["data"]["stokerd.yaml"].replace(old, new)

        return change

    changes = {
        "there is no ConfigMap": lambda all: volume(all, "issuer")["configMap"].update(name="stoker"),
        "there is no Secret": lambda all: volume(all, "tls")["secret"].update(secretName="tls"),
        "nobody is told of": lambda all: container(all)["envFrom"][0]["secretRef"].update(name="s3"),
        "there is no ServiceAccount": lambda all: spec(all).update(serviceAccountName="other"),
        "is not both declared": lambda all: container(all)["volumeMounts"].pop(),
        "there is no port": lambda all: find(all, "Service", "stoker")["spec"]["ports"][0].update(targetPort="rpc"),
        "livenessProbe: there is no port": lambda all: container(all)["livenessProbe"]["httpGet"].update(port=7079),
        "Service/stoker selects no pod": lambda all: find(all, "Service", "stoker")["spec"]["selector"].update(a="b"),
        "topologySpreadConstraints selects": lambda all: pod_of(all)["metadata"]["labels"].clear(),
        "scales nothing": lambda all: workload_of(all)["metadata"].update(name="other"),
        "has not the token": lambda all: find(all, "PodMonitor", "stoker")["spec"]["podMetricsEndpoints"][0][
            "authorization"
        ]["credentials"].update(key="other"),
        "several namespaces": lambda all: all[0]["metadata"].update(namespace="other"),
        "the server listens on": config("0.0.0.0:7078", "0.0.0.0:7079"),
        "jwks.json is not in the pod": config("issuer/jwks.json", "issuers/jwks.json"),
        "stokerd.yaml is not in the pod": lambda all: container(all)["args"].append("/etc/stoker/stokerd.yaml"),
        "s to end, and takes 70 s": config("drain_seconds: 30", "drain_seconds: 60"),
        "cannot be written": config("path: /var/cache/stoker-raw/", "path: /var/lib/raw/"),
        "has no room beyond": config("size: 200GiB", "size: 2TiB"),
        "more than the pod's ephemeral": lambda all: volume(all, "raw")["emptyDir"].update(sizeLimit="229Gi"),
        "more than half of memory_limit": config("span_cache: 8GiB", "span_cache: 80GiB"),
        "may run as root": lambda all: spec(all)["securityContext"].update(runAsUser=0),
        "has privileges": lambda all: container(all)["securityContext"].update(capabilities={"drop": ["CHOWN"]}),
        "root can be written": lambda all: container(all)["securityContext"].update(readOnlyRootFilesystem=False),
        "token of the cluster": lambda all: spec(all).update(automountServiceAccountToken=True),
    }
    for expected, change in changes.items():
        found = manifests.wrong(manifests.changed(objects, change), made)
        assert any(expected in sentence for sentence in found), f"not found: {expected}; found: {found}"
    for kind in VERSIONS:
        broken = manifests.changed(objects, lambda all: container(all)["lifecycle"]["preStop"].update(slep={}))
        try:
            validate(broken, set())
        except AssertionError:
            continue
        raise AssertionError(f"the schema of {kind} takes what there is not")


def check_queries(folder: Path) -> None:
    """The autoscalers' queries, on series of two pods: one job waits all the time, and 12 of 16 workers work."""
    promtool = shutil.which("promtool")
    assert promtool, "there is no promtool: ./dev setup installs it"
    adapter = yaml.safe_load((MANIFESTS / "components/hpa/prometheus-adapter.yaml").read_text())["rules"]["custom"][0]
    series = adapter["seriesQuery"].partition("{")[0]
    query = adapter["metricsQuery"].replace("<<.Series>>", series).replace("<<.LabelMatchers>>", 'namespace="stoker"')
    queries = {"adapter": query.replace("<<.GroupBy>>", "pod")}
    (scaled,) = manifests.objects_of((MANIFESTS / "components/keda/scaledobject.yaml").read_text())
    wait, busy = (trigger["metadata"]["query"] for trigger in scaled["spec"]["triggers"])
    queries |= {"wait": wait, "busy": busy}
    rules = [{"record": f"stoker_test:{name}", "expr": query} for name, query in queries.items()]
    (folder / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "test", "rules": rules}]}))

    def of(metric, pod, values, namespace="stoker"):
        dataset = ',dataset="photos"' if "wait" in metric else ""
        return {"series": f'{metric}{{namespace="{namespace}",pod="{pod}"{dataset}}}', "values": values}

    def samples(name, *values):
        return {
            "expr": f"stoker_test:{name}",
            "eval_time": "10m",
            "exp_samples": [{"labels": f"stoker_test:{name}{labels}", "value": value} for labels, value in values],
        }

    test = {
        "interval": "15s",
        "input_series": [
            of("stoker_client_wait_seconds_total", "a", "0+11.25x60"),
            of("stoker_client_wait_seconds_total", "b", "0+3.75x60"),
            of("stoker_client_wait_seconds_total", "b", "0+99x60", "elsewhere"),
            of("stoker_worker_busy_seconds_total", "a", "0+120x60"),  # Eight of eight workers.
            of("stoker_worker_busy_seconds_total", "b", "0+60x60"),
            of("stoker_workers", "a", "8+0x60"),
            of("stoker_workers", "b", "8+0x60"),
        ],
        "promql_expr_test": [
            samples("adapter", ('{pod="a"}', 0.75), ('{pod="b"}', 0.25)),
            samples("wait", ("{}", 1)),
            samples("busy", ("{}", 1.5)),
        ],
    }
    (folder / "test.yaml").write_text(
        yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "15s", "tests": [test]})
    )
    done = subprocess.run([promtool, "test", "rules", "test.yaml"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def check_pod_templates(old: Path) -> None:
    """The Deployment's pods and the DaemonSet's differ in where they are and in the index's volume alone."""
    deployed, daemon = (
        pod_of(manifests.render(old, MANIFESTS / "base" / name)) for name in ("deployment", "daemonset")
    )
    del deployed["spec"]["topologySpreadConstraints"]
    for template in (deployed, daemon):
        template["spec"]["volumes"] = [volume for volume in template["spec"]["volumes"] if volume["name"] != "cache"]
        for sizes in template["spec"]["containers"][0]["resources"].values():
            sizes.pop("ephemeral-storage", None)
    for template in (deployed, daemon):
        for volume in template["spec"]["volumes"]:
            volume.get("configMap", {}).pop("name", None)
    assert deployed == daemon, "the pods of base/deployment and base/daemonset are no longer alike"


def check_site_of_page(old: Path, folder: Path, made: list) -> None:
    """The kustomization that the page shows renders, and has what the page says."""
    text = re.search(r"```yaml\n# kustomization.yaml\n(.*?)```", manifests.PAGE.read_text(), re.DOTALL)[1]
    shutil.copytree(MANIFESTS, folder / "site/stoker/deploy/kubernetes")
    (folder / "site/kustomization.yaml").write_text(text)
    shutil.copy(MANIFESTS / "overlays/production/stokerd.yaml", folder / "site")
    objects = manifests.render(old, folder / "site")
    found = manifests.wrong(objects, made)
    assert not found, found
    assert pod_of(objects)["spec"]["containers"][0]["image"] == "registry.example.com/stokerd:0.1.0"
    assert {"Certificate", "PodMonitor", "HorizontalPodAutoscaler"} <= {thing["kind"] for thing in objects}


def main() -> None:
    old = manifests.debians_kubectl()
    assert 'Minor:"20"' in manifests.run(old, "version", "--client"), "this is not the kubectl of Debian 12"
    made = manifests.by_hand(old)
    validate(made, set())
    assert sorted(map(name_of, made)) == [
        "ConfigMap/stoker-issuer", "Namespace/stoker", "Secret/stoker-admin", "Secret/stoker-s3", "Secret/stoker-tls",
    ]  # fmt: skip
    unvalidated: set[str] = set()
    count = 0
    with tempfile.TemporaryDirectory() as name, manifests.copied() as folder:
        new, _ = manifests.current_tools()
        for overlay, components in manifests.combinations():
            kustomization = manifests.site(folder, overlay, components)
            objects = manifests.render(old, kustomization)
            validate(objects, unvalidated)
            found = manifests.wrong(objects, made)
            assert not found, f"{overlay} {components}: {found}"
            again = manifests.render(new, kustomization)
            assert manifests.comparable(objects) == manifests.comparable(again), (overlay, components)
            count += 1
            if (overlay, components) == ("production", ("cert-manager", "pod-monitor", "hpa")):
                check_that_errors_are_found([*objects], made)
        check_queries(Path(name))
        check_site_of_page(old, Path(name), made)
    check_pod_templates(old)
    assert unvalidated == WITHOUT_SCHEMA, unvalidated
    print(f"{count} renderings are valid in Kubernetes {' and '.join(VERSIONS)}.")
    print(f"Not validated, since there is no schema: {', '.join(sorted(unvalidated))}")


if __name__ == "__main__":
    main()
