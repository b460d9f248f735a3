"""Makes DLPack's capsules by ctypes: has the part of dlpack.h (0.x) that a producer needs."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p, py_object
from typing import Any

CPU = 1
CUDA = 2


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _DLManagedTensor(ctypes.Structure):
    _fields_ = [("dl_tensor", _DLTensor), ("manager_ctx", c_void_p), ("deleter", ctypes.CFUNCTYPE(None, c_void_p))]


# What runs as Python ends has what it needs in its parameters: by then this module's globals may be gone.
def delete(managed: int, _struct: Any = _DLManagedTensor) -> None:
    """Lets go of a DLManagedTensor, as its consumer does."""
    _struct.from_address(managed).deleter(managed)


# This handle is our own, because all modules share the functions of ctypes.pythonapi, and their argtypes.
_python = ctypes.PyDLL(None)
_new = _python.PyCapsule_New
_new.restype, _new.argtypes = py_object, [c_void_p, c_char_p, c_void_p]
_is_valid = _python.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = c_int, [c_void_p, c_char_p]
_get_pointer = _python.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = c_void_p, [c_void_p, c_char_p]

_NAME = b"dltensor"  # Capsules point to this object. A consumer renames the capsule that it takes.


def _destroy(
    capsule: int,
    _name: bytes = _NAME,
    _is_valid: Any = _is_valid,
    _get_pointer: Any = _get_pointer,
    _delete: Any = delete,
) -> None:
    if _is_valid(capsule, _name):
        _delete(_get_pointer(capsule, _name))


_callback = ctypes.PYFUNCTYPE(None, c_void_p)(_destroy)
_python.Py_IncRef(py_object(_callback))  # A capsule may outlive this module.
_destructor = ctypes.cast(_callback, c_void_p)


def capsule_of(managed: int) -> Any:
    """A capsule that owns a DLManagedTensor until somebody consumes it."""
    return _new(managed, _NAME, _destructor)
