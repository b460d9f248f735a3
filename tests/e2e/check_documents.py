#!/usr/bin/env python3
"""check_documents.py CHECK [REPOSITORY]: holds README.md, docs/ and their like to what a reader expects.

    links       every relative link and #anchor in the documents leads to a file or heading of this repository, and every
                page under docs/ can be reached from README.md by links
    pictures    docs/pictures/make_pictures.py makes the pictures that are checked in, byte for byte
    length      README.md has at most 150 lines, and no line that makes it a long read all the same
    self-test   each of these checks finds what it is for, in a repository that is made to be wrong

Prints what is wrong, a line each, and exits with 1. Needs Python's standard library only.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

README_LINES = 150
README_COLUMNS = 125

_FENCE = re.compile(r"^(```|~~~).*?^\1\s*?$", re.M | re.S)
_CODE = re.compile(r"`[^`\n]*`")
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_LINK = re.compile(r"\]\(\s*<?([^()\s>]+)>?[^()]*\)")
_REFERENCE = re.compile(r"^\[[^\]\n]+\]:\s*(\S+)", re.M)
_ATTRIBUTE = re.compile(r"""\b(?:href|src|srcset)\s*=\s*["']([^"'\s]+)""")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.M)
_ANCHOR = re.compile(r"""<a\s[^>]*\b(?:id|name)\s*=\s*["']([^"']+)""")
_EXTERNAL = re.compile(r"^[a-z][a-z0-9+.-]*:", re.I)


def documents(root: Path) -> list[Path]:
    """The documents whose links are checked."""
    found = [root / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    found += sorted((root / "docs").rglob("*.md")) + sorted((root / "deploy").rglob("README.md"))
    return [path for path in found if path.exists()]


def anchors_of(markdown: str) -> set[str]:
    """The anchors that GitHub gives the headings of a document, and those that it makes itself."""
    text = _FENCE.sub("", markdown)
    anchors = set(_ANCHOR.findall(text))
    times: dict[str, int] = {}
    for heading in _HEADING.findall(text):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        count = times.get(slug, 0)
        times[slug] = count + 1
        anchors.add(f"{slug}-{count}" if count else slug)
    return anchors


def links_of(markdown: str) -> Iterator[str]:
    """The targets of a document's links that stay in the repository. Code shows links, it has none."""
    text = _COMMENT.sub("", _CODE.sub("``", _FENCE.sub("", markdown)))
    for pattern in (_LINK, _REFERENCE, _ATTRIBUTE):
        for target in pattern.findall(text):
            if not _EXTERNAL.match(target):
                yield unquote(target)


def check_links(root: Path) -> list[str]:
    wrong = []
    followed: dict[Path, set[Path]] = {}
    for document in documents(root):
        name = document.relative_to(root)
        text = document.read_text(encoding="utf-8")
        leads_to = followed.setdefault(document, set())
        for target in links_of(text):
            path, _, anchor = target.partition("#")
            found = Path(os.path.normpath(document.parent / path)) if path else document
            if not found.is_relative_to(root):
                wrong.append(f"{name}: {target} leads out of the repository")
            elif not found.exists():
                wrong.append(f"{name}: {target} leads nowhere")
            elif anchor and (found.suffix != ".md" or anchor not in anchors_of(found.read_text(encoding="utf-8"))):
                wrong.append(f"{name}: {target}: there is no such heading")
            leads_to.add(found)
    reached, pending = set(), [root / "README.md"]
    while pending:
        page = pending.pop()
        if page in followed and page not in reached:
            reached.add(page)
            pending += followed[page]
    lost = [page for page in followed if page.is_relative_to(root / "docs") and page not in reached]
    return wrong + [f"{page.relative_to(root)}: no link leads here from README.md" for page in lost]


def check_pictures(root: Path) -> list[str]:
    folder = root / "docs/pictures"
    wrong = []
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([sys.executable, folder / "make_pictures.py", made], check=True)
        names = {path.name for path in Path(made).iterdir()} | {path.name for path in folder.glob("*.svg")}
        for name in sorted(names):
            ours, theirs = folder / name, Path(made) / name
            if not theirs.exists():
                wrong.append(f"docs/pictures/{name}: make_pictures.py does not make it")
            elif not ours.exists() or ours.read_bytes() != theirs.read_bytes():
                wrong.append(f"docs/pictures/{name} is not what make_pictures.py makes: run it")
    return wrong


def check_length(root: Path) -> list[str]:
    lines = (root / "README.md").read_text(encoding="utf-8").splitlines()
    wrong = [f"README.md has {len(lines)} lines, over {README_LINES}"] if len(lines) > README_LINES else []
    return wrong + [
        f"README.md:{number}: {len(line)} columns, over {README_COLUMNS}"
        for number, line in enumerate(lines, 1)
        if len(line) > README_COLUMNS
    ]


CHECKS = {"links": check_links, "pictures": check_pictures, "length": check_length}


def self_test(_: Path) -> list[str]:
    """Makes a repository that is right, then makes one thing wrong at a time: a check that finds nothing is wrong."""
    page = "# A page\n\n## A `heading` of it, twice\n\n## A `heading` of it, twice\n"
    right = {
        "README.md": "[a](docs/page.md#a-heading-of-it-twice-1) <img src='docs/pictures/a.svg'> `[no](link.md)`\n",
        "docs/page.md": f"{page}[up](../README.md) [here](#a-page) [out](https://example.org/x)\n\n```\n[no](a)\n```\n",
        "docs/pictures/a.svg": "<svg/>\n",
        "docs/pictures/make_pictures.py": "import sys\nopen(sys.argv[1] + '/a.svg', 'w').write('<svg/>\\n')\n",
    }
    broken = [
        ("links", {"README.md": "[a](docs/page.md) [b](docs/missing.md)\n"}),
        ("links", {"README.md": "[a](docs/page.md#no-such-heading)\n"}),
        ("links", {"README.md": "[a](docs/page.md) <img src='docs/pictures/b.svg'>\n"}),
        ("links", {"README.md": "[a](docs/page.md) [b](../../etc)\n"}),
        ("links", {"README.md": "No link leads to the page.\n"}),
        ("links", {"docs/page.md": "# A page\n"}),
        ("pictures", {"docs/pictures/a.svg": "<svg> </svg>\n"}),
        ("pictures", {"docs/pictures/b.svg": "<svg/>\n"}),
        ("length", {"README.md": "line\n" * (README_LINES + 1)}),
        ("length", {"README.md": "x" * (README_COLUMNS + 1) + "\n"}),
    ]
    wrong = []
    for check, changed in [(name, {}) for name in CHECKS] + broken:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            for name, text in {**right, **changed}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            found = CHECKS[check](root)
        if bool(found) != bool(changed):
            wrong.append(f"self-test: {check} of {changed or 'what is right'} finds {found or 'nothing'}")
    return wrong


def main() -> int:
    checks = {**CHECKS, "self-test": self_test}
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in checks:
        print(__doc__)
        return 2
    root = Path(sys.argv[2] if len(sys.argv) == 3 else Path(__file__).parents[2]).resolve()
    wrong = checks[sys.argv[1]](root)
    print("\n".join(wrong) if wrong else f"{sys.argv[1]}: nothing is wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
