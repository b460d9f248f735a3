"""What ops do to an image's size, where that can be known without the image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from ._op import Document

#: Height and width in pixels; None where images may differ.
Size = Optional[tuple[int, int]]


def size_after(op: Document, size: Size) -> Size:
    """The size of images of `size` after the op of that document."""
    name = next(key for key in op if key != "placement")
    arguments = op[name]
    if name in ("RandomResizedCrop", "CenterCrop", "RandomCrop"):
        return _pair(arguments["size"])
    if name == "Resize":
        return _pair(arguments["size"]) if _count(arguments["size"]) == 2 else None
    if name in ("RandomIoUCrop", "RandomZoomOut", "ScaleJitter", "RandomShortestSize"):
        return None
    if name == "Pad":
        return _padded(arguments["padding"], size)
    if name == "RandomApply":
        after = size
        for inner in arguments["transforms"]:
            after = size_after(inner, after)
        return after if after == size or arguments.get("p") == 1 else None
    if name == "RandomChoice":
        sizes = {size_after(inner, size) for inner in arguments["transforms"]}
        return sizes.pop() if len(sizes) == 1 else None
    return size


def _padded(padding: Any, size: Size) -> Size:
    if size is None:
        return None
    left, top, right, bottom = borders(padding)
    return size[0] + top + bottom, size[1] + left + right


def borders(padding: Any) -> list[int]:
    """Left, top, right and bottom of torchvision's padding: one number, one in a list, two, or four."""
    listed = list(padding) if isinstance(padding, Sequence) else [padding]
    return {1: listed * 4, 2: listed * 2}.get(len(listed), listed)


def _pair(size: Any) -> Size:
    listed = list(size) if isinstance(size, Sequence) else [size]
    return int(listed[0]), int(listed[-1])


def _count(size: Any) -> int:
    return len(size) if isinstance(size, Sequence) else 1
