"""mosaicml-streaming's writer and reader of shards, without torch."""

import importlib.util
import sys
import types
from pathlib import Path


def stand_in(name: str, **members: object) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module
    return module


def import_mds() -> tuple[type, type]:
    """Imports the writer and the reader of shards without the packages around them, which load all of torch."""
    root = Path(importlib.util.find_spec("streaming").submodule_search_locations[0])
    for name in ("streaming", "streaming.base", "streaming.base.format"):
        stand_in(name, __path__=[str(root.joinpath(*name.split(".")[1:]))])
    stand_in("streaming.base.shared.prefix", _get_path=None)  # of memory that processes share
    stand_in("streaming.base.shared", __path__=[])
    dist = stand_in("torch.distributed", is_available=lambda: False, is_initialized=lambda: False)
    stand_in("torch", __path__=[], distributed=dist, Tensor=object)
    from streaming.base.format.mds.reader import MDSReader
    from streaming.base.format.mds.writer import MDSWriter

    return MDSWriter, MDSReader
