"""What type checkers are told of a loader's batches. Nothing here does anything when a program runs.

A loader is generic over what it hands out, by `output` and `as_dict`: Loader[tuple[torch.Tensor, ...]] for "torch". The
default, "auto", depends on what the program has imported, so its arrays are Any. Who knows more says so:
``loader: stoker.Loader[tuple[torch.Tensor, torch.Tensor]] = stoker.Loader(…)``. Loader alone is Loader[Any].
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Optional, TypedDict, Union

from ._pipeline import Transforms

if TYPE_CHECKING:
    # torch's DataLoader takes nothing but its own classes. Without torch a checker takes the base for Any.
    from torch.utils.data import IterableDataset as Dataset
    from typing_extensions import Required, TypeVar

    BatchT_co = TypeVar("BatchT_co", covariant=True, default=Any)
else:
    from typing import TypeVar

    BatchT_co = TypeVar("BatchT_co", covariant=True)

    class Dataset(Generic[BatchT_co]):
        """Stands for torch's IterableDataset, which a program need not have."""


__all__ = ["BatchT_co", "Dataset", "Options", "Servers"]

Servers = Union[str, Sequence[str]]


class Options(TypedDict, total=False):
    """A loader's arguments by name, but for those that settle what its batches are."""

    batch_size: Required[int]
    split: Optional[str]
    split_seed: Optional[int]
    indices: Optional[Iterable[int]]
    classes: Union[None, str, Iterable[str]]
    subset: Optional[str]
    device: Any
    dtype: Any
    layout: Optional[str]
    transforms: Transforms
    on_unsupported: str
    bad_samples: Optional[str]
    jpeg_scaling: Optional[str]
    seed: int
    shuffle: Union[bool, str, Mapping[str, Any]]
    class_weights: Union[None, str, Mapping[str, int]]
    samples: Optional[int]
    last_batch: Optional[str]
    rank: Optional[int]
    world_size: Optional[int]
    names: bool
    prefetch: Optional[int]
    prefetch_bytes: Optional[int]
    pin: Optional[str]
    pinned_bytes: Optional[int]
    progress_timeout: Optional[float]
    span_deadline: Optional[float]
    verify: Optional[float]
    verify_policy: Optional[str]
    connect_timeout: Optional[float]
    connections: Optional[int]
    tls_ca_file: Optional[str]
    tls_server_name: Optional[str]
    tls_cert_file: Optional[str]
    tls_key_file: Optional[str]
    token_file: Optional[str]
