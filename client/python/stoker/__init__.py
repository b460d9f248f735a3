"""Stoker's client: batches for a training job, decoded and augmented by other machines.

    import stoker

    loader = stoker.Loader("cpu1:7077", batch_size=256, dtype="float32")
    for images, labels in loader:
        train(images, labels)

Pure Python over libstoker.so, which the wheel brings along; needs nothing else. Batches are handed out as torch's,
NumPy's, JAX's or CuPy's arrays, without a copy.
"""

from . import transforms
from ._convert import ConversionError, convert
from .batch import Batch, BatchInfo, Digest, Substituted
from .dataset import DatasetInfo, DatasetPart, folds, servers_offer
from .errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    ForkedError,
    InternalError,
    InvalidArgumentError,
    LibraryError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    StokerError,
    StokerWarning,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
)
from .loader import Loader, Sampler
from .ops import BadSample, op
from .outputs import use_on
from .overlap import Overlap
from .ragged import Ragged
from .ragged_images import RaggedImages
from .sparse import Sparse
from .tensor import Tensor

__version__ = "0.1.0"

__all__ = [
    "AbortedError",
    "AlreadyExistsError",
    "BadSample",
    "Batch",
    "BatchInfo",
    "CancelledError",
    "ConversionError",
    "DataLossError",
    "DatasetInfo",
    "DatasetPart",
    "DeadlineExceededError",
    "Digest",
    "FailedPreconditionError",
    "ForkedError",
    "InternalError",
    "InvalidArgumentError",
    "LibraryError",
    "Loader",
    "NotFoundError",
    "OutOfRangeError",
    "Overlap",
    "PermissionDeniedError",
    "Ragged",
    "RaggedImages",
    "ResourceExhaustedError",
    "Sampler",
    "Sparse",
    "StokerError",
    "StokerWarning",
    "Substituted",
    "Tensor",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "convert",
    "folds",
    "op",
    "servers_offer",
    "transforms",
    "use_on",
]
