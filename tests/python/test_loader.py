"""The loader: epochs, batches, states, errors; with NumPy's arrays."""

from __future__ import annotations

import json
import sys
import threading
import time
import warnings

import numpy
import pytest
from conftest import SMALL, ids_of, loader_of, python, stoker

import stoker as package
from stoker import Loader, transforms


# ---- what is handed out ----


def test_digest_is_the_command_line_clients(server):
    with Loader(server.address, batch_size=16, last_batch="partial") as loader:
        assert loader.digest(3) == stoker("digest", "--servers", server.address, "--epoch", 3).strip()
        assert loader.digest(0) == stoker("digest", "--servers", server.address).strip()


def test_digest_does_not_depend_on_batch_and_device_ops(server):
    with loader_of(server, 7, last_batch="partial") as one, loader_of(server, 50, dtype="float32") as other:
        assert one.digest() == other.digest()


def test_digest_of_less_than_an_epoch_is_refused(server):
    with loader_of(server, 16) as loader, pytest.raises(package.InvalidArgumentError, match="last_batch='partial'"):
        loader.digest()


def test_batches_are_tuples_of_images_and_labels(server):
    with loader_of(server) as loader:
        images, labels = next(iter(loader))
        assert images.shape == (16, 32, 32, 3) and images.dtype == numpy.uint8
        assert labels.shape == (16,) and labels.dtype == numpy.int64
        assert set(labels) <= {0, 1, 2, 3} and images.max() > images.min()


def test_batches_are_dicts_on_request(server):
    with loader_of(server, as_dict=True) as loader:
        assert list(next(iter(loader))) == ["image", "label"]


def test_layouts(server):
    with loader_of(server) as loader:
        assert next(iter(loader))[0].shape == (16, 32, 32, 3)
        assert "image: uint8 16 × 32 × 32 × 3 channels_last, label: int64 16" in repr(loader)
        last = next(iter(loader.batches()))  # Epoch 1.
    with loader_of(server, layout="channels_first") as loader:
        loader.set_epoch(1)
        images, _ = next(iter(loader))
        assert loader.description["fields"][0]["shape"] == [3, 32, 32]
        numpy.testing.assert_array_equal(images.transpose(0, 2, 3, 1), numpy.asarray(last["image"]))
    with loader_of(server, dtype="float32", layout="channels_last") as loader:
        assert next(iter(loader))[0].shape == (16, 32, 32, 3)
    first = [*SMALL, transforms.ToMemoryFormat("channels_first")]
    with pytest.raises(package.InvalidArgumentError, match="layout: 'channels_last', but the pipeline's ToMemoryFormat"):
        loader_of(server, transforms=first, layout="channels_last")
    with pytest.raises(package.InvalidArgumentError, match="layout: 'NCHW' is neither"):
        loader_of(server, layout="NCHW")
    with pytest.raises(package.InvalidArgumentError, match="layout: stoker.Tensor"):
        loader_of(server, layout="channels_first", output="dlpack")


def test_floats_come_channels_first(server):
    with loader_of(server) as bytes_, loader_of(server, dtype="float32") as floats:
        raw, _ = next(iter(bytes_))
        images, _ = next(iter(floats))
        assert images.shape == (16, 3, 32, 32)
        numpy.testing.assert_allclose(images, raw.transpose(0, 3, 1, 2) / numpy.float32(255), rtol=1e-6)


def test_half_precision_in_numpy(server):
    with loader_of(server) as bytes_, loader_of(server, dtype=numpy.float16) as halves:
        raw, _ = next(iter(bytes_))
        images, _ = next(iter(halves))
        assert images.dtype == numpy.float16
        expected = (raw.transpose(0, 3, 1, 2) / numpy.float32(255)).astype(numpy.float16)
        numpy.testing.assert_allclose(images, expected, rtol=2**-10)
    with pytest.raises(package.InvalidArgumentError, match="NumPy has no bfloat16"):
        loader_of(server, dtype="bfloat16")


def test_normalize_is_torchvisions(server):
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    with (
        loader_of(server) as plain,
        loader_of(server, transforms=[*SMALL, transforms.Normalize(mean, std)], dtype="float32") as normalized,
    ):
        raw, _ = next(iter(plain))
        images, _ = next(iter(normalized))
        expected = (raw / 255 - numpy.array(mean)) / numpy.array(std)
        numpy.testing.assert_allclose(images, expected.transpose(0, 3, 1, 2), rtol=1e-4, atol=1e-5)


def test_memory_format_of_the_pipeline_holds(server):
    ops = [*SMALL, transforms.ToDtype("float32", scale=True), transforms.ToMemoryFormat("channels_last")]
    with loader_of(server, transforms=ops) as loader:
        assert next(iter(loader))[0].shape == (16, 32, 32, 3)


def test_info_tells_positions_ids_and_names(server, photos):
    with loader_of(server, names=True, shuffle=False) as loader:
        _, labels = next(iter(loader))
        info = loader.info
        assert (info.epoch, info.size, info.real) == (0, 16, 16)
        assert info.positions == list(range(16)) and info.sample_ids == list(range(16))
        names = sorted(str(path.relative_to(photos)) for path in photos.rglob("*") if path.is_file())
        assert info.names == names[:16]
        classes = sorted(path.name for path in photos.iterdir())
        assert [classes[label] for label in labels] == [name.split("/")[0] for name in info.names]


def test_partial_batches(server):
    with loader_of(server, 64, last_batch="partial") as loader:
        assert [len(labels) for _, labels in loader] == [64, 64, 64, 8]


def test_padded_batches_say_what_is_real(server):
    with loader_of(server, 64, last_batch="pad") as loader:
        real = [(len(labels), loader.info.real) for _, labels in loader]
        assert real == [(64, 64)] * 3 + [(64, 8)]


def test_empty_batches_of_the_last_ranks(server):
    with loader_of(server, 66, last_batch="partial", rank=2, world_size=3) as loader:
        shapes = [images.shape for images, _ in loader]
        assert len(shapes) == len(loader) and shapes[-1] == (0, 32, 32, 3)


@pytest.mark.parametrize("asked", ["by ops", "by dtype"])
def test_views_are_converted_on_the_device(server, asked):
    views = [transforms.Views("global", 2, SMALL), transforms.Views("local", 3, [transforms.RandomResizedCrop(16)])]
    names = ("global", "local")
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    casts = [transforms.ToDtype("float32", scale=True, field=name) for name in names] if asked == "by ops" else []
    ops = casts + [transforms.Normalize(mean, std, field=name) for name in names]
    dtype = {} if asked == "by ops" else {"dtype": "float32"}
    with (
        loader_of(server, transforms=transforms.Pipeline(views=views), as_dict=True) as plain,
        loader_of(server, transforms=transforms.Pipeline(ops, views=views), as_dict=True, **dtype) as floats,
    ):
        assert plain.description["sample_bytes"] == floats.description["sample_bytes"]
        for before, after in zip(plain, floats):
            for name in names:
                assert after[name].dtype == numpy.float32 and after[name].shape == before[name].shape
                expected = (before[name] / 255 - numpy.array(mean)) / numpy.array(std)
                assert numpy.abs(after[name] - expected).max() < 1e-5


def test_ops_of_views_run_on_the_device_as_on_the_server(server):
    def batches(placement, dtype):
        ops = [transforms.RandomHorizontalFlip(placement=placement), transforms.RandomInvert(placement=placement)]
        crop = transforms.RandomCrop(12, placement=placement)
        views = [transforms.Views("global", 2, [*SMALL, *ops]), transforms.Views("local", 3, [*SMALL, *ops, crop])]
        casts = [transforms.ToDtype(dtype, scale=True, field=name) for name in ("global", "local")] if dtype else []
        with loader_of(server, transforms=transforms.Pipeline(casts, views=views), as_dict=True) as loader:
            sizes = loader.description["sample_bytes"]
            return sizes, [{name: numpy.array(value) for name, value in batch.items()} for batch in loader]

    for dtype in (None, "float32"):
        cropped, there = batches("server", dtype)
        whole, here = batches("device", dtype)
        assert whole > cropped
        assert len(there) == len(here) > 0
        for one, other in zip(there, here):
            assert one["local"].shape[1:] == (3, 12, 12, 3) and one["local"].dtype == (dtype or "uint8")
            for name in ("global", "local"):
                assert numpy.array_equal(one[name], other[name])
    views = [transforms.Views("global", 2, [*SMALL, transforms.ToDtype("float32")])]
    with pytest.raises(package.StokerError, match="put it into pipeline.ops, with the view's name in `field`"):
        loader_of(server, transforms=transforms.Pipeline(views=views), as_dict=True)


def test_views_are_fields(server):
    views = [transforms.Views("global", 2, SMALL), transforms.Views("local", 3, [transforms.RandomResizedCrop(16)])]
    with loader_of(server, transforms=transforms.Pipeline(views=views), as_dict=True) as loader:
        batch = next(iter(loader))
        assert batch["global"].shape == (16, 2, 32, 32, 3) and batch["local"].shape == (16, 3, 16, 16, 3)


def test_arrays_outlive_their_batch_and_loader(server):
    with loader_of(server, shuffle=False) as loader:
        kept = [images for images, _ in loader]
        copies = [images.copy() for images in kept]
        for _ in loader:  # Memory that was free would be used again.
            pass
    assert len(kept) == len(loader) == 13  # The tail is there where nothing is shuffled.
    for array, copy in zip(kept, copies):
        numpy.testing.assert_array_equal(array, copy)
    kept[0][:] = 0  # May be written to.
    numpy.testing.assert_array_equal(kept[1], copies[1])


# ---- epochs ----


def test_every_iteration_is_the_next_epoch(server):
    with loader_of(server) as loader:
        epochs = []
        for _ in range(3):
            for _ in loader:
                epochs.append(loader.info.epoch)
        assert epochs == [0] * 12 + [1] * 12 + [2] * 12 and loader.epoch == 3


def test_an_iteration_left_early_is_not_gone_on_with(server):
    with loader_of(server) as loader:
        left = iter(loader)
        next(left)
        assert next(iter(loader)) is not None and loader.info.epoch == 1 and loader.info.positions[0] == 0
        with pytest.raises(RuntimeError, match="left"):
            next(left)


def test_iterating_twice_before_the_first_batch_skips_no_epoch(server):
    with loader_of(server) as loader:
        iter(loader)
        next(iter(loader))
        assert loader.info.epoch == 0


def test_an_ended_iterator_stays_ended(server):
    with loader_of(server) as loader:
        epoch = iter(loader)
        assert sum(1 for _ in epoch) == 12
        assert next(epoch, None) is None and loader.epoch == 1


@pytest.mark.parametrize("of", ["loader", "sampler"])
def test_set_epoch_chooses(server, of):
    with loader_of(server) as one, loader_of(server) as other:
        setter = one if of == "loader" else one.sampler
        setter.set_epoch(5)
        chosen = ids_of(one)
        other.set_epoch(4)
        ids_of(other)
        assert chosen == ids_of(other) and one.epoch == 6
        one.set_epoch(5)
        assert ids_of(one) == chosen


def test_set_epoch_of_what_is_about_to_begin_changes_nothing(server):
    with loader_of(server) as loader, loader_of(server) as other:
        batches = iter(loader)
        loader.set_epoch(0)  # As Lightning does, after iter().
        assert next(batches) is not None and loader.info.epoch == 0
        with pytest.raises(RuntimeError, match="left"):
            loader.set_epoch(0)  # Begins it anew: a batch was taken.
            next(batches)
        batches = iter(loader)
        loader.set_epoch(3)
        with pytest.raises(RuntimeError, match="left"):
            next(batches)
        other.set_epoch(3)
        assert ids_of(loader) == ids_of(other)


def test_epoch_and_state_agree_at_every_moment(server):
    with loader_of(server) as loader:
        told = []

        def tell():
            told.append(loader.epoch)
            assert loader.state_dict()["epoch"] == loader.epoch

        tell()
        batches = iter(loader)
        tell()
        for _ in batches:
            tell()
        tell()
        for _ in loader:
            tell()
            break
        tell()
        iter(loader)
        tell()
        loader.set_epoch(7)
        tell()
        assert told == [0] * 2 + [0] * 11 + [1] * 2 + [1] * 2 + [2, 7]
    assert loader.epoch == 7


def test_what_frameworks_look_at_is_true(server):
    with loader_of(server) as loader:
        assert (loader.batch_sampler, loader.num_workers, loader.drop_last, loader.batch_size) == (None, 0, True, 16)
    with loader_of(server, last_batch="partial") as loader:
        assert not loader.drop_last


def test_len_is_equal_on_all_ranks(server):
    steps = []
    for rank in range(3):
        with loader_of(server, 7, last_batch="partial", rank=rank, world_size=3) as loader:
            steps += [len(loader), sum(1 for _ in loader)]
    assert set(steps) == {10}  # ceil(200 / 21)


def test_rank_and_world_size_come_from_the_environment(server, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with loader_of(server) as loader:
        assert (loader.rank, loader.world_size) == (1, 2) and len(loader) == 6


def test_dataset_is_described(server):
    with loader_of(server) as loader:
        assert len(loader.dataset) == 200 and loader.dataset.name == "photos" and len(loader.dataset.fingerprint) == 64
        assert loader.batch_size == 16 and "photos" in repr(loader)
    offered = package.servers_offer(server.address)["datasets"]
    assert [(one["name"], one["samples"]) for one in offered] == [("photos", 200)]


# ---- states ----

_RESUME = """
    import json, sys, stoker
    from stoker import transforms
    address, state, rank, world_size, batch_size = sys.argv[1:]
    loader = stoker.Loader(
        address, batch_size=int(batch_size), rank=int(rank), world_size=int(world_size), last_batch="partial",
        transforms=[transforms.RandomResizedCrop(32), transforms.RandomHorizontalFlip()])
    loader.load_state_dict(json.loads(state))
    ids = []
    for epoch in range(loader.epoch, 3):
        loader.set_epoch(epoch)
        ids.append([batch.info().sample_ids for batch in loader.batches()])
    print(json.dumps(ids))
"""


def test_another_process_of_another_world_size_goes_on_in_the_same_order(server):
    with loader_of(server, 24, last_batch="partial") as loader:
        loader.set_epoch(1)
        whole = [ids_of(loader), ids_of(loader)]
        loader.set_epoch(1)
        batches = iter(loader)
        for _ in range(3):
            next(batches)
        state = json.dumps(loader.state_dict())
        assert len(state) < 1000 and loader.state_dict()["position"] == 72
    for world_size in (2, 4):
        ranks = [
            json.loads(python(_RESUME, server.address, state, rank, world_size, 24 // world_size))
            for rank in range(world_size)
        ]
        for epoch, expected in enumerate([whole[0][72:], whole[1]]):
            steps = zip(*(rank[epoch] for rank in ranks))
            assert [index for step in steps for run in step for index in run] == expected


def test_a_state_at_an_epochs_last_batch_goes_on_with_the_next_epoch(server):
    with loader_of(server) as loader, loader_of(server) as resumed:
        for step, _ in enumerate(loader, 1):
            if step == len(loader):
                resumed.load_state_dict(loader.state_dict())
        assert loader.state_dict()["epoch"] == 1 and resumed.epoch == 1
        next(iter(resumed))
        assert resumed.info.epoch == 1 and resumed.info.positions[0] == 0


def test_set_epoch_of_the_restored_epoch_keeps_its_place_and_of_another_does_not(server):
    with loader_of(server) as loader, loader_of(server) as resumed:
        batches = iter(loader)
        next(batches), next(batches)
        state = loader.state_dict()
        resumed.load_state_dict(state)
        resumed.set_epoch(0)
        next(iter(resumed))
        assert resumed.info.positions[0] == 32
        resumed.load_state_dict(state)
        resumed.set_epoch(1)
        next(iter(resumed))
        assert (resumed.info.epoch, resumed.info.positions[0]) == (1, 0)


def test_a_state_of_another_seed_is_refused(server):
    with loader_of(server) as loader, loader_of(server, seed=1) as other:
        with pytest.raises(package.FailedPreconditionError, match="seed"):
            other.load_state_dict(loader.state_dict())


# ---- errors ----


def test_an_unknown_dataset_is_named(server):
    with pytest.raises(package.NotFoundError, match="flowers"):
        loader_of(server, dataset="flowers")


def test_a_wrong_op_is_named(server):
    with pytest.raises(package.InvalidArgumentError, match=r"RandomResizedCrop\.size"):
        loader_of(server, transforms=[transforms.RandomResizedCrop(-1)])
    with pytest.raises(ValueError, match="sizze"):
        loader_of(server, transforms={"ops": [{"RandomResizedCrop": {"sizze": 3}}]})


@pytest.mark.parametrize(
    "key, value",
    [
        ("servers", 7077),
        ("servers", None),
        ("batch_size", "16"),
        ("seed", 1.5),
        ("shuffle", None),
        ("progress_timeout", float("nan")),
        ("rank", object()),
        ("bad_samples", "skip"),
    ],
)
def test_a_wrong_option_is_named(server, key, value):
    options = {"servers": server.address, "batch_size": 16, key: value}
    with pytest.raises(package.InvalidArgumentError, match=key):
        Loader(**options)


@pytest.mark.parametrize(
    "argument, answer",
    [
        ({"num_workers": 8}, "num_workers: the servers are the workers"),
        ({"transform": None}, "transform: it is transforms= here"),
        ({"drop_last": True}, "drop_last: it is last_batch= here"),
        ({"pin_memory": True}, "pin_memory: it is pin= here"),
        ({"prefetch_factor": 2}, "prefetch_factor: it is prefetch= here"),
        ({"sampler": None}, "sampler: the servers shuffle"),
        ({"collate_fn": None}, "collate_fn: batches come as they are"),
    ],
)
def test_a_data_loaders_words_are_answered(argument, answer):
    with pytest.raises(package.InvalidArgumentError, match=answer):
        Loader("127.0.0.1:1", batch_size=1, **argument)


def test_a_derived_class_may_use_a_data_loaders_words(server):
    class Mine(Loader):
        def __init__(self, address, transform):
            super().__init__(address, batch_size=16, transforms=transform, output="numpy")

    with Mine(server.address, transform=SMALL) as loader:
        assert next(iter(loader))[0].shape == (16, 32, 32, 3)


def test_servers_may_stand_between_commas(server, start_server, photos):
    other = start_server("--data", photos)
    with Loader(f"{server.address}, {other.address},", batch_size=16, output="numpy") as loader:
        assert {one["address"] for one in loader.stats()["servers"]} <= {server.address, other.address}
        list(loader)
        assert {one["address"] for one in loader.stats()["servers"]} == {server.address, other.address}
    with pytest.raises(package.InvalidArgumentError, match="at least one address"):
        Loader(" , ", batch_size=16)


def test_whole_numbers_may_be_numpys(server):
    numpy = pytest.importorskip("numpy")
    with loader_of(server, batch_size=numpy.int64(16), rank=numpy.int32(1), world_size=numpy.int64(2)) as loader:
        assert (loader.batch_size, loader.rank, loader.world_size) == (16, 1, 2)
        loader.set_epoch(numpy.int64(3))
        assert loader.epoch == 3


@pytest.mark.parametrize("epoch", [-1, 1.5, 2**63, 2**70])
def test_an_epoch_that_is_none_is_refused(server, epoch):
    with loader_of(server) as loader, pytest.raises(package.InvalidArgumentError, match="set_epoch"):
        loader.set_epoch(epoch)


@pytest.mark.parametrize("state", [None, "x", [1]])
def test_a_state_that_is_none_is_refused(server, state):
    with loader_of(server) as loader, pytest.raises(package.InvalidArgumentError, match="state"):
        loader.load_state_dict(state)


def test_a_server_that_is_not_there_is_told(server):
    with pytest.warns(package.StokerWarning, match="127.0.0.1:1 is not used: connection refused; is stokerd running there"):
        with Loader([server.address, "127.0.0.1:1"], batch_size=16, transforms=SMALL, output="numpy") as loader:
            deadline = time.monotonic() + 60
            while not any(s["problem"] for s in loader.stats()["servers"]) and time.monotonic() < deadline:
                time.sleep(0.05)
            next(iter(loader))


def test_a_server_that_comes_late_is_waited_for_aloud(photos, start_server, monkeypatch):
    monkeypatch.setattr("stoker._waits.Connecting._TELL_AFTER", 0.2)
    server = start_server("--data", photos)
    server.stop()
    told = []

    def come_once_it_is_told():
        while not told:
            time.sleep(0.05)
        server.start(*server.arguments)

    late = threading.Thread(target=come_once_it_is_told)
    late.start()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with Loader(server.address, batch_size=16, transforms=SMALL, output="numpy", connect_timeout=300) as loader:
            assert len(loader.dataset) == 200
    late.join()
    waiting, over = [text for warning in told if "answered" in (text := str(warning.message))]
    assert waiting.startswith("no server answered for 0.2 s (") and waiting.endswith("): waiting on")
    assert f"{server.address}: connection refused; is stokerd running there?" in waiting
    assert over.startswith("a server answered after ")
    assert told[0].filename == __file__


def test_decoding_may_be_set_beside_transforms(server):
    from stoker.transforms import options_of

    assert options_of(SMALL, bad_samples="substitute")["pipeline"]["bad_samples"] == "substitute"
    assert len(options_of(None, jpeg_scaling="exact")["pipeline"]["ops"]) == 2
    with pytest.raises(package.InvalidArgumentError, match="bad_samples"):
        options_of("named", bad_samples="substitute")


def test_nobody_at_the_address():
    no_name = "x" * 70  # No resolver has it.
    with pytest.raises(package.UnavailableError) as told:
        Loader(f"127.0.0.1:1,{no_name}", batch_size=1)
    for reason in ("no server can be reached", "127.0.0.1:1: connection refused", f"{no_name}:7077: name not found"):
        assert reason in str(told.value)
    with pytest.raises(package.UnavailableError, match="within 1s .127.0.0.1:1: connection refused"):
        Loader("127.0.0.1:1", batch_size=1, connect_timeout=1)


def test_a_closed_loader_says_so(server):
    loader = loader_of(server)
    batches = iter(loader)
    next(batches)
    loader.close()
    loader.close()
    with pytest.raises(package.CancelledError, match="closed"):
        next(batches)
    with pytest.raises(package.CancelledError, match="closed"):
        loader.state_dict()


def test_outputs_that_cannot_be_are_refused(server):
    with pytest.raises(package.InvalidArgumentError, match="'tensorflow' is none of auto, torch"):
        loader_of(server, output="tensorflow")
    with pytest.raises(package.InvalidArgumentError, match="device='cuda'"):
        loader_of(server, output="cupy")


def test_bad_samples_are_named_or_substituted_with_a_warning(photos, start_server, tmp_path):
    import shutil

    damaged = tmp_path / "damaged"
    shutil.copytree(photos, damaged)
    bad = next(path for path in sorted(damaged.rglob("*")) if path.is_file())
    bad.write_bytes(b"no image")
    server = start_server("--data", damaged)
    with loader_of(server, shuffle=False) as loader:
        with pytest.raises(package.DataLossError, match=bad.name):
            list(loader)
    forgiving = transforms.Pipeline(SMALL, bad_samples="substitute")
    with loader_of(server, shuffle=False, transforms=forgiving) as loader:
        with pytest.warns(package.StokerWarning, match=bad.name) as caught:
            next(iter(loader))
        assert [one.position for one in loader.info.substituted] == [0] and len(caught) == 1
        assert loader.info.sample_ids[0] != 0 and loader.stats()["substituted"] == 1


def test_stats_count(server):
    with loader_of(server) as loader:
        list(loader)
        stats = loader.stats()
        assert stats["batches"] == 12 and stats["samples"] == 192 and stats["servers"][0]["connected"]
