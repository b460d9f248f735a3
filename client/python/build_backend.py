"""What pip calls to build the package from source (PEP 517): `pip wheel client/python`, `pip install client/python`.

The wheel contains libstoker.so. It is the first of these:

1. the file that STOKER_LIBRARY in the environment names, or `--config-settings library=FILE`;
2. the one that CMake builds of the sources: in a checkout of Stoker in build/release, by the preset release; in a source
   distribution, which has the client's sources in its folder `source`, there in build; or in the folder of
   `--config-settings build-dir=FOLDER`. That takes some minutes the first time, and needs what `./dev setup --for client`
   installs on Debian 12.

Errors say what is missing.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

import build_wheel as wheels

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE / "source" if (_HERE / "source").is_dir() else _HERE.parents[1]  # Of the C++ sources.

# The C++ sources that a source distribution has beside the package.
_SOURCES = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "NOTICE", "dev", "cmake", "proto", "common", "client")

_SETUP = f"{_ROOT}/dev setup --for client"

Settings = Optional[dict[str, Any]]


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return []


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    """Writes what the wheel will say of itself, without its library."""
    about = wheels.project()
    info = Path(metadata_directory) / f"{about['name']}-{about['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_bytes(wheels.metadata())
    return info.name


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None
) -> str:
    """Writes the wheel and gives its name."""
    return wheels.write_wheel(_library(config_settings or {}), Path(wheel_directory)).name


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Writes the sources of the Python package, and those of libstoker.so."""
    about = wheels.project()
    stem = f"{about['name']}-{about['version']}"
    files = {"PKG-INFO": wheels.metadata(), **wheels.package_files(), **wheels.licenses()}
    for name in ("pyproject.toml", "README.md", "build_backend.py", "build_wheel.py"):
        files[name] = (_HERE / name).read_bytes()
    files.update((f"source/{path}", content) for path, content in _sources())
    with tarfile.open(Path(sdist_directory) / f"{stem}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{stem}/{name}")
            entry.size = len(content)
            entry.mode = 0o755 if content.startswith(b"#!") else 0o644
            archive.addfile(entry, io.BytesIO(content))
    return f"{stem}.tar.gz"


def _sources() -> Iterator[tuple[str, bytes]]:
    _check_sources()
    for name in _SOURCES:
        top = _ROOT / name
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            relative = path.relative_to(_ROOT).as_posix()
            if path.is_file() and "__pycache__" not in relative and not relative.startswith("client/python/"):
                yield relative, path.read_bytes()


# ---- libstoker.so ----


def _check_sources() -> None:
    if not (_ROOT / "client/capi/stoker.h").is_file():
        raise SystemExit(
            "the sources of libstoker.so are not here: run pip in a checkout of Stoker (pip wheel client/python) or on its "
            "source distribution, or set STOKER_LIBRARY to a libstoker.so that you built"
        )


def _library(settings: dict[str, Any]) -> Path:
    chosen = settings.get("library") or os.environ.get("STOKER_LIBRARY")
    if chosen:
        if not Path(chosen).is_file():
            raise SystemExit(f"there is no file {chosen}, which STOKER_LIBRARY names as the libstoker.so for the wheel")
        return Path(chosen)
    _check_sources()
    return _built(Path(settings.get("build-dir") or _ROOT / "build/release"))


def _built(folder: Path) -> Path:
    """The library of the build tree `folder`, configured and built as far as it is not."""
    missing = [program for program in ("cmake", "ninja", "c++") if shutil.which(program) is None]
    if missing:
        raise SystemExit(
            f"to build libstoker.so, {', '.join(missing)} must be installed: on Debian 12 `{_SETUP}` "
            "installs all that is needed. Or set STOKER_LIBRARY to a libstoker.so that you built"
        )
    if not (folder / "CMakeCache.txt").is_file():
        _configure(folder)
    _run("cmake", "--build", folder, "--target", "stoker_capi")
    library = folder / "lib/libstoker.so"
    if not library.is_file():
        raise SystemExit(f"{folder} was built, but has no lib/libstoker.so: is it a build tree of Stoker?")
    return library


def _configure(folder: Path) -> None:
    # With these libraries the wheel runs on other machines too; without them, on machines that have Debian 12's gRPC.
    static = subprocess.run([_ROOT / "cmake/build_pic_libraries.sh"], stdout=sys.stderr)
    if static.returncode != 0:
        print("no static libraries: the wheel will need this machine's shared ones", file=sys.stderr)
    if folder == _ROOT / "build/release" and (_ROOT / "server").is_dir():
        _run("cmake", "--preset", "release")
    else:
        _run(
            *("cmake", "-S", _ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"),
            f"-DSTOKER_BUILD_SERVER={'ON' if (_ROOT / 'server').is_dir() else 'OFF'}",
        )


def _run(*command: Any) -> None:
    if subprocess.run([*map(str, command)], cwd=_ROOT, stdout=sys.stderr).returncode != 0:
        raise SystemExit(
            f"`{' '.join(map(str, command))}` failed, its output is above. On Debian 12 `{_SETUP}` "
            "installs the packages that it needs. Or set STOKER_LIBRARY to a libstoker.so that you built"
        )
