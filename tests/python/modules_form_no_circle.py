#!/usr/bin/env python3
"""modules_form_no_circle.py PACKAGE: fails where modules of the package in that folder import each other in a circle.

Every import counts, also one inside a function or under TYPE_CHECKING. Before it looks at PACKAGE it shows, with small
packages that it makes, that it finds what it is to find. Needs Python 3.9 and nothing else.
"""

from __future__ import annotations

import ast
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

Graph = dict[str, set[str]]


def imported(tree: ast.AST, package: str, modules: set[str]) -> Iterator[str]:
    """The modules of the package that a module imports; the package itself is called "__init__"."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root, _, rest = alias.name.partition(".")
                if root == package:
                    yield rest if rest in modules else "__init__"
        elif isinstance(node, ast.ImportFrom):
            inside = node.module or ""
            if node.level == 0:
                root, _, inside = inside.partition(".")
                if root != package:
                    continue
            if inside:
                yield inside
            else:  # from . import a, b: modules, or names of the package itself.
                for alias in node.names:
                    yield alias.name if alias.name in modules else "__init__"


def graph_of(folder: Path) -> Graph:
    files = {file.stem: file for file in sorted(folder.glob("*.py"))}
    return {
        name: set(imported(ast.parse(file.read_text(encoding="utf-8")), folder.name, set(files)))
        for name, file in files.items()
    }


def circle_in(graph: Graph) -> Optional[list[str]]:
    """The modules of one circle, or None."""
    done: set[str] = set()

    def walk(module: str, path: list[str]) -> Optional[list[str]]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return None
        for following in sorted(graph.get(module, ())):
            found = walk(following, [*path, module])
            if found:
                return found
        done.add(module)
        return None

    return next((found for module in graph for found in [walk(module, [])] if found), None)


def check_itself() -> None:
    """Fails unless planted circles are found, and a package without one is let pass."""
    planted = {
        "at the top": ("from .b import f", "from . import a"),
        "inside of a function": ("from .b import f", "def g():\n    from . import a"),
        "for types alone": (
            "import sample.b",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import T",
        ),
        "by the package": ("from . import b", "from . import version"),
    }
    for name, (first, second) in planted.items():
        assert circle_in(_made(first, second, init="from .a import *")), f"the circle {name} was not found"
    assert circle_in(_made("import os\nfrom . import b", "import sys", init="from .a import *")) is None


def _made(first: str, second: str, init: str) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "sample"
        package.mkdir()
        for name, text in {"__init__": init, "a": first, "b": second}.items():
            (package / f"{name}.py").write_text(text + "\n", encoding="utf-8")
        return graph_of(package)


def main() -> int:
    check_itself()
    graph = graph_of(Path(sys.argv[1]).resolve())
    if len(graph) < 2:
        print(f"{sys.argv[1]} has no modules", file=sys.stderr)
        return 1
    circle = circle_in(graph)
    if circle:
        print(f"these modules import each other in a circle: {' -> '.join(circle)}", file=sys.stderr)
        return 1
    print(f"{len(graph)} modules, {sum(map(len, graph.values()))} imports, no circle")
    return 0


if __name__ == "__main__":
    sys.exit(main())
