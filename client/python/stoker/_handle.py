"""The handle of a batch of the library. A batch's tensors need this much of it, and no more."""

from __future__ import annotations

import ctypes
from typing import Any

from . import _library


class BatchHandle(_library.Owner):
    """Owns a stoker_batch, and releases it. Used by one thread at a time."""

    def __init__(self) -> None:
        """Starts empty: the loader writes the batch into `pointer`, which then owns it."""
        super().__init__()
        self._release = _library.library().stoker_batch_release
        self.pointer = ctypes.c_void_p()

    def __del__(self) -> None:
        pointer = getattr(self, "pointer", None)
        if pointer and not self.in_child():
            self._release(pointer)

    def use_on(self, stream: Any) -> None:
        """Does for all of the batch's tensors what ``Tensor.use_on`` does for one."""
        _library.check(_library.library().stoker_batch_use_on(self.pointer, stream_number(stream)))

    def wait(self) -> None:
        """Waits until the batch is made on its device, for whoever reads it from the host. On the CPU it always is."""
        _library.check(_library.library().stoker_batch_wait(self.pointer))

    def managed(self, index: int) -> int:
        """The address of a new DLManagedTensor of one field. Whoever takes it calls its deleter."""
        tensor = ctypes.c_void_p()
        _library.check(_library.library().stoker_batch_dlpack(self.pointer, index, ctypes.byref(tensor)))
        return tensor.value  # type: ignore[return-value]


def stream_number(stream: Any) -> int:
    """The number of a stream: of torch's (cuda_stream), of CuPy's (ptr), or the number itself."""
    for attribute in ("cuda_stream", "ptr"):
        number = getattr(stream, attribute, None)
        if number is not None:
            return int(number)
    return int(stream)
