"""One field of a batch, which any library that knows DLPack can take without a copy."""

from __future__ import annotations

import ctypes
from typing import Any, Optional

from . import _dlpack, _library
from ._handle import BatchHandle

_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat"}

# For the struct module and memoryview; bfloat16 has none.
_FORMATS = {
    "int8": "b", "int16": "h", "int32": "i", "int64": "q",
    "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
    "float16": "e", "float32": "f", "float64": "d",
}  # fmt: skip


class Tensor:
    """A field of a batch, in the memory where the loader made it. Its elements may be written, all else is immutable.

    It owns its memory, also when its batch and its loader are gone. A ``Tensor`` keeps its whole batch; what another
    library takes from it keeps the field alone.

    Use it with whatever takes DLPack: ``torch.from_dlpack(tensor)``, ``jax.dlpack.from_dlpack(tensor)``,
    ``cupy.from_dlpack(tensor)``; on the CPU also with ``numpy.asarray(tensor)`` or ``tensor.memoryview()``.
    """

    __slots__ = ("_batch", "_index", "_data", "_typestr", "name", "dtype", "shape", "nbytes", "device")

    #: The field's name in the dataset: ``"image"``, ``"label"``.
    name: str
    #: The elements' type: ``"uint8"``, ``"int64"``, ``"float32"``, ``"bfloat16"``, …
    dtype: str
    #: Samples come first. An image's height, width and channels follow; its channels come before where they are first.
    shape: tuple[int, ...]
    #: The size of all elements in bytes.
    nbytes: int
    #: DLPack's number for the kind of device (1 is the CPU, 2 is CUDA), and the device's index.
    device: tuple[int, int]

    def __init__(self, batch: BatchHandle, index: int) -> None:
        described = _library.TensorStruct()
        _library.check(_library.library().stoker_batch_get_tensor(batch.pointer, index, ctypes.byref(described)))
        self._batch = batch
        self._index = index
        self._data = described.data or 0
        self.name = described.name.decode()
        self.dtype = f"{_KINDS[described.dtype_code]}{described.dtype_bits}"
        self._typestr = f"<{self.dtype[0]}{described.dtype_bits // 8}"  # NumPy's.
        self.shape = tuple(described.shape[: described.ndim])
        self.nbytes = described.bytes
        self.device = (described.device_type, described.device_id)

    def __repr__(self) -> str:
        where = "cpu" if self.device[0] == _dlpack.CPU else f"cuda:{self.device[1]}"
        return f"stoker.Tensor(name={self.name!r}, dtype={self.dtype!r}, shape={self.shape}, device={where!r})"

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    # ---- DLPack ----

    def __dlpack__(
        self,
        *,
        stream: Optional[int] = None,
        max_version: Optional[tuple[int, int]] = None,
        dl_device: Optional[tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any:
        """A capsule named "dltensor", as the Python array API standard describes it. It may be taken many times.

        On CUDA ``stream``, a ``cudaStream_t`` as an integer, waits for the tensor, and the host does not: 1, or None,
        is the legacy default stream, 2 is the calling thread's. For -1 nothing waits: the consumer calls ``use_on``
        itself before it uses the tensor.

        Raises BufferError for ``copy=True`` and for another device, because the tensor gives its own memory or nothing.
        """
        if copy:
            raise BufferError("stoker.Tensor gives its own memory: copy it with the library that takes it")
        if dl_device is not None and (int(dl_device[0]), int(dl_device[1])) != self.device:
            raise BufferError(f"stoker.Tensor is on device {self.device}, asked for was {tuple(dl_device)}")
        if self.device[0] == _dlpack.CUDA and stream != -1:
            self.use_on(1 if stream is None else stream)
        return _dlpack.capsule_of(self._batch.managed(self._index))

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def use_on(self, stream: Any) -> None:
        """Lets work on a CUDA stream use the tensor. Call it once for each stream, before such work is queued.

        The stream then waits until the tensor is made. The tensor's memory, once it is let go, is used again only after
        that work. ``__dlpack__`` does this for the stream that it is given. ``stream`` is a ``cudaStream_t`` as an
        integer, or torch's or CuPy's stream. The call itself does not wait, and does nothing on the CPU.
        """
        self._batch.use_on(stream)

    # ---- the CPU ----

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self.device[0] != _dlpack.CPU:
            raise AttributeError("a tensor on a GPU has no __array_interface__")
        if self.dtype not in _FORMATS:
            raise AttributeError(f"NumPy has no {self.dtype}")
        # NumPy wants an address even where there is nothing.
        return {"version": 3, "shape": self.shape, "typestr": self._typestr, "data": (self._data or 1, False)}

    def memoryview(self) -> memoryview:
        """The elements for Python itself to read and write, in the tensor's shape. The view keeps the memory.

        Raises BufferError for a tensor on a GPU, and for bfloat16, which Python does not know.
        """
        if self.device[0] != _dlpack.CPU:
            raise BufferError("a tensor on a GPU has no memoryview")
        if self.dtype not in _FORMATS:
            raise BufferError(f"Python has no {self.dtype}")
        elements = (ctypes.c_uint8 * self.nbytes).from_address(self._data or ctypes.addressof(_EMPTY))
        elements.owner = self  # type: ignore[attr-defined]
        flat: Any = memoryview(elements).cast("B")
        shape = [] if 0 in self.shape else [self.shape]  # memoryview has no shapes with a 0.
        view: memoryview = flat.cast(_FORMATS[self.dtype], *shape)
        return view

    def __buffer__(self, flags: int) -> Any:  # Python 3.12's memoryview(tensor).
        return self.memoryview()


_EMPTY = (ctypes.c_uint8 * 1)()
