"""What depends on torch, without importing it: a program that has not imported it does not need it."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Optional, TypeVar

from .errors import FailedPreconditionError

T = TypeVar("T")


def device_name(device: Any) -> str:
    """The device's name for the library. "cuda" alone is torch's current GPU."""
    name = f"cuda:{device}" if isinstance(device, int) else str(device)
    torch = sys.modules.get("torch")
    if name == "cuda" and torch is not None and torch.cuda.is_available():
        return f"cuda:{torch.cuda.current_device()}"
    return "cpu" if name == "cpu:0" else name  # Accelerate's name for it.


def profiled(name: str) -> AbstractContextManager[Any]:
    """Shows what it surrounds as a range in torch.profiler's trace, while that is on."""
    profiler = sys.modules.get("torch.autograd.profiler")
    if profiler is None:
        return nullcontext()
    enabled = getattr(profiler, "_is_profiler_enabled", None)
    if enabled is None:  # As before torch 2.0.
        enabled = sys.modules["torch"]._C._autograd._profiler_enabled()
    if not enabled:
        return nullcontext()
    record: AbstractContextManager[Any] = profiler.record_function(name)
    return record


def rank_and_world_size() -> tuple[Optional[int], Optional[int]]:
    """This process's in torch.distributed's default group; None where that is not initialized."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None, None
    return distributed.get_rank(), distributed.get_world_size()


def check_world_size(world_size: int) -> None:
    """Raises where a process group was made after the loader, which thus does not know that there are other ranks."""
    ranks = rank_and_world_size()[1]
    if ranks is not None and ranks != world_size:
        raise FailedPreconditionError(
            f"torch.distributed has {ranks} ranks and the loader was made for {world_size}, so ranks would train on the "
            "same samples. Make the loader once the process group is there, in Lightning in train_dataloader(), or say "
            "rank= and world_size="
        )


def refuse_to_be_shared_out() -> None:
    """Raises where Accelerate iterates over the loader of one rank and shares its batches out among all ranks."""
    frame: Any = sys._getframe(1) if "accelerate.data_loader" in sys.modules else None
    while frame is not None:
        if type(frame.f_locals.get("self")).__module__ == "accelerate.data_loader":
            raise FailedPreconditionError(
                "Accelerate would share this rank's batches out among all ranks, and the other ranks' batches would be "
                "lost: the loader knows its rank already. Give prepare() the loader itself, not a DataLoader of it"
            )
        frame = frame.f_back


def dataset_class(loader: type[T]) -> type[T]:
    """The class to make instances of so that ``DataLoader(loader, batch_size=None)`` iterates over them: it asks whether
    its dataset is an IterableDataset. Torches before 2.0 take nobody's word for that, but a subclass.
    """
    data = sys.modules.get("torch.utils.data")
    iterable = getattr(data, "IterableDataset", None)
    if iterable is None or issubclass(loader, iterable):
        return loader
    if hasattr(iterable, "register"):
        iterable.register(loader)
        return loader
    bases = (loader, iterable)
    if bases not in _subclasses:
        _subclasses[bases] = type(loader.__name__, bases, {"__module__": loader.__module__})
    return _subclasses[bases]


_subclasses: dict[tuple[type, type], type] = {}
