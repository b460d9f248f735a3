"""Pipelines by torchvision v2's names: what the servers, and the loader's device, do to each sample.

    transforms.Compose([
        transforms.RandomResizedCrop(224),
        transforms.RandomHorizontalFlip(),
        transforms.ToDtype("float32", scale=True),
        transforms.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
    ])

Names, arguments and defaults are torchvision's. An argument that is left out is left to the servers, which have the
same defaults. Nothing is checked here: making a loader does that, and names the op and the argument that is wrong.

Every op takes ``placement="server"`` or ``"device"``. By default the servers change shapes and colors, and the loader's
device makes floats. Images are uint8, height × width × channels, until ToDtype and ToMemoryFormat. Sizes are in pixels.
"""

from . import _ops
from ._compose import Compose
from ._op import Op, OwnOp
from ._ops import *  # noqa: F403
from ._pipeline import Pipeline, Views, options_of, with_dtype  # noqa: F401  The last two are for tests and tools.
from ._convert import ConversionError, convert

__all__ = ["Compose", "ConversionError", "Op", "OwnOp", "Pipeline", "Views", "convert"]
__all__ += _ops.__all__
