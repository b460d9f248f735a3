"""What a GPU's tensors ask of the library, call by call: a library of ours stands in for libstoker.so, so that no GPU
is needed. Capsules and their deleters are real.
"""

from __future__ import annotations

import ctypes
import gc
import json
import warnings
from types import SimpleNamespace

import pytest

import stoker
from stoker import _dlpack, _library

_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class FakeLibrary:
    """Two batches of one 4×2 float16 field on CUDA device 1, then the epoch's end. `calls` has what was asked for."""

    def __init__(self) -> None:
        self.calls = []
        self.deleted = []
        self.warnings = []
        self._left = 2
        self._alive = {}
        self._text = {}
        self._deleter = _DELETER(self.deleted.append)
        self._shape = (ctypes.c_int64 * 2)(4, 2)

    def _give(self, target, document) -> int:
        text = ctypes.create_string_buffer(json.dumps(document).encode())
        self._text[ctypes.addressof(text)] = text
        target._obj.value = ctypes.addressof(text)
        return 0

    def stoker_free(self, text) -> None:
        del self._text[text.value]

    def stoker_error(self) -> bytes:
        return b"what failed"

    def stoker_loader_create(self, options, loader) -> int:
        self.options = json.loads(options)
        loader._obj.value = 1
        return 0

    def stoker_loader_destroy(self, loader) -> None:
        self.calls.append("destroy")

    def stoker_loader_cancel(self, loader) -> None:
        pass

    def stoker_loader_describe(self, loader, text) -> int:
        described = {"dataset": "photos", "samples": 8, "fingerprint": "00", "device": "cuda:1", "pipeline": {}}
        described.update({"batches_per_epoch": 2, "batch_size": 4, "rank": 0, "world_size": 1, "parts": []})
        return self._give(text, {**described, "fields": [{"name": "image", "dtype": "float16", "shape": [2]}]})

    def stoker_loader_state(self, loader, text) -> int:
        return self._give(text, {"epoch": 0, "position": 8 - 4 * self._left})

    def stoker_loader_stats(self, loader, text) -> int:
        return self._give(text, {"warnings": self.warnings})

    def stoker_loader_set_epoch(self, loader, epoch) -> int:
        return 0

    def stoker_loader_next(self, loader, timeout, batch) -> int:
        if self._left:
            batch._obj.value = 100 + self._left
            self._left -= 1
        return 0

    def stoker_batch_get_info(self, batch, info) -> None:
        info._obj.size = info._obj.real = 4
        info._obj.positions = info._obj.sample_ids = (ctypes.c_uint64 * 4)(0, 1, 2, 3)
        info._obj.tensors = 1

    def stoker_batch_get_tensor(self, batch, index, tensor) -> int:
        described = tensor._obj
        described.name, described.data, described.bytes = b"image", 0x7000, 16
        described.shape, described.ndim = self._shape, 2
        described.device_type, described.device_id, described.dtype_code, described.dtype_bits = 2, 1, 2, 16
        return 0

    def stoker_batch_substituted(self, batch, text) -> int:
        return self._give(text, [])

    def stoker_batch_use_on(self, batch, stream) -> int:
        self.calls.append(("batch", stream))
        return 13 if stream == 666 else 0

    def stoker_batch_dlpack(self, batch, index, tensor) -> int:
        managed = _dlpack._DLManagedTensor()
        managed.deleter = self._deleter
        self._alive[ctypes.addressof(managed)] = managed
        tensor._obj.value = ctypes.addressof(managed)
        return 0

    def stoker_dlpack_use_on(self, tensor, stream) -> int:
        assert tensor in self._alive
        self.calls.append(("tensor", stream))
        return 0

    def stoker_batch_release(self, batch) -> None:
        self.calls.append("release")


@pytest.fixture
def fake(monkeypatch):
    library = FakeLibrary()
    monkeypatch.setattr(_library, "_loaded", library)
    yield library
    gc.collect()
    assert not library._text  # Every string was freed.


@pytest.fixture
def loader(fake):
    with stoker.Loader("a:1", batch_size=4, device="cuda:1", output="dlpack") as made:
        yield made


@pytest.mark.parametrize("asked, used", [(None, 1), (1, 1), (2, 2), (0x5000, 0x5000)])
def test_a_capsules_consumer_stream_waits(fake, loader, asked, used):
    (tensor,) = next(iter(loader))
    assert tensor.__dlpack_device__() == (2, 1)
    tensor.__dlpack__(stream=asked)
    assert fake.calls == [("batch", used)]


def test_minus_one_leaves_waiting_to_the_consumer(fake, loader):
    (tensor,) = next(iter(loader))
    tensor.__dlpack__(stream=-1)
    assert fake.calls == []


@pytest.mark.parametrize(
    "stream", [7, SimpleNamespace(cuda_stream=7), SimpleNamespace(ptr=7)], ids=["number", "torch", "cupy"]
)
def test_use_on_takes_streams_of_any_library(fake, loader, stream):
    tensors = next(iter(loader))
    loader.use_on(tensors, stream)
    stoker.use_on(tensors[0], stream)
    assert fake.calls == [("batch", 7)] * 2


def test_errors_of_the_device_are_raised(fake, loader):
    (tensor,) = next(iter(loader))
    with pytest.raises(stoker.InternalError, match="what failed"):
        tensor.__dlpack__(stream=666)
    assert fake.deleted == []  # Nothing was taken.


def test_capsules_that_nobody_took_are_deleted_once(fake, loader):
    (tensor,) = next(iter(loader))
    capsule = tensor.__dlpack__(stream=1)
    assert fake.deleted == []
    del capsule
    assert len(fake.deleted) == 1


def test_batches_are_released_with_their_last_tensor(fake, loader):
    (tensor,) = next(iter(loader))
    gc.collect()
    assert "release" not in fake.calls
    del tensor
    assert fake.calls == ["release"]


def test_the_hosts_ways_are_refused(loader):
    (tensor,) = next(iter(loader))
    with pytest.raises(BufferError, match="GPU"):
        tensor.memoryview()
    assert not hasattr(tensor, "__array_interface__")
    with pytest.raises(BufferError, match="device"):
        tensor.__dlpack__(dl_device=(1, 0))


def test_numpy_is_refused_and_not_chosen(fake):
    with pytest.raises(stoker.InvalidArgumentError, match="the device is cuda:1"):
        stoker.Loader("a:1", batch_size=4, device="cuda:1", output="numpy")
    assert fake.calls == ["destroy"]


def test_torch_waits_on_its_current_stream_and_further_ones_are_announced(fake, monkeypatch):
    torch = pytest.importorskip("torch")
    taken = []

    def from_dlpack(capsule):
        assert fake.calls[-1] == ("batch", 0x77)  # Before torch has it.
        taken.append(capsule)
        return torch.zeros(4, 2)  # This machine has no GPU to wrap what the capsule says.

    monkeypatch.setattr(torch.utils.dlpack, "from_dlpack", from_dlpack)
    current = lambda device: SimpleNamespace(cuda_stream=0x77 if device == 1 else 0)  # noqa: E731
    monkeypatch.setattr(torch.cuda, "current_stream", current)
    with stoker.Loader("a:1", batch_size=4, device="cuda:1", output="torch") as loader:
        (images,) = next(iter(loader))
        assert len(taken) == 1
        loader.use_on(images, 0x99)
        assert fake.calls[-1] == ("tensor", 0x99)


def test_cuda_is_torchs_current_device(fake, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    for device, name in [("cuda", "cuda:3"), (torch.device("cuda"), "cuda:3"), ("cuda:0", "cuda:0"), (2, "cuda:2")]:
        stoker.Loader("a:1", batch_size=4, device=device, output="dlpack").close()
        assert fake.options["device"] == name


def test_warnings_of_the_library_are_shown_once(fake):
    fake.warnings = ["page-locking failed: the limit is 64 KiB"]
    with pytest.warns(stoker.StokerWarning, match="page-locking failed"):
        loader = stoker.Loader("a:1", batch_size=4, device="cuda:1", output="dlpack")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batches = iter(loader)
        next(batches)
        fake.warnings.append("slabs were added")
        with pytest.raises(stoker.StokerWarning, match="slabs were added"):
            list(batches)
    loader.close()


def test_what_a_signal_hid_is_handed_out_next(fake, loader, monkeypatch):
    """Ctrl-C at the worst moment: the library has returned a batch, Python has not seen it yet."""
    receive = loader._receive

    def interrupted():
        receive()
        raise KeyboardInterrupt

    batches = loader.batches()
    with monkeypatch.context() as patch:
        patch.setattr(loader, "_receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(batches)
    assert loader.state_dict()["position"] == 0  # Nothing was handed out.
    assert next(batches).pointer.value == 102
    assert loader.state_dict()["position"] == 4
    with monkeypatch.context() as patch:
        patch.setattr(loader, "_receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(batches)
    loader.set_epoch(0)  # Elsewhere: what was hidden is let go.
    gc.collect()
    assert fake.calls.count("release") >= 1
