#!/usr/bin/python3
"""stand_in_for_cuda.py SITE_PACKAGES: lets PyPI's torch be imported, for the CPU, without NVIDIA's 3 GB of libraries.

That torch is linked with CUDA's libraries, so that none of it loads where they are missing. This puts libraries of the
same names beside it, which have the functions that it asks for. Each of them returns cudaErrorNoDevice (100), so torch
finds no GPU. Needs a C compiler and binutils.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

NVIDIA = re.compile(r"lib(cu|nv|nccl)")
# Where a symbol has no version that names its library: the beginning of its name, and of the library's.
FAMILIES = {
    "nccl": "libnccl",
    "nvshmem": "libnvshmem_host",
    "cudnn": "libcudnn",
    "cuFile": "libcufile",
    "cusparseLt": "libcusparseLt",
    "cu": "libcuda",
}


def read(*command: str | Path) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def needed(library: Path) -> list[str]:
    return [match[1] for line in read("readelf", "-dW", library) if (match := re.search(r"NEEDED.*\[(.*)\]", line))]


def homes_of(library: Path) -> dict[str, str]:
    """Versions of symbols that `library` asks for, and which library has them."""
    found, file = {}, ""
    for line in read("readelf", "-VW", library):
        if match := re.search(r"File: (\S+)", line):
            file = match[1]
        elif match := re.search(r"Name: (\S+) +Flags", line):
            found[match[1]] = file
    return found


def home(name: str, version: str, homes: dict[str, str], missing: set[str]) -> str | None:
    """Which of the `missing` libraries the symbol `name` is of, if any."""
    if version:
        return homes.get(version)
    family = next((library for prefix, library in FAMILIES.items() if name.startswith(prefix)), None)
    return next((file for file in missing if family and file.split(".")[0] == family), None)


def make(path: Path, symbols: dict[str, str]) -> None:
    source = "".join(f"long {name}(void) {{ return 100; }}\n" for name in symbols)
    command = ["cc", "-shared", "-fPIC", "-w", "-fno-builtin", "-x", "c", "-", "-o", path, f"-Wl,-soname,{path.name}"]
    script = path.parent.parent / "versions.map"
    if versions := sorted({*symbols.values()} - {""}):
        names = {version: "; ".join(name for name in symbols if symbols[name] == version) for version in versions}
        script.write_text("".join(f"{version} {{ global: {names[version]}; }};\n" for version in versions))
        command.append(f"-Wl,--version-script={script}")
    subprocess.run(command, input=source, text=True, check=True)
    script.unlink(missing_ok=True)


def main() -> None:
    site = Path(sys.argv[1])
    folder = site / "torch" / "lib"
    libraries = [*folder.glob("*.so*"), *site.glob("torchvision/*.so")]
    present = {library.name for library in libraries}
    missing = {name for library in libraries for name in needed(library) if NVIDIA.match(name)} - present
    symbols: dict[str, dict[str, str]] = {name: {} for name in missing}
    for library in libraries:
        homes = {version: file for version, file in homes_of(library).items() if file in missing}
        for line in read("nm", "-D", "--undefined-only", library):
            name, _, version = line.split()[-1].partition("@")
            if file := home(name, version, homes, missing):
                symbols[file][name] = version
    for name, wanted in symbols.items():
        make(folder / name, wanted)


if __name__ == "__main__":
    main()
