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
import tarfile
import textwrap
import zipfile
from pathlib import Path

import pytest
from conftest import python, stoker

ROOT = Path(__file__).resolve().parents[2]
(WHEEL,) = Path(os.environ["STOKER_TEST_WHEELS"]).glob("*.whl")
LIBRARY = os.environ["STOKER_TEST_LIBRARY"]
WHEELHOUSE = Path(os.environ["STOKER_TEST_WHEELHOUSE"])

_spec = importlib.util.spec_from_file_location("build_wheel", ROOT / "client/python/build_wheel.py")
build_wheel = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build_wheel)


def digest_of(file):
    # pytest would spend minutes on the difference of two wheels.
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_the_same_again_is_the_same_file(tmp_path):
    again = build_wheel.write_wheel(Path(LIBRARY), tmp_path)
    assert again.name == WHEEL.name
    assert digest_of(again) == digest_of(WHEEL)


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


def test_it_installs_where_torchs_wheels_do():
    if "manylinux" not in WHEEL.name:
        pytest.skip("libstoker.so is linked to this machine's libraries")
    (glibc,) = re.findall(r"manylinux_2_(\d+)_x86_64", WHEEL.name)
    assert int(glibc) <= 28


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


# ---- from source ----


def pip_wheel(source, out, *arguments, **environment):
    """pip makes the wheel, without a network. STOKER_LIBRARY is what `environment` says of it."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-index",
        "--no-deps",
        "-w",
        out,
        *arguments,
        source,
    ]
    kept = {key: value for key, value in os.environ.items() if key != "STOKER_LIBRARY"}
    done = subprocess.run(command, capture_output=True, text=True, env={**kept, **environment})
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def checkout(tmp_path):
    """A checkout's files that pip reads, without any C++."""
    root = tmp_path / "checkout"
    shutil.copytree(ROOT / "client/python", root / "client/python", ignore=shutil.ignore_patterns("__pycache__"))
    for name in build_wheel.licenses():
        shutil.copy(ROOT / name, root)
    return root


def test_pip_builds_the_wheel_with_a_given_library(checkout, tmp_path):
    code, said = pip_wheel(checkout / "client/python", tmp_path / "out", STOKER_LIBRARY=LIBRARY)
    assert code == 0, said
    (built,) = (tmp_path / "out").glob("*.whl")
    assert digest_of(built) == digest_of(WHEEL)


def test_pip_builds_the_library_where_none_is_given(tmp_path):
    """In the tree of this build, where CMake finds nothing left to do, or little."""
    (tree,) = (folder for folder in Path(LIBRARY).parents if (folder / "CMakeCache.txt").is_file())
    code, said = pip_wheel(ROOT / "client/python", tmp_path / "out", "--config-settings", f"build-dir={tree}")
    assert code == 0, said
    (built,) = (tmp_path / "out").glob("*.whl")
    assert zipfile.ZipFile(built).read("stoker/libstoker.so") == Path(LIBRARY).read_bytes()


def test_pip_says_what_is_missing(checkout, tmp_path):
    code, said = pip_wheel(checkout / "client/python", tmp_path / "out")
    assert code != 0 and "run pip in a checkout of Stoker" in said and "STOKER_LIBRARY" in said, said
    code, said = pip_wheel(checkout / "client/python", tmp_path / "out", STOKER_LIBRARY="/nowhere.so")
    assert code != 0 and "there is no file /nowhere.so" in said, said
    (checkout / "client/capi").mkdir()
    (checkout / "client/capi/stoker.h").touch()
    code, said = pip_wheel(checkout / "client/python", tmp_path / "out", PATH="/nowhere")
    assert code != 0 and "cmake, ninja, c++ must be installed" in said and "dev setup --for client" in said, said


def test_a_failed_build_is_told(checkout, tmp_path):
    (checkout / "client/capi").mkdir()
    (checkout / "client/capi/stoker.h").touch()
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, script in {"cmake": "echo no gRPC here >&2; exit 1", "ninja": "", "c++": ""}.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    (checkout / "tree").mkdir()
    (checkout / "tree/CMakeCache.txt").touch()
    settings = ["--config-settings", f"build-dir={checkout / 'tree'}"]
    path = f"{programs}:{os.environ['PATH']}"
    code, said = pip_wheel(checkout / "client/python", tmp_path / "out", *settings, PATH=path)
    assert code != 0 and "no gRPC here" in said and "--target stoker_capi` failed" in said, said


@pytest.fixture
def source_distribution(tmp_path):
    code = "import build_backend, sys; print(build_backend.build_sdist(sys.argv[1]))"
    command = [sys.executable, "-B", "-c", code, tmp_path]
    made = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT / "client/python")
    assert made.stdout == f"stoker-{WHEEL.name.split('-')[1]}.tar.gz\n"
    return tmp_path / made.stdout.strip()


def test_a_source_distribution_gives_the_same_wheel(source_distribution, tmp_path):
    status, said = pip_wheel(source_distribution, tmp_path / "out", STOKER_LIBRARY=LIBRARY)
    assert status == 0, said
    (built,) = (tmp_path / "out").glob("*.whl")
    assert digest_of(built) == digest_of(WHEEL)


def test_a_source_distribution_has_what_the_library_is_made_of(source_distribution, tmp_path):
    """Compiling it again would take minutes: what this build's own library was made of is there, and CMake takes it."""
    (tree,) = (folder for folder in Path(LIBRARY).parents if (folder / "CMakeCache.txt").is_file())
    ninja = ["ninja", "-C", tree, "-t"]
    library = Path(LIBRARY).resolve().relative_to(tree.resolve())
    inputs = subprocess.run([*ninja, "inputs", library], check=True, capture_output=True, text=True).stdout.split()
    objects = [name for name in inputs if name.endswith(".o")]
    deps = subprocess.run([*ninja, "deps", *objects], check=True, capture_output=True, text=True).stdout.split()
    paths = {Path(os.path.normpath(tree / name)) for name in [*inputs, *deps]}
    ours = {path.relative_to(ROOT) for path in paths if path.is_relative_to(ROOT) and path.is_file()}
    ours = {str(path) for path in ours if not path.is_relative_to(tree.relative_to(ROOT))}
    assert "client/capi/loader.cc" in ours and "common/identity/draws.h" in ours
    with tarfile.open(source_distribution) as archive:
        archive.extractall(tmp_path)
    (folder,) = tmp_path.glob("stoker-*/source")
    assert not [path for path in sorted(ours) if not (folder / path).is_file()]
    configure = ["cmake", "-S", folder, "-B", tmp_path / "tree", "-G", "Ninja", "-DSTOKER_BUILD_SERVER=OFF"]
    subprocess.run(configure, check=True, capture_output=True)


def test_the_metadata_are_valid_and_complete():
    packaging = pytest.importorskip("packaging.metadata", reason="no packaging")
    (name,) = [name for name in zipfile.ZipFile(WHEEL).namelist() if name.endswith("/METADATA")]
    metadata = packaging.Metadata.from_email(zipfile.ZipFile(WHEEL).read(name), validate=True)
    assert metadata.license_expression == "Apache-2.0" and str(metadata.requires_python) == ">=3.9"
    assert metadata.description.startswith("# Stoker for Python") and metadata.summary and metadata.keywords
    assert {f"Programming Language :: Python :: {version}" for version in _SUPPORTED} <= set(metadata.classifiers)
