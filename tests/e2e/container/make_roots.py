#!/usr/bin/env python3
"""make_roots.py BUILD FOLDER: makes the server's image's root of BUILD twice, which must be equal, and leaves one as
FOLDER/root for other tests. Then also looks through it: what is in it, and what is not.
"""

import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

from containerfile import ROOT, Containerfile

EPOCH = "1700000000"
PROGRAMS = {"usr/bin/stokerd", "usr/lib/stoker/stoker-hdf5", "usr/lib/stoker/stoker-parquet"}


def make(build, folder):
    script = ROOT / "deploy/container/image_root.py"
    subprocess.run([sys.executable, script, build, folder], check=True, env=os.environ | {"SOURCE_DATE_EPOCH": EPOCH})


def listing(root):
    """All that a layer has of each file."""
    found = {}
    for path in root.rglob("*"):
        info = path.lstat()
        content = (
            os.readlink(path)
            if path.is_symlink()
            else None if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
        )
        found[str(path.relative_to(root))] = (
            stat.filemode(info.st_mode),
            info.st_uid,
            info.st_gid,
            info.st_mtime,
            content,
        )
    return found


def check_holdings(root, found):
    files = {path: mode for path, (mode, *_) in found.items() if mode[0] == "-"}
    for path, mode in files.items():
        assert "s" not in mode and mode[8] != "w", f"{path} is {mode}"
    run = {path for path, mode in files.items() if "x" in mode and ".so" not in path}
    assert run <= PROGRAMS and "usr/bin/stokerd" in run, f"programs: {sorted(run)}"
    for path in (path for path, (mode, *_) in found.items() if mode[0] != "d"):
        assert not re.search(r"(^|/)(bash|sh|dash|busybox|dpkg|apt|python[\d.]*|perl)$", path), path
    # Nothing of the machine that built it.
    for path in PROGRAMS | {"usr/lib/stoker/stoker-opencv.so", "usr/lib/stoker/stoker-audio.so"}:
        if path in files:
            text = subprocess.run(["readelf", "-d", root / path], check=True, capture_output=True, text=True).stdout
            assert not re.search(r"R(UN)?PATH.*\[(?!\$ORIGIN)", text), text
    links = [path for path in root.rglob("*") if path.is_symlink()]
    assert all(path.exists() and root in path.resolve().parents for path in links)
    home = os.environ.get("HOME", "/root").encode()
    for path in ("etc", "var/lib/dpkg"):
        assert not any(home in file.read_bytes() for file in (root / path).rglob("*") if file.is_file())


def check_sums(root):
    """dpkg's records are of what is there."""
    records = sorted((root / "var/lib/dpkg/status.d").glob("*.md5sums"))
    assert len(records) > 50
    for record in records:
        lines = [line.split(None, 1) for line in record.read_text().splitlines()]
        for digest, path in lines:
            assert hashlib.md5((root / path).read_bytes()).hexdigest() == digest, path
        text = record.with_suffix("").read_text()
        assert re.search(r"^Package: \S+$", text, re.M) and re.search(r"^Version: \S+$", text, re.M), record
        assert (root / "usr/share/doc" / record.stem / "copyright").exists() or "lib" not in record.stem, record


def main():
    build, folder = Path(sys.argv[1]), Path(sys.argv[2])
    Containerfile(ROOT / "deploy/container/Containerfile").check()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make(build, folder / "root")
    make(build, folder / "again")
    one, other = listing(folder / "root"), listing(folder / "again")
    assert one == other, sorted(set(one.items()) ^ set(other.items()))[:10]
    shutil.rmtree(folder / "again")
    check_holdings(folder / "root", one)
    check_sums(folder / "root")
    size = sum(
        path.lstat().st_size for path in (folder / "root").rglob("*") if path.is_file() and not path.is_symlink()
    )
    print(f"make_roots.py: two equal roots of {len(one)} files and folders, {size >> 20} MiB")


if __name__ == "__main__":
    main()
