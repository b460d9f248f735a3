#!/usr/bin/env python3
"""image_root.py [--without-opencv] BUILD ROOT: the root of an image of stokerd and what it needs.

BUILD is a build of the preset release on Debian, and ROOT a folder, made here. It gets stokerd and its parts, the
shared libraries that these load, found by ldd, certificate authorities, a user, dpkg's records of the packages that
files are of, their copyright files, and an SPDX document of it all. There is no shell and no other program.

Files and folders get the time SOURCE_DATE_EPOCH, if that is set. Then two runs over equal builds make equal roots.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dpkg
import spdx

SOURCE = Path(__file__).resolve().parents[2]
USER = 65532
TARGETS = ["stokerd", "stoker-audio", "stoker-hdf5", "stoker-parquet", "stoker-opencv"]
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
RECORDS = "/var/lib/dpkg/status.d"  # where scanners look in images without a package manager
SBOM = "/usr/share/doc/stoker/sbom.spdx.json"


class Root:
    """A root in the making. Knows whose each of its files is."""

    def __init__(self, folder):
        self.folder = folder
        self.owners = {}  # (kind, name) by path in the image; a kind is "debian", "stoker", "grpc", "arrow"
        for path in ("dev", "etc/stoker", "proc", "run", "sys", "tmp", "usr/lib", "var/cache/stoker", RECORDS[1:]):
            (folder / path).mkdir(parents=True)
        for name in ("lib", "lib64"):
            if Path("/", name).is_symlink():
                (folder / os.readlink(f"/{name}")).mkdir(parents=True, exist_ok=True)
                (folder / name).symlink_to(os.readlink(f"/{name}"))

    def place(self, path, owner):
        """The file of ROOT that `path` will be."""
        self.owners[path] = owner
        file = self.folder / path[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        return file

    def write(self, path, text, owner=("stoker", "")):
        self.place(path, owner).write_text(text, encoding="utf-8")

    def copy(self, source, path, owner, mode=0o644):
        file = self.place(path, owner)
        shutil.copyfile(source, file)
        file.chmod(mode)

    def has(self, path):
        return os.path.lexists(self.folder / path[1:])

    def link(self, path, target):
        file = self.folder / path[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(os.path.relpath(target, os.path.dirname(path)))


def run(*command, **options):
    return subprocess.run(
        [str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, **options
    ).stdout


def cached(build, name):
    """The value that BUILD's CMake has for a name."""
    found = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(encoding="utf-8"), re.M)
    return found[1] if found else ""


def install_stoker(build, root, opencv):
    """Installs programs and modules, and Arrow's libraries beside them."""
    with tempfile.TemporaryDirectory() as prefix:
        for component in ["server", "parquet", "hdf5", "audio", *(["opencv"] if opencv else [])]:
            run("cmake", "--install", build, "--prefix", prefix, "--component", component)
        for file in sorted([Path(prefix, "bin/stokerd"), *Path(prefix, "lib/stoker").glob("*")]):
            owner = ("arrow", "") if re.match(r"lib(arrow|parquet)\.so", file.name) else ("stoker", "")
            mode = 0o644 if ".so" in file.name else 0o755
            root.copy(file, f"/usr/{file.relative_to(prefix)}", owner, mode)
    for name in ("LICENSE", "NOTICE"):
        root.copy(SOURCE / name, f"/usr/share/doc/stoker/{name}", ("stoker", ""))
    root.copy(SOURCE / "deploy/container/stokerd.yaml", "/etc/stoker/stokerd.yaml", ("stoker", ""))


def needed_libraries(programs):
    """The shared libraries that programs load, where this machine has them."""
    found = set()
    for program in programs:
        text = run("ldd", program, env=os.environ | {"LC_ALL": "C"})
        if "not found" in text:
            raise SystemExit(f"{program} lacks libraries:\n{text}")
        found |= set(re.findall(r"(/\S+) \(0x", text))
    return sorted(found)


def add_libraries(build, root, opencv):
    """Copies what ldd finds. A library stays in the folder that it is in, and links lead to it by the name that the
    loader looks for. Those that no package of Debian's has are gRPC's core with the fixes of cmake/grpc, and Arrow."""
    parts = [build / "lib/stoker" / path.name for path in (root.folder / "usr/lib/stoker").glob("stoker-*")]
    libraries = needed_libraries([build / "bin/stokerd", *parts])
    libc = next(path for path in libraries if path.endswith("/libc.so.6"))
    files = {path: os.path.realpath(path) for path in libraries}
    owners = dpkg.owners(set(files.values()))
    for path, file in files.items():
        if file in owners:
            if not root.has(file):
                root.copy(file, file, ("debian", owners[file]), 0o755 if os.access(file, os.X_OK) else 0o644)
            if dpkg.real(path) != file and not root.has(dpkg.real(path)):
                root.link(dpkg.real(path), file)
        elif os.path.basename(file).startswith("libgrpc.so"):
            root.copy(file, f"{dpkg.real_folder(os.path.dirname(libc))}/{os.path.basename(path)}", ("grpc", ""))
        elif not (root.folder / "usr/lib/stoker" / os.path.basename(file)).exists():
            raise SystemExit(f"no package has {file}, and it is none that this script knows")


def add_system_files(root):
    """Adds what glibc and libcurl read, and scanners."""
    root.write("/etc/passwd", f"root:x:0:0:root:/:\nstoker:x:{USER}:{USER}:stokerd:/var/cache/stoker:\n")
    root.write("/etc/group", f"root:x:0:\nstoker:x:{USER}:\n")
    root.write("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")
    root.copy("/usr/lib/os-release", "/usr/lib/os-release", ("debian", "base-files"))
    root.link("/etc/os-release", "/usr/lib/os-release")
    # Those that the package has, and not what was added to this machine.
    authorities = sorted(path for path in dpkg.package("ca-certificates").md5s if path.endswith(".crt"))
    root.write(
        BUNDLE, "".join(Path(path).read_text(encoding="ascii") for path in authorities), ("debian", "ca-certificates")
    )
    for file in sorted(Path("/usr/share/common-licenses").iterdir()):
        root.copy(file, str(file), ("debian", "base-files"))
    # Engines let users choose another user, and copying from one stage to another forgets owners.
    for path in ("tmp", "var/cache/stoker"):
        (root.folder / path).chmod(0o1777)


def packages_of(root):
    dpkg.load(name for kind, name in root.owners.values() if kind == "debian")
    return {dpkg.package(name).name: dpkg.package(name) for kind, name in root.owners.values() if kind == "debian"}


def add_records(root):
    """Adds dpkg's record of each package, the MD5s of those of its files that are here, and its copyright file."""
    packages = packages_of(root)
    paths = [
        (dpkg.package(name), path) for path, (kind, name) in root.owners.items() if kind == "debian" and path != BUNDLE
    ]
    dpkg.check_unchanged(paths)
    for name, package in sorted(packages.items()):
        root.copy(f"/usr/share/doc/{name}/copyright", f"/usr/share/doc/{name}/copyright", ("debian", name))
        here = [f"{md5}  {path[1:]}\n" for path, md5 in sorted(package.md5s.items()) if path in root.owners]
        root.write(f"{RECORDS}/{name}", package.record, ("debian", name))
        root.write(f"{RECORDS}/{name}.md5sums", "".join(here), ("debian", name))


def compiled_in(build, targets):
    """The packages whose headers and static libraries are in the programs."""
    inputs = run("ninja", "-C", build, "-t", "inputs", *targets).splitlines()
    objects = [path for path in inputs if path.endswith(".o")]
    lines = run("ninja", "-C", build, "-t", "deps", *objects).splitlines()
    read = {line.strip() for line in lines if line.startswith("    ")} | {
        path for path in inputs if path.endswith(".a")
    }
    owners = dpkg.owners({dpkg.real(os.path.normpath(path)) for path in read if path.startswith("/usr/")})
    dpkg.load(owners.values())
    return {dpkg.package(name).name: dpkg.package(name) for name in owners.values()}


def bill(build, root, targets, epoch):
    """The SPDX document of what is in the root."""
    version = cached(build, "CMAKE_PROJECT_VERSION")
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', Path("/usr/lib/os-release").read_text(encoding="utf-8"), re.M))
    distribution = release["ID"], release.get("VERSION_ID", "")
    document = spdx.Document(f"stoker-image-{version}", epoch)
    document.add_package("Image", "stoker-image", versionInfo=version, primaryPackagePurpose="CONTAINER")
    document.relate("DOCUMENT", "DESCRIBES", "Image")

    def files_of(kind, name=None):
        for path, owner in root.owners.items():
            if owner[0] == kind and (name is None or dpkg.package(owner[1]).name == name):
                yield path, (root.folder / path[1:]).read_bytes()

    document.add_package(
        "Stoker",
        "stoker",
        files_of("stoker"),
        versionInfo=version,
        licenseDeclared="Apache-2.0",
        primaryPackagePurpose="APPLICATION",
    )
    grpc = [*files_of("grpc")]
    if grpc:
        library = dpkg.package("libgrpc-dev")
        document.add_package(
            "Grpc",
            "grpc-core-with-fixes",
            grpc,
            versionInfo=library.version,
            licenseDeclared=dpkg.license_of(library)[0] or "NOASSERTION",
            sourceInfo=f"built from the source package {library.source} {library.source_version} and Stoker's patches",
        )
        document.licenses |= dpkg.license_of(library)[1]
    arrow = [*files_of("arrow")]
    if arrow:
        version = re.search(r"^version=(.*)$", (SOURCE / "cmake/get_arrow.sh").read_text(encoding="utf-8"), re.M)[1]
        purl = spdx.reference(f"pkg:pypi/pyarrow@{version}")
        document.add_package(
            "Arrow", "pyarrow", arrow, versionInfo=version, licenseDeclared="Apache-2.0", externalRefs=[purl]
        )
    for name, package in sorted(packages_of(root).items()):
        document.add_debian(f"Debian-{spdx.id_of(name)}", package, files_of("debian", name), distribution)
    for one in list(document.packages)[1:]:
        document.relate("Image", "CONTAINS", one["SPDXID"].removeprefix("SPDXRef-"))
    for name, package in sorted(compiled_in(build, targets).items()):
        id = f"Compiled-{spdx.id_of(name)}"
        document.add_debian(id, package, (), distribution)
        document.relate(id, "BUILD_DEPENDENCY_OF", "Stoker")
    return document.text()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--without-opencv", action="store_true", help="BMP, PNM and TIFF files are refused; saves much")
    parser.add_argument("build", type=Path)
    parser.add_argument("root", type=Path)
    arguments = parser.parse_args()
    os.umask(0o022)
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    build, opencv = arguments.build.resolve(), not arguments.without_opencv
    root = Root(arguments.root)
    install_stoker(build, root, opencv)
    add_libraries(build, root, opencv)
    add_system_files(root)
    if ("arrow", "") in root.owners.values():
        for file in sorted(Path(run(SOURCE / "cmake/get_arrow.sh", "--where").strip()).glob("*.txt")):
            root.copy(file, f"/usr/share/doc/arrow/{file.name}", ("arrow", ""))
    add_records(root)
    targets = [name for name in TARGETS if name == "stokerd" or any((root.folder / "usr/lib/stoker").glob(f"{name}*"))]
    sbom = bill(build, root, targets, epoch)
    root.write(SBOM, sbom)
    for path in [*root.folder.rglob("*"), root.folder]:
        os.utime(path, (epoch, epoch), follow_symlinks=False)
    print(f"{len(root.owners)} files of {len(packages_of(root))} packages in {root.folder}")


if __name__ == "__main__":
    sys.exit(main())
