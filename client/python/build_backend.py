"""What pip calls to build the package from source (PEP 517): `pip wheel client/python`, `pip install client/python`.

The wheel contains libstoker.so. It is the first of these:

1. the file that STOKER_LIBRARY in the environment names, or `--config-settings library=FILE`;
2. in a checkout of Stoker, the one that CMake builds here: in build/release, by the preset release, or in the folder of
   `--config-settings build-dir=FOLDER`. That takes some minutes the first time, and needs what ./dev setup installs.

Errors say what is missing.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any, Optional

import build_wheel as wheels

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]  # In a checkout.

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
    """Writes the sources of the Python package alone. To build a wheel from them needs STOKER_LIBRARY."""
    about = wheels.project()
    stem = f"{about['name']}-{about['version']}"
    files = {"PKG-INFO": wheels.metadata(), **wheels.package_files(), **wheels.licenses()}
    for name in ("pyproject.toml", "README.md", "build_backend.py", "build_wheel.py"):
        files[name] = (_HERE / name).read_bytes()
    with tarfile.open(Path(sdist_directory) / f"{stem}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{stem}/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return f"{stem}.tar.gz"


# ---- libstoker.so ----


def _library(settings: dict[str, Any]) -> Path:
    chosen = settings.get("library") or os.environ.get("STOKER_LIBRARY")
    if chosen:
        if not Path(chosen).is_file():
            raise SystemExit(f"there is no file {chosen}, which STOKER_LIBRARY names as the libstoker.so for the wheel")
        return Path(chosen)
    if not (_ROOT / "client/capi/stoker.h").is_file():
        raise SystemExit(
            "the sources of libstoker.so are not here: run pip in a checkout of Stoker (pip wheel client/python), or "
            "set STOKER_LIBRARY to a libstoker.so that you built"
        )
    return _built(Path(settings.get("build-dir") or _ROOT / "build/release"))


def _built(folder: Path) -> Path:
    """The library of the build tree `folder`, configured and built as far as it is not."""
    missing = [program for program in ("cmake", "ninja", "c++") if shutil.which(program) is None]
    if missing:
        raise SystemExit(
            f"to build libstoker.so, {', '.join(missing)} must be installed: on Debian 12 `./dev setup` in {_ROOT} "
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
    if folder == _ROOT / "build/release":
        _run("cmake", "--preset", "release")
    else:
        _run("cmake", "-S", _ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release")


def _run(*command: Any) -> None:
    if subprocess.run([*map(str, command)], cwd=_ROOT, stdout=sys.stderr).returncode != 0:
        raise SystemExit(
            f"`{' '.join(map(str, command))}` failed, its output is above. On Debian 12 `./dev setup` in {_ROOT} "
            "installs the packages that it needs. Or set STOKER_LIBRARY to a libstoker.so that you built"
        )
