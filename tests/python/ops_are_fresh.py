#!/usr/bin/env python3
"""ops_are_fresh.py PROTOC: fails unless what proto/generate_ops.py writes is checked in as it would write it.

It also shows, on a copy of the files, that a new op makes the check fail, and that generating then gives the op a
Python class and a row in the documentation; and that a comment which lacks something is an error. Needs Python 3.9.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULE = "client/python/stoker/_ops.py"
PAGE = "docs/pipeline.md"

NEW_OP = """
// Rounds the image's corners. Not torchvision's. Server only.
message RoundCorners {
  // Pixels: one number, or across and down. Must be given.
  repeated int32 radius = 1;
  // What the corners are filled with. Default edge.
  PaddingMode mode = 2;
}

// ---- Policies ----
"""

CLASS = '''class RoundCorners(Op):
    """Rounds the image's corners. Not torchvision's. Runs on the servers only.

    Arguments:
        radius: Pixels: one number, or across and down.
        mode: What the corners are filled with. One of constant, edge, reflect, symmetric. Default edge.
    """

    def __init__(
        self, radius: Union[int, Sequence[int]], mode: Optional[str] = None, *, placement: Optional[str] = None
    ) -> None:
        super().__init__(radius=radius, mode=mode, placement=placement)
'''

ROW = (
    "| RoundCorners | `radius`, `mode` = edge (or constant, reflect, symmetric) | no | Rounds the image's corners. |\n"
)

PAGE_BEFORE = "# A page\n\n<!-- ops: generated -->\n\nstale\n\n<!-- end of ops -->\n\nMore.\n"


def generate(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "proto/generate_ops.py", "--root", root, "--protoc", sys.argv[1], *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text, f"{file} has no {old!r}"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def check_a_new_op(root: Path) -> None:
    proto = root / "proto/stoker/v1/pipeline.proto"
    proto.parent.mkdir(parents=True)
    shutil.copy(ROOT / "proto/stoker/v1/pipeline.proto", proto)
    for file in (MODULE, PAGE):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / MODULE, root / MODULE)
    (root / PAGE).write_text(PAGE_BEFORE, encoding="utf-8")

    stale = generate(root, "--check")
    assert stale.returncode == 1 and f"{PAGE} is not what" in stale.stdout and MODULE not in stale.stdout, stale.stdout
    assert generate(root).returncode == 0 and generate(root, "--check").returncode == 0
    page = (root / PAGE).read_text(encoding="utf-8")
    assert page.startswith("# A page\n\n<!-- ops: generated -->\n\n| op |"), page
    assert page.endswith("|\n\n<!-- end of ops -->\n\nMore.\n"), page

    replace(proto, "\n// ---- Policies ----\n", NEW_OP)
    replace(
        proto, "    UnpackBits unpack_bits = 38;\n", "    UnpackBits unpack_bits = 38;\n    RoundCorners round = 99;\n"
    )
    stale = generate(root, "--check")
    assert stale.returncode == 1 and f"{MODULE} is not what" in stale.stdout, stale.stdout
    assert generate(root).returncode == 0
    module = (root / MODULE).read_text(encoding="utf-8")
    assert CLASS in module and '    "RoundCorners",\n' in module, module
    assert ROW in (root / PAGE).read_text(encoding="utf-8")

    replace(proto, "What the corners are filled with. Default edge.", "What the corners are filled with.")
    bad = generate(root)
    assert bad.returncode == 1 and "RoundCorners.mode: its comment says neither" in bad.stdout, bad.stdout


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        check_a_new_op(Path(folder))
    fresh = generate(ROOT, "--check")
    print(fresh.stdout, end="")
    return fresh.returncode


if __name__ == "__main__":
    sys.exit(main())
