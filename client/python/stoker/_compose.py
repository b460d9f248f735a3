"""Puts ops in a row."""

from __future__ import annotations

from collections.abc import Sequence

from ._op import Document, Op


class Compose:
    """A list of ops, in the order of application."""

    def __init__(self, transforms: Sequence[Op]) -> None:
        self.transforms: list[Op] = list(transforms)
        for op in self.transforms:
            if not isinstance(op, Op):
                raise TypeError(
                    f"{op!r} is no op of stoker.transforms; stoker.transforms.convert takes torchvision's and "
                    "Albumentations'"
                )

    def __repr__(self) -> str:
        return f"Compose({self.transforms!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compose) and self.transforms == other.transforms

    __hash__ = None  # type: ignore[assignment]

    def document(self) -> Document:
        return {"ops": [op.document() for op in self.transforms]}
