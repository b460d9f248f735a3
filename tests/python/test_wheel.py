"""The wheel: what is in it, and that pip installs it into clean environments of every Python found."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import zipfile
from pathlib import Path

import pytest
from conftest import python, stoker

ROOT = Path(__file__).resolve().parents[2]
(WHEEL,) = Path(os.environ["STOKER_TEST_WHEELS"]).glob("*.whl")
LIBRARY = os.environ["STOKER_TEST_LIBRARY"]
WHEELHOUSE = Path(os.environ["STOKER_TEST_CACHE"]) / "python" / "wheelhouse"

_spec = importlib.util.spec_from_file_location("build_wheel", ROOT / "client/python/build_wheel.py")
build_wheel = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build_wheel)


def test_the_same_again_is_the_same_file(tmp_path):
    again = build_wheel.write_wheel(Path(LIBRARY), tmp_path)
    assert again.name == WHEEL.name
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(WHEEL.read_bytes()).digest()


def test_it_has_the_package_types_and_library():
    names = set(zipfile.ZipFile(WHEEL).namelist())
    assert {"stoker/__init__.py", "stoker/py.typed", "stoker/libstoker.so"} <= names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_versions_agree():
    import stoker
    from stoker import _library

    (cmake,) = re.findall(r"project\(stoker VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    assert _library.library().stoker_version().decode() == stoker.__version__ == cmake
    assert WHEEL.name.startswith(f"stoker-{cmake}-py3-none-")


def test_auditwheel_agrees_with_the_tag():
    pytest.importorskip("auditwheel")
    command = [sys.executable, "-m", "auditwheel", "show", WHEEL]
    shown = " ".join(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    tag = WHEEL.stem.split("-")[-1]
    assert f'consistent with the following platform tag: "{tag}"' in shown


def test_tags_follow_from_what_a_library_needs(tmp_path):
    """Small libraries of this machine's compiler: one that needs glibc alone, one that needs another library."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    source = tmp_path / "source.c"
    source.write_text("#include <stdlib.h>\nvoid* f(void) { return malloc(1); }\n")

    def platform_of(*flags):
        target = tmp_path / "lib.so"
        subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", target, *flags], check=True)
        return build_wheel.platform_of(target.read_bytes())

    assert platform_of() == "manylinux_2_17_x86_64"
    assert platform_of("-Wl,--no-as-needed", "-lstdc++") == "linux_x86_64"
    with pytest.raises(ValueError, match="ELF"):
        build_wheel.platform_of(b"text" * 100)


def test_without_a_library_the_error_says_what_to_do(tmp_path):
    package = tmp_path / "stoker"
    shutil.copytree(ROOT / "client/python/stoker", package, ignore=shutil.ignore_patterns("__pycache__"))
    code = """
        import stoker
        print(stoker.transforms.RandomResizedCrop(224))  # Needs none.
        try:
            stoker.Loader("a:1", batch_size=1)
        except stoker.LibraryError as error:
            print(error)
    """
    here = {"PYTHONPATH": str(tmp_path)}
    assert "install the wheel, or set STOKER_LIBRARY" in python(code, **here)
    assert "no such file" not in python(code, **here, STOKER_LIBRARY="/nowhere.so")
    assert "/nowhere.so, which is no file" in python(code, **here, STOKER_LIBRARY="/nowhere.so")
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"no library")
    assert "broken.so does not load" in python(code, **here, STOKER_LIBRARY=str(broken))


# ---- clean environments ----

_SUPPORTED = ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"]


def interpreters():
    """Those of the supported versions that are here: on the path, or pyenv's. One a version."""
    found = {}
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in _SUPPORTED:
        candidates = [*sorted(pyenv.glob(f"{version}.*/bin/python{version}")), Path(f"/usr/bin/python{version}")]
        candidates += [Path(path) for path in [shutil.which(f"python{version}")] if path]
        for candidate in candidates:
            works = [candidate, "-c", "import ensurepip, venv, ssl, ctypes"]
            if candidate.exists() and subprocess.run(works, capture_output=True).returncode == 0:
                found[version] = str(candidate)
                break
    return found


_FOUND = interpreters()

_EPOCH = """
    import sys, stoker, numpy
    assert not [name for name in ("torch", "jax", "grpc", "google.protobuf") if name in sys.modules]
    loader = stoker.Loader(sys.argv[1], batch_size=16, last_batch="partial")
    images = [images for images, _ in loader]
    assert all(type(one) is numpy.ndarray for one in images) and sum(map(len, images)) == 200
    tensor = next(loader.batches())["image"]
    view = memoryview(tensor) if sys.version_info >= (3, 12) else tensor.memoryview()
    assert view.shape == tensor.shape and view.tobytes() == numpy.asarray(tensor).tobytes()
    pixels = numpy.from_dlpack(tensor) if hasattr(numpy, "from_dlpack") else numpy.asarray(tensor)
    assert pixels.tobytes() == view.tobytes()
    print(sys.version_info[:2], loader.digest(0), stoker.__file__)
"""


def install(interpreter, folder, *packages):
    """A new virtual environment in `folder` with the wheel and these, by pip, without a network. Returns its Python and
    an environment without this one's settings."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP", "STOKER"))}
    subprocess.run([interpreter, "-m", "venv", folder], check=True, env=clean)
    pip = [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    subprocess.run([*pip, "--find-links", WHEELHOUSE, WHEEL, *packages], check=True, env=clean)
    return folder / "bin/python", clean


def run(interpreter, environment, program, *arguments):
    """What the program prints."""
    command = [interpreter, "-c", textwrap.dedent(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("version", _SUPPORTED)
def test_a_clean_environment_with_numpy_alone(version, server, tmp_path):
    if version not in _FOUND:
        pytest.skip(f"there is no Python {version} here")
    tag = "cp" + version.replace(".", "")
    if not list(WHEELHOUSE.glob(f"numpy-*{tag}*.whl")):
        pytest.skip(f"no NumPy for Python {version} in the environment's wheelhouse")
    interpreter, environment = install(_FOUND[version], tmp_path / "environment", "numpy")
    expected = stoker("digest", "--servers", server.address).strip()
    major, minor = version.split(".")
    printed = run(interpreter, environment, _EPOCH, server.address)
    assert f"({major}, {minor}) {expected} {tmp_path}" in printed


_BESIDE = """
    import importlib, sys
    address, name, kind = sys.argv[1:]
    importlib.import_module(name)
    import stoker
    loader = stoker.Loader(address, batch_size=16, last_batch="partial", output=name)
    arrays = [array for batch in loader for array in batch]
    assert all(type(array).__name__ == kind for array in arrays), [type(array) for array in arrays]
    print(loader.digest(0), stoker.__file__)
"""


@pytest.mark.parametrize("name, kind", [("torch", "Tensor"), ("jax", "ArrayImpl")])
def test_a_clean_environment_beside_a_current(name, kind, server, tmp_path):
    """The packages are those of the environment of these tests, by a .pth file: a second copy would take GB."""
    pytest.importorskip(name)
    interpreter, environment = install(sys.executable, tmp_path / "environment")
    (packages,) = (tmp_path / "environment/lib").glob("python3.*/site-packages")
    (packages / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n")
    expected = stoker("digest", "--servers", server.address).strip()
    printed = run(interpreter, {**environment, "JAX_PLATFORMS": "cpu"}, _BESIDE, server.address, name, kind)
    assert printed.startswith(f"{expected} {tmp_path}")


def test_pip_builds_the_wheel_from_the_source_tree(tmp_path):
    shutil.copytree(ROOT / "client/python", tmp_path / "python", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "-w", tmp_path / "out"]
    environment = {**os.environ, "STOKER_LIBRARY": LIBRARY}
    subprocess.run([*command, tmp_path / "python"], check=True, env=environment)
    (built,) = (tmp_path / "out").glob("*.whl")
    assert built.read_bytes() == WHEEL.read_bytes()
