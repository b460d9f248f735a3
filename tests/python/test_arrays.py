"""What batches are handed out as: torch, JAX, NumPy, DLPack, plain Python."""

from __future__ import annotations

import gc
import sys
import threading
import types

import numpy
import pytest
from conftest import python

import stoker
from stoker import Loader, transforms

SMALL = [transforms.RandomResizedCrop(32), transforms.RandomHorizontalFlip()]


def loader_of(server, batch_size=16, **options):
    return Loader(server.address, batch_size=batch_size, **{"transforms": SMALL, **options})


@pytest.fixture
def expected(server):
    """The first epoch, as NumPy's arrays."""
    with loader_of(server, output="numpy") as loader:
        return list(loader)


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


# ---- torch ----


def test_torch_tensors_are_the_loaders_memory(server, expected, torch):
    with loader_of(server) as loader:  # "auto", torch being imported.
        for (images, labels), (known, known_labels) in zip(loader, expected):
            assert isinstance(images, torch.Tensor) and images.dtype == torch.uint8 and labels.dtype == torch.int64
            assert images.shape == (16, 3, 32, 32) and images.is_contiguous(memory_format=torch.channels_last)
            numpy.testing.assert_array_equal(images.permute(0, 2, 3, 1).numpy(), known)
            numpy.testing.assert_array_equal(labels.numpy(), known_labels)
            images.zero_()  # May be written to.


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
def test_torch_dtypes(server, expected, torch, name):
    dtype = getattr(torch, name)
    with loader_of(server, dtype=dtype) as loader:
        images, _ = next(iter(loader))
        assert images.dtype == dtype and images.shape == (16, 3, 32, 32)
        exact = torch.from_numpy(expected[0][0]).permute(0, 3, 1, 2).to(torch.float32) / 255
        torch.testing.assert_close(images.to(torch.float32), exact, rtol=2**-7 if name == "bfloat16" else 1e-3, atol=0)


def mixed(server, op):
    """The first batch as it was, its labels one-hot, and as `op` mixed it."""
    with loader_of(server, 32, dtype="float32", transforms=[*SMALL, transforms.OneHot(4)]) as loader:
        plain = next(iter(loader))
    with loader_of(server, 32, dtype="float32", transforms=[*SMALL, op]) as loader:
        return *plain, *next(iter(loader))


def test_mixup_is_torchvisions(server, torch):
    images, labels, mixed_images, mixed_labels = mixed(server, transforms.MixUp(num_classes=4))
    differ = (labels != labels.roll(1, 0)).any(1)
    shares = mixed_labels[differ][labels[differ] == 1]
    share = shares[0]
    assert 0 < share < 1 and torch.all(shares == share)
    for whole, result in ((images, mixed_images), (labels, mixed_labels)):
        torch.testing.assert_close(result, whole * share + whole.roll(1, 0) * (1 - share), rtol=1e-5, atol=1e-6)


def test_cutmix_is_torchvisions(server, torch):
    images, labels, mixed_images, mixed_labels = mixed(server, transforms.CutMix(num_classes=4))
    cut = (mixed_images != images).any(0).any(0)
    rows, columns = cut.any(1).nonzero().flatten(), cut.any(0).nonzero().flatten()
    box = torch.zeros(32, 32, dtype=torch.bool)
    box[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] = True
    assert torch.equal(mixed_images, torch.where(box, images.roll(1, 0), images))
    share = 1 - box.sum() / (32 * 32)
    torch.testing.assert_close(mixed_labels, labels * share + labels.roll(1, 0) * (1 - share), rtol=1e-5, atol=1e-6)


def test_one_hot_labels_are_mixed_as_whole_numbers_are(server, torch):
    options = {"batch_size": 32, "dtype": "float32"}
    for mix in (transforms.MixUp, transforms.CutMix):
        for per_sample in (None, True):
            place = transforms.Normalize(0, 1)  # Ops draw by their place.
            by_number = [*SMALL, place, mix(num_classes=4, per_sample=per_sample)]
            by_vector = [*SMALL, transforms.OneHot(4), mix(per_sample=per_sample)]
            with loader_of(server, transforms=by_number, **options) as loader:
                images, labels = next(iter(loader))
            with loader_of(server, transforms=by_vector, **options) as loader:
                same_images, same_labels = next(iter(loader))
            assert torch.equal(images, same_images) and torch.equal(labels, same_labels)


def test_each_sample_may_draw_its_own_share(server, torch):
    images, labels, mixed_images, mixed_labels = mixed(server, transforms.MixUp(num_classes=4, per_sample=True))
    differ = (labels != labels.roll(1, 0)).any(1)
    share = (mixed_labels * labels).sum(1)[differ]
    assert 0 <= share.min() < share.max() <= 1 and len(share.unique()) > 10
    share = share.reshape(-1, 1, 1, 1)
    expected = images[differ] * share + images.roll(1, 0)[differ] * (1 - share)
    torch.testing.assert_close(mixed_images[differ], expected, rtol=1e-5, atol=1e-5)


def test_smoothed_labels_are_those_of_torchs_cross_entropy(server, torch):
    smoothed = [*SMALL, transforms.OneHot(4), transforms.LabelSmoothing(0.1)]
    with loader_of(server, 32, dtype="float32", transforms=smoothed) as loader:
        _, soft = next(iter(loader))
    with loader_of(server, 32, dtype="float32") as loader:
        _, hard = next(iter(loader))
    logits = torch.randn(32, 4, generator=torch.Generator().manual_seed(0))
    expected = torch.nn.functional.cross_entropy(logits, hard, label_smoothing=0.1)
    torch.testing.assert_close(torch.nn.functional.cross_entropy(logits, soft), expected)


def test_a_loop_of_five_lines_learns(server, torch):
    loader = Loader(server.address, batch_size=32, dtype="float32", transforms=[transforms.Resize((16, 16))], seed=1)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(768, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    losses = []
    for _ in range(12):
        for images, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert sum(losses[-6:]) < 0.7 * sum(losses[:6])


def test_a_data_loader_of_batches_iterates(server, expected, torch):
    with loader_of(server) as loader:
        wrapped = torch.utils.data.DataLoader(loader, batch_size=None)
        assert len(wrapped) == 12
        for _ in range(2):  # Epochs.
            count = 0
            for images, labels in wrapped:
                if loader.info.epoch == 0:
                    numpy.testing.assert_array_equal(images.permute(0, 2, 3, 1).numpy(), expected[count][0])
                    numpy.testing.assert_array_equal(labels.numpy(), expected[count][1])
                count += 1
            assert count == 12
        assert loader.epoch == 2


def test_a_loader_is_an_iterable_dataset_of_any_torch(server, monkeypatch):
    old = types.SimpleNamespace(IterableDataset=type("IterableDataset", (), {}))  # As torch 1.13's: no register.
    monkeypatch.setitem(sys.modules, "torch.utils.data", old)
    with loader_of(server, output="numpy") as loader:
        assert isinstance(loader, old.IterableDataset) and type(loader).__name__ == "Loader"
        assert sum(1 for _ in loader) == 12


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_data_loader_with_workers_is_told_why_not(server, torch, start):
    with loader_of(server) as loader:
        wrapped = torch.utils.data.DataLoader(
            loader, batch_size=None, num_workers=1, multiprocessing_context=start, timeout=60
        )
        with pytest.raises((RuntimeError, TypeError), match="num_workers at 0"):
            next(iter(wrapped))
        assert sum(1 for _ in loader) == 12


def test_profilers_traces_have_our_ranges(server, torch):
    with loader_of(server) as loader:
        batches = iter(loader)
        next(batches)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            next(batches), next(batches)
        next(batches)
    counts = {event.key: event.count for event in profile.key_averages()}
    assert counts["stoker.wait"] == 2 and counts["stoker.hand_out"] == 2


def test_empty_batches_in_torch(server, torch):
    with loader_of(server, 66, last_batch="partial", rank=2, world_size=3) as loader:
        images, labels = list(loader)[-1]
        assert images.shape == (0, 3, 32, 32) and labels.shape == (0,)


def test_tensors_that_are_kept_dropped_and_shared_between_threads_stay_right(server, torch):
    """More batches than the loader keeps ready, let go in another order and by other threads."""
    with loader_of(server, 8, prefetch=2) as loader:
        kept, wrong = [], []

        def check(images, copy, hold):
            if not torch.equal(images, copy):
                wrong.append(images)
            hold.append(images[1:3])  # A view keeps the memory.

        for epoch in range(4):
            held, threads = [], []
            for step, (images, _) in enumerate(loader):
                copy = images.clone()
                threads.append(threading.Thread(target=check, args=(images, copy, held if step % 3 else [])))
                threads[-1].start()
                if step % 5 == 0:
                    kept.append((images, copy))
                if len(kept) > 6:
                    del kept[epoch]
            for thread in threads:
                thread.join()
        assert not wrong and all(torch.equal(images, copy) for images, copy in kept)


def test_use_on_takes_what_was_handed_out(server, torch):
    with loader_of(server) as loader:
        images, labels = next(iter(loader))
        loader.use_on((images, labels), 1)
        stoker.use_on({"image": images}, 2)
        with pytest.raises(ValueError, match="not a tensor as a loader handed it out"):
            stoker.use_on([object()], 1)


# ---- DLPack, NumPy, plain Python ----


def test_tensors_describe_themselves(server):
    with loader_of(server, output="dlpack") as loader:
        images, labels = next(iter(loader))
        assert (images.name, images.dtype, images.shape, images.ndim) == ("image", "uint8", (16, 32, 32, 3), 4)
        assert (labels.name, labels.dtype, labels.nbytes, len(labels)) == ("label", "int64", 128, 16)
        assert images.device == images.__dlpack_device__() == (1, 0) and "image" in repr(images)


def test_dlpack_may_be_asked_again_and_again(server, expected):
    with loader_of(server, output="dlpack") as loader:
        images, _ = next(iter(loader))
    arrays = [numpy.from_dlpack(images) for _ in range(3)]
    del images
    gc.collect()
    for array in arrays:
        numpy.testing.assert_array_equal(array, expected[0][0])


def test_dlpack_takes_the_standards_keywords(server):
    with loader_of(server, output="dlpack") as loader:
        images, _ = next(iter(loader))
    unused = images.__dlpack__(stream=None, max_version=(1, 1), dl_device=(1, 0), copy=False)
    assert "dltensor" in repr(unused)
    del unused  # Nobody took it: its destructor lets go.
    with pytest.raises(BufferError, match="copy"):
        images.__dlpack__(copy=True)
    with pytest.raises(BufferError, match="device"):
        images.__dlpack__(dl_device=(2, 0))


def test_capsules_and_tensors_give_their_memory_back(server):
    """A loader that could not use memory again would need more with each epoch."""
    import resource

    with loader_of(server, 32, output="dlpack", transforms=[transforms.RandomResizedCrop(224)], prefetch=2) as loader:
        peaks = []
        for _ in range(6):
            for images, labels in loader:
                images.__dlpack__(), labels.__dlpack__()
                numpy.from_dlpack(images), numpy.asarray(labels), images.memoryview()
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    # A batch is 4.8 MB, an epoch 29 MB: were they kept, four more epochs would take 115 MB.
    assert peaks[-1] - peaks[1] < 60_000


def test_python_alone_reads_tensors(server, expected):
    with loader_of(server, output="dlpack") as loader:
        images, labels = next(iter(loader))
        view, numbers = images.memoryview(), labels.memoryview()
        del images, labels, loader
    gc.collect()
    assert view.shape == (16, 32, 32, 3) and view.tobytes() == expected[0][0].tobytes()
    assert numbers.tolist() == expected[0][1].tolist() and view[3, 2, 1, 0] == expected[0][0][3, 2, 1, 0]


def test_numpy_shares_the_memory(server):
    with loader_of(server, output="dlpack") as loader:
        images, _ = next(iter(loader))
        numpy.asarray(images)[0, 0, 0, 0] = 77
        assert images.memoryview()[0, 0, 0, 0] == 77 and numpy.from_dlpack(images)[0, 0, 0, 0] == 77


def test_batches_find_fields_by_name(server):
    with loader_of(server) as loader:
        batch = next(loader.batches())
        assert batch["label"].shape == (16,) and len(batch) == 16
        with pytest.raises(KeyError, match="image, label"):
            batch["mask"]


# ---- which library is chosen ----

_CHOSEN = """
    import sys
    for name in sys.argv[2:]:
        __import__(name)
    import stoker
    images, _ = next(iter(stoker.Loader(sys.argv[1], batch_size=4)))
    print(type(images).__module__.partition(".")[0], "torch" in sys.modules)
"""


def test_torch_is_chosen_where_it_is_imported_and_numpy_elsewhere(server, torch):
    assert python(_CHOSEN, server.address, "torch").split() == ["torch", "True"]
    assert python(_CHOSEN, server.address).split() == ["numpy", "False"]


# ---- JAX ----

_JAX = """
    import sys, stoker
    import jax, jax.dlpack, numpy
    ops = [stoker.transforms.RandomResizedCrop(32)]
    numpys = list(stoker.Loader(sys.argv[1], batch_size=16, transforms=ops, dtype="float32", output="numpy"))
    mean = jax.jit(lambda images: images.mean())
    for (images, labels), (known, known_labels) in zip(
        stoker.Loader(sys.argv[1], batch_size=16, transforms=ops, dtype="float32", output="jax"), numpys
    ):
        assert isinstance(images, jax.Array) and images.shape == (16, 3, 32, 32), images
        assert numpy.array_equal(images, known) and numpy.array_equal(labels, known_labels)
        assert abs(float(mean(images)) - known.mean()) < 1e-4
    tensor, _ = next(iter(stoker.Loader(sys.argv[1], batch_size=16, transforms=ops, output="dlpack")))
    kept = jax.dlpack.from_dlpack(tensor)
    copy = numpy.asarray(tensor).copy()
    del tensor
    assert numpy.array_equal(kept, copy)
    print(len(numpys), "torch" in sys.modules)
"""


def test_jax_takes_batches_by_dlpack(server):
    pytest.importorskip("jax")
    assert python(_JAX, server.address).split() == ["12", "False"]
