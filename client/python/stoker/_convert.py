"""Turns a Compose of torchvision, timm or Albumentations into a pipeline, by its ops' class names and attributes.

Neither library is imported here, and any version that has those attributes will do.
"""

from __future__ import annotations

from typing import Any

from . import _from_albumentations, _from_timm, _from_torchvision  # noqa: F401  They register what they can convert.
from ._compose import Compose
from ._conversion import Conversion, ConversionError, Left, Refused, children
from ._op import Op

__all__ = ["ConversionError", "Refused", "convert"]


def convert(compose: Any) -> Compose:
    """Makes the pipeline that does what ``compose`` does.

    ``compose`` is a ``Compose`` of torchvision.transforms, of its v2 or of Albumentations, or a list of their ops; what
    ``ResNet50_Weights.DEFAULT.transforms()`` gives; or what ``timm.data.create_transform`` does.

    - ``ToTensor`` becomes ToDtype("float32", scale=True) with channels first; ``ToImage``, ``PILToTensor`` and
      ``ToTensorV2`` put channels first. Images are uint8 where they come from.
    - Ops on floats that say the same of uint8 are moved before the conversion, and then round to whole levels.
    - Albumentations' resizing does not filter before it reduces, and is taken over so (``antialias=False``);
      its ``p`` becomes RandomApply where the op has no such argument.
    - Distributions are taken over; the random numbers themselves are not.

    Raises ConversionError, which names each op that cannot be converted, and why and what to do. A loader with
    ``on_unsupported="client"`` runs the rest in the training process instead, from the first such op on.
    """
    found = list(children(compose, "transforms"))
    conversion = Conversion()
    for place, op in found:
        conversion.add(place, op)
    return _made(conversion, [op for _, op in found])


def convert_first(compose: Any) -> tuple[Compose, list[Any], list[Left]]:
    """What becomes of ``compose`` up to the first op that cannot be converted; the ops up to there, and the rest."""
    found = list(children(compose, "transforms"))
    if all(isinstance(op, Op) for _, op in found):
        return Compose([op for _, op in found]), [op for _, op in found], []
    conversion = Conversion()
    for at, (place, op) in enumerate(found):
        before = conversion.copy()
        conversion.add(place, op)
        if conversion.refused:
            taken = [op for _, op in found[:at]]
            reason = conversion.refused[0].reason
            return _made(before, taken), taken, [Left(place, op, reason) for place, op in found[at:]]
    taken = [op for _, op in found]
    return _made(conversion, taken), taken, []


def _made(conversion: Conversion, taken: list[Any]) -> Compose:
    return Compose(taken) if all(isinstance(op, Op) for op in taken) else conversion.finish()
