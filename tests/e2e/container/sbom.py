"""sbom.py ROOT: the bill of materials of an image's root is valid SPDX 2.3, as spdx-tools has it, and lists each file
and package that is there. A scanner, Syft, finds the same packages by dpkg's records. run.sh runs this where both are.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

from spdx_tools.spdx.model import RelationshipType
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

SBOM = "usr/share/doc/stoker/sbom.spdx.json"


def check_document(root):
    document = parse_file(str(root / SBOM))
    problems = validate_full_spdx_document(document, "SPDX-2.3")
    assert not problems, "\n".join(problem.validation_message for problem in problems[:10])
    listed = {file.name: {one.algorithm.name: one.value for one in file.checksums} for file in document.files}
    there = {
        f"./{path.relative_to(root)}": path for path in root.rglob("*") if path.is_file() and not path.is_symlink()
    }
    del there[f"./{SBOM}"]
    assert listed.keys() == there.keys(), sorted(listed.keys() ^ there.keys())
    for name, path in there.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == listed[name]["SHA256"], name
    # Each file is of one package.
    contained = [one for one in document.relationships if one.relationship_type == RelationshipType.CONTAINS]
    files = {file.spdx_id for file in document.files}
    assert sorted(one.related_spdx_element_id for one in contained if one.related_spdx_element_id in files) == sorted(
        files
    )
    return document


def check_packages(document):
    packages = {package.spdx_id.removeprefix("SPDXRef-"): package for package in document.packages}
    assert {
        "Image",
        "Stoker",
        "Grpc",
        "Debian-libc6",
        "Debian-ca-certificates",
        "Compiled-nlohmann-json3-dev",
    } <= packages.keys()
    debian = {one.name: one for id, one in packages.items() if id.startswith("Debian-")}
    for package in debian.values():
        (reference,) = package.external_references
        assert reference.locator.startswith(f"pkg:deb/debian/{package.name}@"), reference
    licensed = [
        one for one in debian.values() if "LicenseRef" in str(one.license_declared) or "-" in str(one.license_declared)
    ]
    assert len(licensed) > len(debian) / 2, "most copyright files can be read"
    assert "GPL-2.0" in str(debian["libpng16-16"].license_declared) or "Libpng" in str(
        debian["libpng16-16"].license_declared
    )
    return {(one.name, one.version) for one in debian.values()}


def check_by_syft(root, packages):
    syft = Path(sys.executable).parent / "syft"
    command = [syft, "scan", f"dir:{root}", "--quiet", "--output", "syft-json"]
    found = json.loads(
        subprocess.run(command, check=True, capture_output=True, env={"SYFT_CHECK_FOR_APP_UPDATE": "false"}).stdout
    )
    assert found["distro"]["id"] == "debian" and found["distro"]["versionID"] == "12"
    debian = {(one["name"], one["version"]) for one in found["artifacts"] if one["type"] == "deb"}
    assert debian == packages, sorted(debian ^ packages)


def main():
    root = Path(sys.argv[1])
    document = check_document(root)
    packages = check_packages(document)
    check_by_syft(root, packages)
    print(f"sbom.py: valid, and as Syft has it: {len(packages)} packages of Debian's, {len(document.files)} files")


if __name__ == "__main__":
    main()
