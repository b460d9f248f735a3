#!/usr/bin/env python3
"""Draws life-of-a-sample.svg and life-of-a-sample-dark.svg: the path of a sample through the folders of the tree.

    python3 docs/pictures/make_pictures.py           writes both beside this script
    python3 docs/pictures/make_pictures.py FOLDER    writes them into FOLDER

Needs Python's standard library only. The same script always gives the same bytes; a test compares them with the files
that are checked in. Both pictures have the same shapes, one in the colors of a light page, one in those of a dark one.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 980, 560

LIGHT = {
    "ink": "#1f2328", "soft": "#59636e", "line": "#8c959f", "panel": "#f6f8fa", "edge": "#d1d9e0",
    "server": "#ddf4ff", "server_edge": "#54aeff", "client": "#dafbe1", "client_edge": "#4ac26b",
    "job": "#fff8c5", "job_edge": "#d4a72c", "seal": "#fbefff", "seal_edge": "#c297ff",
}  # fmt: skip
DARK = {
    "ink": "#f0f6fc", "soft": "#9198a1", "line": "#7d8590", "panel": "#151b23", "edge": "#3d444d",
    "server": "#0c2d4f", "server_edge": "#388bfd", "client": "#0f3320", "client_edge": "#2ea043",
    "job": "#3b2e08", "job_edge": "#bb8009", "seal": "#2b1c4a", "seal_edge": "#8957e5",
}  # fmt: skip

SANS = "-apple-system, BlinkMacSystemFont, 'Segoe UI', 'Noto Sans', Helvetica, Arial, 'DejaVu Sans', sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


class Picture:
    """Collects the shapes of one SVG. Lengths are in pixels from the top left corner."""

    def __init__(self, colors: dict[str, str]) -> None:
        self.colors = colors
        self.shapes: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, fill: str, edge: str, dashed: bool = False) -> None:
        fill = self.colors.get(fill, fill)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" fill="{fill}" '
            f'stroke="{self.colors[edge]}" stroke-width="1.5"{dash}/>'
        )

    def text(self, x: float, y: float, words: str, size: float = 13, color: str = "ink", anchor: str = "middle",
             bold: bool = False, mono: bool = False) -> None:  # fmt: skip
        weight = ' font-weight="600"' if bold else ""
        family = ' class="mono"' if mono else ""
        self.shapes.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{self.colors[color]}" text-anchor="{anchor}"'
            f"{weight}{family}>{escape(words)}</text>"
        )

    def arrow(self, *points: tuple[float, float]) -> None:
        """A line through `points`, with a head at the last one."""
        path = " L".join(f"{x:g} {y:g}" for x, y in points)
        self.shapes.append(
            f'<path d="M{path}" fill="none" stroke="{self.colors["line"]}" stroke-width="2" marker-end="url(#head)"/>'
        )

    def stage(self, x: float, y: float, width: float, folder: str, does: str, side: str) -> None:
        """A box for one folder: its name, and below it what happens there."""
        self.box(x, y, width, 56, side, f"{side}_edge")
        self.text(x + width / 2, y + 24, folder, size=14.5, bold=True, mono=True)
        self.text(x + width / 2, y + 43, does, size=11.5, color="soft")

    def svg(self) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="title about">\n'
            '<title id="title">The life of a sample</title>\n'
            '<desc id="about">The loader asks servers for positions of an epoch. A server plans, reads, decodes, '
            "augments and packs them into a span and sends it. The client receives it with one copy, uploads and "
            "transforms the batch, and hands it to the training loop. Whatever servers took part, the epoch has one "
            "SHA-256.</desc>\n"
            f"<style>text {{ font-family: {SANS}; }} .mono {{ font-family: {MONO}; }}</style>\n"
            '<defs><marker id="head" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="7" markerHeight="7" '
            f'orient="auto-start-reverse"><path d="M0 0 L10 5 L0 10 z" fill="{self.colors["line"]}"/></marker></defs>\n'
        )
        return head + "\n".join(self.shapes) + "\n</svg>\n"


SERVER_STAGES = [
    ("request", "parse, bound"),
    ("plan", "position → draws"),
    ("read", "bytes by id"),
    ("decode", "the part needed"),
    ("augment", "in few passes"),
    ("pack", "into a slab"),
    ("send", "without a copy"),
]


def draw_servers(picture: Picture) -> None:
    for offset in (16, 8, 0):  # Three machines, one behind the other.
        picture.box(18 + offset, 30 - offset, 928, 182, "panel", "edge")
    picture.text(38, 58, "stokerd on CPU machines", size=16, bold=True, anchor="start")
    picture.text(926, 58, "any number of them; none holds state that could be lost", color="soft", anchor="end")
    width, gap, left, top = 110, 18.5, 43, 118
    centers = []
    picture.box(left + width + 9, 82, 5 * width + 4 * gap + 19, 112, "none", "edge", dashed=True)
    picture.text(482, 103, "one worker takes a span, and each sample through to its end", size=12, color="soft")
    for index, (folder, does) in enumerate(SERVER_STAGES):
        x = left + index * (width + gap)
        picture.stage(x, top, width, folder, does, "server")
        centers.append(x + width / 2)
        if index > 0:
            picture.arrow((x - gap + 1, top + 28), (x - 2, top + 28))


def draw_wire(picture: Picture) -> None:
    picture.arrow((98, 348), (98, 178))
    picture.text(112, 254, "wants", size=14, bold=True, anchor="start")
    picture.text(112, 273, "positions of an epoch", size=12, color="soft", anchor="start")
    picture.arrow((869, 178), (869, 348))
    picture.text(855, 254, "spans", size=14, bold=True, anchor="end")
    picture.text(855, 273, "1 MiB of uint8, checksummed", size=12, color="soft", anchor="end")


def draw_digest(picture: Picture) -> None:
    picture.box(343, 230, 294, 78, "seal", "seal_edge")
    picture.text(490, 254, "one digest", size=15, bold=True)
    picture.text(490, 275, "SHA-256 5e208aa860c2e4b1…", size=13, mono=True)
    picture.text(490, 296, "1 server or 100, killed or not: the same bytes", size=11.5, color="soft")


def draw_client(picture: Picture) -> None:
    picture.box(18, 330, 944, 212, "panel", "edge")
    picture.box(38, 350, 904, 34, "client", "client_edge")
    picture.text(490, 372, "fleet", size=14.5, bold=True, mono=True, anchor="end")
    picture.text(500, 372, "many servers as one", size=11.5, color="soft", anchor="start")
    top = 426
    picture.stage(43, top, 110, "schedule", "whom to ask", "client")
    picture.stage(814, top, 110, "receive", "the one copy", "client")
    picture.box(434, top - 22, 344, 94, "none", "edge", dashed=True)
    picture.text(606, top - 6, "device", size=13, bold=True, mono=True, color="soft")
    for x, step, does in ((674, "pin", "page-locked"), (560, "upload", "own stream"), (446, "transform", "to floats")):
        picture.box(x, top + 2, 92, 52, "client", "client_edge")
        picture.text(x + 46, top + 25, step, size=13.5, bold=True)
        picture.text(x + 46, top + 43, does, size=11.5, color="soft")
    picture.stage(310, top, 104, "loader", "hands out", "client")
    picture.box(176, top, 112, 56, "job", "job_edge")
    picture.text(232, top + 24, "training loop", size=13.5, bold=True)
    picture.text(232, top + 43, "batches in order", size=11.5, color="soft")

    picture.arrow((98, top - 1), (98, 387))
    picture.arrow((869, 385), (869, top - 3))
    middle = top + 28
    for begin, end in ((813, 769), (673, 655), (559, 541), (445, 417), (309, 291)):
        picture.arrow((begin, middle), (end, middle))
    picture.arrow((175, middle), (156, middle))
    picture.text(38, 524, "stoker::Loader on the GPU host", size=16, bold=True, anchor="start")
    picture.text(942, 524, "C++, Python, LibTorch, C; a batch or two ahead", color="soft", anchor="end")


def life_of_a_sample(colors: dict[str, str]) -> str:
    picture = Picture(colors)
    draw_servers(picture)
    draw_client(picture)
    draw_wire(picture)
    draw_digest(picture)
    return picture.svg()


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    folder.mkdir(parents=True, exist_ok=True)
    for name, colors in (("life-of-a-sample", LIGHT), ("life-of-a-sample-dark", DARK)):
        (folder / f"{name}.svg").write_text(life_of_a_sample(colors), encoding="utf-8")


if __name__ == "__main__":
    main()
