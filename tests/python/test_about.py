"""`python -m stoker`: what an installation says of itself."""

from __future__ import annotations

import inspect
import platform
import re
import subprocess
import sys
import textwrap

import pytest

from conftest import python

import stoker
from stoker import _library, _typed


def about(*arguments, **environment):
    command = [sys.executable, "-m", "stoker", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment or None)


def test_it_says_version_library_and_what_is_installed():
    said = about()
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith(
        f"stoker {stoker.__version__}, on Python {sys.version_info[0]}.{sys.version_info[1]}."
    )
    assert f"  platform    {platform.platform()}\n" in said.stdout
    assert f"  library     {_library.path()}\n" in said.stdout
    assert f"version {stoker.__version__}, ABI version " in said.stdout
    numpy = pytest.importorskip("numpy")
    assert f"NumPy {numpy.__version__}" in said.stdout
    assert re.search(r"^  arrays of .*; not installed: .*CuPy$", said.stdout, re.MULTILINE)
    assert re.search(r"^  converts    .*timm", said.stdout, re.MULTILINE)
    assert about("--version").stdout == f"stoker {stoker.__version__}\n"


def test_it_says_why_there_is_no_cuda():
    code = _library.library().stoker_check_device(b"cuda")
    reason = _library.library().stoker_error().decode()
    assert f"  CUDA        {'yes' if code == 0 else 'no: ' + reason}\n" in about().stdout


def test_it_says_what_servers_offer(server):
    said = about("--servers", server.address)
    assert f"  servers     {server.address}\n    dataset   photos, 200 samples: image folder " in said.stdout, said.stderr


def test_what_is_wrong_is_said_and_fails():
    said = about("--servers", "127.0.0.1:1")
    assert said.returncode == 1 and said.stderr.startswith("python -m stoker: ")
    assert "127.0.0.1:1: connection refused" in said.stderr and "Traceback" not in said.stderr


def test_without_its_library_it_says_so(monkeypatch):
    monkeypatch.setenv("STOKER_LIBRARY", "/nowhere.so")
    said = about()
    assert said.returncode == 1 and "/nowhere.so, which is no file" in said.stderr
    assert said.stdout.startswith(f"stoker {stoker.__version__}")


def test_the_example_that_help_shows_runs(server):
    """The first indented block of what help(stoker.Loader) prints."""
    example = []
    for line in inspect.getdoc(stoker.Loader).splitlines():
        if line.startswith("    ") or (example and not line):
            example.append(line)
        elif example:
            break
    code = textwrap.dedent("\n".join(example))
    assert "stoker.Loader(" in code and "127.0.0.1:7077" in code
    printed = python(code.replace("127.0.0.1:7077", server.address)).splitlines()
    assert len(printed) == 24 and all("(16, 3, 64, 64)" in line for line in printed)  # 200 samples, twice.


def test_type_checkers_know_each_argument_of_a_loader():
    """`Options` says again what the signature does, for the overloads."""
    arguments = set(inspect.signature(stoker.Loader.__init__).parameters)
    assert arguments - {"self", "servers", "dataset", "output", "as_dict"} == set(_typed.Options.__annotations__)
