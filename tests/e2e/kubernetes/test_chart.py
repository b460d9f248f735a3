#!/usr/bin/env python3
"""The Helm chart, rendered by helm, is what kustomize makes of the base, the overlays and their components."""

from __future__ import annotations

import re
import subprocess

import yaml

import manifests
from manifests import MANIFESTS, Object

CHART = MANIFESTS / "chart"
COMPONENTS = {
    "cert-manager": ("--set", "certManager.enabled=true"),
    "pod-monitor": ("--set", "podMonitor.enabled=true"),
    "hpa": ("--set", "autoscaling.by=hpa"),
    "keda": ("--set", "autoscaling.by=keda"),
}


def in_one_order(value: object) -> object:
    """Lists of what has a name, such as volumes, in the order of these names."""
    if isinstance(value, dict):
        return {key: in_one_order(part) for key, part in value.items()}
    if isinstance(value, list):
        parts = [in_one_order(part) for part in value]
        named = all(isinstance(part, dict) and "name" in part for part in parts)
        return sorted(parts, key=lambda part: part["name"]) if named else parts
    return value


def of_both(objects: list[Object]) -> dict[str, Object]:
    """What the chart and kustomize agree on: neither namespaces nor what is made beforehand, a configuration as
    YAML, and no hash of it."""
    found = {}
    for thing in manifests.comparable(objects):
        if thing["kind"] in ("Namespace", "Secret"):
            continue
        thing["metadata"].pop("namespace", None)
        if thing["kind"] == "ConfigMap":
            thing["metadata"].pop("labels", None)
            thing["data"] = {name: yaml.safe_load(text) for name, text in thing["data"].items()}
        if thing["kind"] in ("Deployment", "DaemonSet"):
            annotations = thing["spec"]["template"]["metadata"].pop("annotations", {})
            assert set(annotations) <= {"checksum/config"}
        found[manifests.name_of(thing)] = in_one_order(thing)
    return found


def checksum(objects: list[Object]) -> str:
    return manifests.pod_of(objects)["metadata"]["annotations"]["checksum/config"]


def main() -> None:
    kubectl = manifests.debians_kubectl()
    made = manifests.by_hand(kubectl)
    count = 0
    _, helm = manifests.current_tools()
    with manifests.copied() as folder:

        def template(*arguments):
            return manifests.objects_of(manifests.run(helm, "template", "stoker", CHART, *arguments))

        assert of_both(template()) == of_both(manifests.render(kubectl, MANIFESTS / "base/deployment"))
        for overlay, components in manifests.combinations():
            values = CHART / "examples" / f"{overlay}.yaml"
            if not values.exists():
                assert overlay in ("blue", "green"), f"the chart has no values for {overlay}"
                continue  # They are `production` by other names.
            arguments = ["--namespace", "stoker", "--values", values]
            for component in components:
                arguments += COMPONENTS[component]
            objects = template(*arguments)
            expected = manifests.render(kubectl, manifests.site(folder, overlay, components))
            ours, theirs = of_both(objects), of_both(expected)
            assert ours.keys() == theirs.keys(), (overlay, components, ours.keys() ^ theirs.keys())
            for key in ours:
                assert ours[key] == theirs[key], f"{overlay} {components}: {key}:\n{ours[key]}\n{theirs[key]}"
            found = manifests.wrong(objects, made)
            assert not found, f"{overlay} {components}: {found}"
            count += 1
        before, after = template(), template("--set", "config=listen: 127.0.0.1:7077")
        assert checksum(before) != checksum(after), "a changed configuration replaces no pods"
        linted = subprocess.run([helm, "lint", "--strict", CHART], capture_output=True, text=True)
        assert linted.returncode == 0, linted.stdout
        version = re.search(r"project\(stoker VERSION (\S+)", (manifests.REPOSITORY / "CMakeLists.txt").read_text())[1]
        chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
        assert chart["version"] == chart["appVersion"] == version, "the chart has another version than the project"
        print(f"{count} renderings by {manifests.run(helm, 'version', '--short').strip()} are those of kustomize")


if __name__ == "__main__":
    main()
