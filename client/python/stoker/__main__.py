"""python -m stoker: says which version this is, where its library lies, what it can do and what servers offer."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from typing import Optional

from . import StokerError, __version__, _library, servers_offer

# The distributions of each package. CuPy has one for each version of CUDA.
_ARRAYS = {"PyTorch": ["torch"], "NumPy": ["numpy"], "JAX": ["jax"], "CuPy": ["cupy", "cupy-cuda12x", "cupy-cuda13x"]}
_TRANSFORMS = {"torchvision": ["torchvision"], "timm": ["timm"], "Albumentations": ["albumentations"]}


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m stoker", description="Says what this installation can do.")
    parser.add_argument("--version", action="version", version=f"stoker {__version__}")
    parser.add_argument("--servers", metavar="ADDRESS", nargs="+", help="also says what these servers offer: host:port")
    parser.add_argument("--tls-ca-file", metavar="FILE", help="the certificates that the servers' are checked against")
    parser.add_argument("--tls-server-name", metavar="NAME", help="the name in the servers' certificate")
    parser.add_argument("--tls-cert-file", metavar="FILE", help="a certificate to show them, where they ask for one")
    parser.add_argument("--tls-key-file", metavar="FILE", help="its key")
    parser.add_argument("--token-file", metavar="FILE", help="a token to show them, where they ask for one")
    parser.add_argument("--connect-timeout", metavar="SECONDS", type=float, help="how long to wait for them, also where none is there yet")
    options = parser.parse_args(arguments)

    print(f"stoker {__version__}, on Python {platform.python_version()}")
    print(f"  platform    {platform.platform()}")
    try:
        for line in _library_lines():
            print(line)
        print(f"  arrays of   {_found(_ARRAYS)}")
        print(f"  converts    {_found(_TRANSFORMS)}")
        if options.servers:
            for line in _server_lines(options):
                print(line)
    except StokerError as error:
        print(f"python -m stoker: {error}", file=sys.stderr)
        return 1
    return 0


def _library_lines() -> Iterator[str]:
    yield f"  library     {_library.path()}"
    library = _library.library()
    yield f"              version {library.stoker_version().decode()}, ABI version {library.stoker_abi_version()}"
    try:
        _library.check(library.stoker_check_device(b"cuda"))
        yield "  CUDA        yes"
    except StokerError as error:
        yield f"  CUDA        no: {error}"


def _found(packages: dict[str, list[str]]) -> str:
    """Those that are installed, with their versions. Nothing is imported, which may take seconds."""
    versions = {name: _version_of(distributions) for name, distributions in packages.items()}
    found = [f"{name} {version}" for name, version in versions.items() if version is not None]
    missing = [name for name, version in versions.items() if version is None]
    return "; ".join([*found, *([f"not installed: {', '.join(missing)}"] if missing else [])])


def _version_of(distributions: list[str]) -> Optional[str]:
    for distribution in distributions:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return None


def _server_lines(options: argparse.Namespace) -> Iterator[str]:
    offered = servers_offer(
        options.servers,
        connect_timeout=options.connect_timeout,
        tls_ca_file=options.tls_ca_file,
        tls_server_name=options.tls_server_name,
        tls_cert_file=options.tls_cert_file,
        tls_key_file=options.tls_key_file,
        token_file=options.token_file,
    )
    yield f"  servers     {', '.join(options.servers)}"
    for dataset in offered["datasets"]:
        description = f": {dataset['description']}" if dataset["description"] else ""
        yield f"    dataset   {dataset['name']}, {dataset['samples']} samples{description}"
    for pipeline in offered["pipelines"]:
        yield f"    pipeline  {pipeline['name']}"


if __name__ == "__main__":
    sys.exit(main())
