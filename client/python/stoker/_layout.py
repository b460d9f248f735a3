"""Where images have their channels: before height and width, as torch's networks want them, or last, as they travel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from . import ragged
from .errors import InvalidArgumentError

FIRST, LAST = "channels_first", "channels_last"


def check(layout: Optional[str]) -> None:
    if layout not in (None, FIRST, LAST):
        raise InvalidArgumentError(f"layout: {layout!r} is neither {FIRST!r} nor {LAST!r}")


def settle(description: Mapping[str, Any], layout: Optional[str], output: str) -> list[bool]:
    """Notes in each image field of `description` its layout, and its shape as the arrays of `output` have it.

    Returns for each field whether its channels are to be moved to the front when it is handed out. Images of uint8 come
    from the servers with their channels last; a pipeline's ToMemoryFormat settles for itself.
    """
    told = _told_by(description["pipeline"])
    if told is not None and layout not in (None, told):
        raise InvalidArgumentError(f"layout: {layout!r}, but the pipeline's ToMemoryFormat says {told!r}")
    wanted = layout or (FIRST if output == "torch" else LAST)
    if told is None and wanted == FIRST and output == "dlpack":
        raise InvalidArgumentError(f"layout: stoker.Tensor has images as they are: add ToMemoryFormat({FIRST!r})")
    moved = []
    views = {group["name"] for group in description["pipeline"].get("views", [])}
    for field in description["fields"]:
        is_image = len(field["shape"]) >= 3 and "kind" not in field
        is_image &= told is not None or field["dtype"] == "uint8" or field["name"] in views
        move = is_image and told is None and wanted == FIRST
        if field.get("kind") == ragged.IMAGES:
            field["layout"] = wanted
        if move:
            *outer, height, width, channels = field["shape"]
            field["shape"] = [*outer, channels, height, width]
        if is_image:
            field["layout"] = told or wanted
        moved.append(move)
    return moved


def _told_by(pipeline: Mapping[str, Any]) -> Optional[str]:
    for op in pipeline.get("ops", []):
        if "ToMemoryFormat" in op:
            told: str = op["ToMemoryFormat"].get("memory_format", FIRST)
            return told
    return None
