"""The errors: one type for each of the client library's codes, which are gRPC's canonical ones."""

from __future__ import annotations


class StokerError(Exception):
    """The base of all errors of the client library. The message names the key, sample or server at fault."""

    #: gRPC's canonical code.
    code: int = 2


class CancelledError(StokerError):
    """The loader was closed while something waited for it."""

    code = 1


class InvalidArgumentError(StokerError, ValueError):
    """An option, or an op of the pipeline, is wrong; the message names it."""

    code = 3


class DeadlineExceededError(StokerError, TimeoutError):
    """No data came for ``progress_timeout`` seconds; the message says what each server was doing."""

    code = 4


class NotFoundError(StokerError, LookupError):
    """The servers have no such dataset or pipeline."""

    code = 5


class AlreadyExistsError(StokerError):
    """What should be made is there already."""

    code = 6


class PermissionDeniedError(StokerError):
    """The servers do not allow this."""

    code = 7


class ResourceExhaustedError(StokerError):
    """A limit was reached: memory of this process, of the GPU or of the servers."""

    code = 8


class FailedPreconditionError(StokerError, RuntimeError):
    """Two things do not fit: a state and another dataset, an image and a larger crop, servers that differ."""

    code = 9


class AbortedError(StokerError):
    """An operation was broken off. The message says by whom and why."""

    code = 10


class OutOfRangeError(StokerError, ValueError):
    """A number lies outside of what is allowed; the message names it."""

    code = 11


class UnimplementedError(StokerError, NotImplementedError):
    """The servers, or this build of the library, cannot do that."""

    code = 12


class InternalError(StokerError):
    """A defect in Stoker: please report the message."""

    code = 13


class UnavailableError(StokerError, ConnectionError):
    """No server could be reached, or none could make a span; the message says why for each."""

    code = 14


class DataLossError(StokerError):
    """A sample is bad; the message names it. ``bad_samples="substitute"`` goes on with the next one instead.

    Or servers make different bytes of a sample; the message names both. ``verify_policy="warn"`` goes on.
    """

    code = 15


class UnauthenticatedError(StokerError):
    """The servers do not know who asks."""

    code = 16


class ForkedError(FailedPreconditionError):
    """A loader was used in a forked child of the process that made it."""


class LibraryError(StokerError, ImportError):
    """The client library, libstoker.so, was not found, does not load, or is too old."""


class StokerWarning(UserWarning):
    """Something is worth knowing and stops no job: a substituted sample, memory that could not be page-locked."""


def _by_code() -> dict[int, type[StokerError]]:
    types: dict[int, type[StokerError]] = {}
    for value in list(globals().values()):
        if isinstance(value, type) and issubclass(value, StokerError) and "code" in vars(value):
            types[value.code] = value
    return types


_BY_CODE = _by_code()


def error_of(code: int, message: str) -> StokerError:
    """The error for a code that the library returned, with its message."""
    return _BY_CODE.get(code, StokerError)(message)
