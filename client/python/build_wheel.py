#!/usr/bin/env python3
"""build_wheel.py LIBRARY FOLDER: writes the wheel of the package stoker, with LIBRARY, a libstoker.so, inside.

Prints the wheel's path. One wheel serves every Python >= 3.9. Equal inputs give equal bytes. The program needs Python
3.11, or tomli beside an older one, and no network. The wheel's tag says what the library itself needs: manylinux_2_N
where it needs only glibc 2.N, linux where it needs other libraries of the machine that built it.

build_backend.py has what pip calls: `pip wheel client/python`.
"""

from __future__ import annotations

import base64
import hashlib
import stat
import struct
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10 and older.
    import tomli as tomllib

_HERE = Path(__file__).resolve().parent
_EPOCH = (1980, 1, 1, 0, 0, 0)  # The earliest that a zip file knows.

# What every Linux with glibc has, by the manylinux policies. They allow libstdc++ too, up to a version; not so here.
_SYSTEM = {
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "libgcc_s.so.1",
}  # fmt: skip

# The glibc 2.N that manylinux policies are named after. pip takes any N, but who looks at wheels by their names knows these.
_POLICIES = (17, 24, 26, 27, 28, 31, 34, 35)


class Elf:
    """What a shared library needs: its dynamic section, of 64-bit little-endian ELF."""

    def __init__(self, data: bytes) -> None:
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("no 64-bit little-endian ELF file")
        self._data = data
        (offset,) = struct.unpack_from("<Q", data, 40)
        size, count = struct.unpack_from("<HH", data, 58)
        self._sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + size * at) for at in range(count)]

    def _string(self, table: int, at: int) -> str:
        start = self._sections[table][4] + at
        return self._data[start : self._data.index(b"\0", start)].decode()

    def _of_type(self, kind: int) -> Iterator[tuple[int, int, int, int]]:
        for _, section_kind, _, _, offset, size, link, info, _, _ in self._sections:
            if section_kind == kind:
                yield offset, size, link, info

    def needed(self) -> set[str]:
        """The libraries that it links (DT_NEEDED)."""
        found = set()
        for offset, size, strings, _ in self._of_type(6):  # SHT_DYNAMIC
            for at in range(offset, offset + size, 16):
                tag, value = struct.unpack_from("<QQ", self._data, at)
                if tag == 1:
                    found.add(self._string(strings, value))
        return found

    def versions(self) -> set[str]:
        """The symbol versions that it needs: "GLIBC_2.34"."""
        found = set()
        for offset, _, strings, count in self._of_type(0x6FFFFFFE):  # SHT_GNU_verneed
            for _ in range(count):
                _, symbols, _, first, following = struct.unpack_from("<HHIII", self._data, offset)
                at = offset + first
                for _ in range(symbols):
                    _, _, _, name, step = struct.unpack_from("<IHHII", self._data, at)
                    found.add(self._string(strings, name))
                    at += step
                offset += following
        return found


def platform_of(library: bytes) -> str:
    """The platform tag for a library."""
    elf = Elf(library)
    if elf.needed() - _SYSTEM:
        return "linux_x86_64"
    needed = max(int(version.split(".")[1]) for version in elf.versions() | {"GLIBC_2.0"} if "GLIBC_2." in version)
    return f"manylinux_2_{next((policy for policy in _POLICIES if policy >= needed), needed)}_x86_64"


def project() -> dict[str, Any]:
    """The table [project] of pyproject.toml."""
    return tomllib.loads((_HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def licenses() -> dict[str, bytes]:
    """The license files by their names: those of the checkout, or those that a source distribution brings along."""
    folder = _HERE if (_HERE / "LICENSE").is_file() else _HERE.parents[1]
    return {name: (folder / name).read_bytes() for name in ("LICENSE", "NOTICE") if (folder / name).is_file()}


def metadata() -> bytes:
    """The file METADATA, in version 2.4 of its format (PEP 639)."""
    about = project()
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {about['name']}",
        f"Version: {about['version']}",
        f"Summary: {about['description']}",
        f"Author: {', '.join(author['name'] for author in about['authors'])}",
        f"Keywords: {','.join(about['keywords'])}",
        f"License-Expression: {about['license']}",
        *(f"License-File: {name}" for name in licenses()),
        f"Requires-Python: {about['requires-python']}",
        *(f"Classifier: {classifier}" for classifier in about["classifiers"]),
        "Description-Content-Type: text/markdown",
        "",
        (_HERE / about["readme"]).read_text(encoding="utf-8"),
    ]
    return "\n".join(lines).encode()


def package_files() -> dict[str, bytes]:
    """The package's own files, by their paths in it."""
    package = _HERE / "stoker"
    return {
        f"stoker/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in package.rglob("*")
        if path.suffix == ".py" or path.name == "py.typed"
    }


def write_wheel(library: Path, folder: Path) -> Path:
    """Writes the wheel into `folder` and returns its path."""
    about = project()
    binary = library.read_bytes()
    tag = f"py3-none-{platform_of(binary)}"
    stem = f"{about['name']}-{about['version']}"
    info = f"{stem}.dist-info"
    files = package_files()
    files["stoker/libstoker.so"] = binary
    files[f"{info}/METADATA"] = metadata()
    files.update({f"{info}/licenses/{name}": text for name, text in licenses().items()})
    wheel = f"Wheel-Version: 1.0\nGenerator: build_wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files[f"{info}/WHEEL"] = wheel.encode()
    record = [f"{name},sha256={_hash(content)},{len(content)}" for name, content in sorted(files.items())]
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode()

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files, key=lambda name: (name.startswith(info), name)):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | (0o755 if name.endswith(".so") else 0o644)) << 16
            archive.writestr(entry, files[name])
    return path


def _hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    print(write_wheel(Path(sys.argv[1]), Path(sys.argv[2])))
