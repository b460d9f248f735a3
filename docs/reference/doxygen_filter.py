#!/usr/bin/env python3
"""doxygen_filter.py HEADER: prints HEADER with its comments as Doxygen wants them.

Our headers have plain // comments. This turns those that document something into Doxygen's:

    a block above a declaration         becomes ///
    a block at the top, before a gap    becomes the file's description
    a comment behind a member           becomes ///<

All others (rules of sections, notes of their own, ends of namespaces and guards) stay what they are. Lines keep their
numbers, so that Doxygen's warnings name the right ones.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_COMMENT = re.compile(r"^(\s*)//(?![/<!]) ?(.*)$")
_MEMBER = re.compile(r"(?<![\w:])((?:stoker::)?[A-Z]\w*(?:::\w+)+)")
_RULE = re.compile(r"^----.*----$")
_BEHIND = re.compile(r"^(\s*[^\s/#}].*?[;,{]|\s*\w+(?:\s*=\s*[^/]*)?)(\s+)//(?![/<!]) ?(.*)$")


def as_doxygen(text: str) -> str:
    """`text` with what Doxygen would take for tags made literal, and members named as Class::Member made references, which
    must lead somewhere. Two spaces or more begin an example, which Markdown wants indented by four.
    """
    if text.startswith("  "):
        return f"    {text}"
    parts = re.split(r"(`[^`]*`)", text)
    for number in range(0, len(parts), 2):  # Those between are code.
        parts[number] = _MEMBER.sub(r"@ref \1", re.sub(r"([<>])", r"\\\1", parts[number]))
    return "".join(parts)


def blocks(lines: list[str]) -> list[tuple[int, int]]:
    """The runs of lines that are comments alone."""
    found, start = [], None
    for number, line in enumerate([*lines, ""]):
        if _COMMENT.match(line):
            start = number if start is None else start
        elif start is not None:
            found.append((start, number))
            start = None
    return found


def main() -> None:
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    described = False  # The file has its description.
    for start, end in blocks(lines):
        floats = end == len(lines) or not lines[end].strip()
        if any(_RULE.match(_COMMENT.match(line)[2]) for line in lines[start:end]):
            continue
        if floats and described:
            continue
        if not floats and re.match(r"\s*(#(?!define)|namespace\b|extern\b|public:|private:|protected:|})", lines[end]):
            continue
        for number in range(start, end):
            indent, words = _COMMENT.match(lines[number]).groups()
            lines[number] = f"{indent}/// {as_doxygen(words)}".rstrip()
        if floats:
            lines[start - 1] = "/// @file"  # In place of the empty line before it.
            described = True
    if not described and not lines[2].strip():  # Below the guard. What a file holds is shown only where the file is.
        lines[2] = "/// @file"
    for number, line in enumerate(lines):
        behind = None if line.lstrip().startswith("//") else _BEHIND.match(line)
        if behind and not re.search(r'"[^"]*//', line):
            lines[number] = f"{behind[1]}{behind[2]}///< {as_doxygen(behind[3])}"
    print("\n".join(lines))


if __name__ == "__main__":
    main()
