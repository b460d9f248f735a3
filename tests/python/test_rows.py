"""Fields whose samples differ in size: text, bytes, rows of numbers, boxes and keypoints, as the training loop gets them."""

from __future__ import annotations

import io
import json
import tarfile

import numpy
import pytest
from conftest import documented

import stoker
from stoker import Loader
from stoker import transforms as ours

SAMPLES = 40
HEIGHT, WIDTH = 48, 64


def scene(number):
    """What sample `number` has."""
    draw = numpy.random.default_rng(number)
    boxes = int(draw.integers(0, 6))
    corners = draw.uniform(0, 1, (boxes, 2, 2)) * [WIDTH, HEIGHT]
    return {
        "image": draw.integers(0, 256, (HEIGHT, WIDTH, 3)).astype(numpy.uint8),
        "boxes": numpy.concatenate([corners.min(1), corners.max(1)], 1).astype(numpy.float32),
        "classes": draw.integers(0, 10, boxes),
        "caption": "".join(map(chr, draw.integers(0x61, 0x3C0, int(draw.integers(0, 30))))),
        "blob": draw.bytes(int(draw.integers(0, 50))),
    }


def members_of(sample):
    image_module = pytest.importorskip("PIL.Image")
    image = io.BytesIO()
    image_module.fromarray(sample["image"]).save(image, "png")
    document = {"boxes": sample["boxes"].tolist(), "classes": sample["classes"].tolist()}
    return {
        "png": image.getvalue(),
        "json": json.dumps(document).encode(),
        "txt": sample["caption"].encode(),
        "bin": sample["blob"],
    }


FIELDS = {
    "image": "png",
    "boxes": {"json": "$.boxes", "kind": "boxes", "max_bytes": "512"},
    "classes": {"json": "$.classes", "kind": "ragged", "max_bytes": "256", "typical_bytes": "32"},
    "caption": {"from": "txt", "kind": "text", "max_bytes": "128"},
    "blob": {"from": "bin", "kind": "bytes", "max_bytes": "64"},
}


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    with tarfile.open(folder / "scenes.tar", "w") as shard:
        for number in range(SAMPLES):
            for extension, content in members_of(scene(number)).items():
                member = tarfile.TarInfo(f"{number:04}.{extension}")
                member.size = len(content)
                shard.addfile(member, io.BytesIO(content))
    config = {"datasets": [{"name": "scenes", "webdataset": {"path": str(folder), "fields": FIELDS}}]}
    (folder / "stokerd.yaml").write_text(json.dumps(config))
    return folder / "stokerd.yaml"


@pytest.fixture
def served(scenes, start_server):
    return start_server("--config", scenes)


def loader_of(server, ops=(), **options):
    ops = [ours.CenterCrop([HEIGHT, WIDTH]), *ops]  # Servers do not know that all have this size.
    options = {"batch_size": 7, "shuffle": False, "last_batch": "partial", "output": "numpy", "as_dict": True, **options}
    return Loader(server.address, transforms=ops, **options)


def test_every_sample_has_its_own_rows(served):
    with loader_of(served) as loader:
        seen = 0
        for batch in loader:
            assert len(batch["boxes"]) == len(batch["caption"]) == len(batch["image"])
            texts, blobs = batch["caption"].texts(), batch["blob"].as_bytes()
            for row, (boxes, classes) in enumerate(zip(batch["boxes"], batch["classes"])):
                expected = scene(seen)
                assert boxes.dtype == "float32" and classes.dtype == "int64"
                assert (boxes == expected["boxes"]).all() and boxes.shape == expected["boxes"].shape
                assert (batch["boxes"][row] == boxes).all()
                assert (classes == expected["classes"]).all() and len(classes) == len(boxes)
                assert texts[row] == expected["caption"] and blobs[row] == expected["blob"]
                assert (batch["image"][row] == expected["image"]).all()
                seen += 1
        assert seen == SAMPLES


def test_rows_are_padded_on_the_device(served):
    pad = [ours.ToPadded("boxes", 3, fill=-1), ours.ToPadded("caption", 12)]
    with loader_of(served, pad) as loader, loader_of(served) as plain:
        for padded, batch in zip(loader, plain):
            assert padded["boxes"].shape == (len(batch["boxes"]), 3, 4) and padded["caption"].dtype == "uint8"
            expected = batch["boxes"].padded(fill=-1)
            wide = numpy.concatenate([expected, numpy.full((len(expected), 3, 4), -1, "float32")], axis=1)
            assert (padded["boxes"] == wide[:, :3]).all()
            for row, text in zip(padded["caption"], batch["caption"].as_bytes()):
                assert bytes(row) == text[:12].ljust(12, b"\0")


def test_rows_are_padded_after_they_are_converted(served):
    ops = [ours.ToDtype("float16", field="classes"), ours.Normalize(4, 2, field="classes"), ours.ToPadded("classes", 5, 9)]
    with loader_of(served, ops) as loader, loader_of(served) as plain:
        for padded, batch in zip(loader, plain):
            assert padded["classes"].dtype == "float16" and padded["classes"].shape == (len(batch["classes"]), 5)
            for row, classes in zip(padded["classes"], batch["classes"]):
                assert (row == [*((classes - 4) / 2)[:5], *[9] * max(0, 5 - len(classes))]).all()


def test_no_padding_travels(served):
    with loader_of(served, batch_size=SAMPLES) as loader:
        list(loader)
        samples = [scene(number) for number in range(SAMPLES)]
        own = sum(
            16 * len(it["boxes"]) + 8 * len(it["classes"]) + len(it["caption"].encode()) + len(it["blob"]) for it in samples
        )
        stats = loader.stats()
        assert stats["bytes"] == stats["spans"] * (own + SAMPLES * (HEIGHT * WIDTH * 3 + 4 * 4))  # A span has them all.


def test_the_digest_is_that_of_sizes_and_bytes_whatever_the_spans(served):
    import hashlib

    expected = hashlib.sha256()
    for number in range(SAMPLES):
        it = scene(number)
        expected.update(number.to_bytes(8, "little") * 2)
        for name in sorted(FIELDS):
            value = it[name].encode() if name == "caption" else bytes(it[name])
            expected.update((b"" if name == "image" else len(value).to_bytes(8, "little")) + value)
    for batch_size in (1, 7, SAMPLES):
        with loader_of(served, batch_size=batch_size) as loader:
            assert loader.digest() == expected.hexdigest()


def test_three_servers_make_the_same_and_a_state_goes_on(served, scenes, start_server):
    ops = [ours.RandomResizedCrop(32), ours.RandomHorizontalFlip(), ours.SanitizeBoundingBoxes(labels=["classes"])]
    others = [start_server("--config", scenes) for _ in range(2)]
    addresses = [served.address, *(other.address for other in others)]
    options = {"shuffle": True, "seed": 5, "verify": 1, "output": "numpy", "as_dict": True, "batch_size": 6}
    with Loader(served.address, transforms=ops, **options) as alone, Loader(addresses, transforms=ops, **options) as three:
        whole = list(alone)
        iterator = iter(three)
        first = [next(iterator) for _ in range(2)]
        state = three.state_dict()
        others[0].stop()
        rest = list(iterator)
        assert len(first + rest) == len(whole) == SAMPLES // 6
        for one, other in zip(whole, first + rest):
            same(one, other)
        assert three.stats()["differing_spans"] == 0
    with Loader(served.address, transforms=ops, **options) as again:
        again.load_state_dict(state)
        left = list(again)
        assert len(left) == len(whole) - 2
        for one, other in zip(whole[2:], left):
            same(one, other)


def same(one, other):
    for name in FIELDS:
        a, b = one[name], other[name]
        if isinstance(a, stoker.Ragged):
            assert (a.offsets == b.offsets).all()
            a, b = a.values, b.values
        assert (a == b).all()


def test_rows_become_padded_and_nested(served):
    torch = pytest.importorskip("torch")
    seen = 0
    with loader_of(served, output="torch") as loader, loader_of(served) as plain:
        for batch, arrays in zip(loader, plain):
            seen += len(arrays["boxes"])
            padded, expected = batch["boxes"].padded(fill=-1), arrays["boxes"].padded(fill=-1)
            assert padded.shape == (len(batch["boxes"]), int(batch["boxes"].lengths.max()), 4)
            assert torch.equal(padded, torch.from_numpy(expected))
            for row, boxes in enumerate(batch["boxes"]):
                assert torch.equal(padded[row, : len(boxes)], boxes) and (padded[row, len(boxes) :] == -1).all()
            nested = batch["boxes"].nested()
            assert torch.equal(nested.values(), batch["boxes"].values)
            assert [len(each) for each in nested.unbind()] == batch["boxes"].lengths.tolist()
            assert batch["boxes"].padded(2).shape[1] == 2
            assert batch["caption"].texts() == arrays["caption"].texts()
            with pytest.raises(TypeError, match="output='torch'"):
                arrays["boxes"].nested()
    assert seen == SAMPLES


def test_stokers_own_tensors_have_values_and_offsets(served):
    with loader_of(served, output="dlpack") as loader, loader_of(served) as plain:
        batch, arrays = next(iter(loader)), next(iter(plain))
    boxes = batch["boxes"]
    assert (numpy.asarray(boxes.values) == arrays["boxes"].values).all()
    assert (numpy.asarray(boxes.offsets) == arrays["boxes"].offsets).all() and len(boxes) == 7
    assert batch["caption"].texts() == arrays["caption"].texts()
    with pytest.raises(TypeError, match="DLPack"):
        boxes.padded()


def test_numbers_are_converted_and_normalized_on_either_side(served):
    half = {"field": "classes", "dtype": "float16"}
    both = [[ours.ToDtype(**half, placement=side), ours.Normalize(2, 4, field="classes")] for side in ("server", "device")]
    made = []
    for ops in both:
        with loader_of(served, ops) as loader:
            made.append([batch["classes"].values for batch in loader])
    assert len(made[0]) == len(made[1])
    for one, other in zip(*made):
        assert one.dtype == other.dtype == "float16" and (one == other).all()
    own = numpy.concatenate([scene(number)["classes"] for number in range(SAMPLES)])
    assert (numpy.concatenate(made[0]) == ((own - 2) / 4).astype("float16")).all()


def test_boxes_move_as_torchvisions_and_go_with_their_labels(served):
    torch = pytest.importorskip("torch")
    vision = pytest.importorskip("torchvision")
    from torchvision.transforms.v2 import functional

    ops = [ours.CenterCrop([24, 40]), ours.Resize([48, 100]), ours.RandomHorizontalFlip(p=1)]
    sane = [*ops, ours.SanitizeBoundingBoxes(min_size=3, labels=["classes"])]
    number = 0
    with loader_of(served, ops, output="torch") as loader, loader_of(served, sane, output="torch") as sanitized:
        for batch, left in zip(loader, sanitized):
            for boxes, sane_boxes, classes in zip(batch["boxes"], left["boxes"], left["classes"]):
                expected = vision.tv_tensors.BoundingBoxes(
                    torch.from_numpy(scene(number)["boxes"]), format="XYXY", canvas_size=(HEIGHT, WIDTH)
                )
                expected = functional.center_crop(expected, [24, 40])
                expected = functional.horizontal_flip(functional.resize(expected, [48, 100]))
                assert torch.allclose(boxes, expected.as_subclass(torch.Tensor), atol=1e-4)
                kept = (boxes[:, 2:] - boxes[:, :2] >= 3).all(1)
                assert torch.equal(sane_boxes, boxes[kept])
                assert torch.equal(classes, torch.from_numpy(scene(number)["classes"])[kept])
                number += 1
    assert number == SAMPLES


def test_fields_that_are_not_asked_for_are_left_out(served, tmp_path):
    (tmp_path / "pipeline.yaml").write_text("fields: [caption]\nops: []\n")
    with loader_of(served) as all_of_it:
        assert "caption: uint8 rows" in repr(all_of_it)
    with Loader(served.address, transforms=tmp_path / "pipeline.yaml", batch_size=8, output="numpy") as loader:
        ((captions,), *_) = loader
    assert isinstance(captions, stoker.Ragged) and len(captions) == 8
    with pytest.raises(TypeError, match="the field is text, not bytes"):
        stoker.Ragged(captions.values, captions.offsets, "text")._needs("bytes")


def test_a_sample_above_its_bound_is_a_bad_one(scenes, start_server, tmp_path):
    config = json.loads(scenes.read_text())
    config["datasets"][0]["webdataset"]["fields"]["blob"]["max_bytes"] = "20"
    (tmp_path / "small.yaml").write_text(json.dumps(config))
    server = start_server("--config", tmp_path / "small.yaml")
    with loader_of(server) as loader, pytest.raises(stoker.DataLossError, match="max_bytes of 20"):
        list(loader)
    with loader_of(server, bad_samples="substitute") as loader, pytest.warns(stoker.StokerWarning):
        assert all(len(blob) <= 20 for batch in loader for blob in batch["blob"])


@pytest.mark.parametrize("block", [4, 5, 6])
def test_what_the_page_shows_works(tmp_path, scenes, start_server, block):
    (tmp_path / "stokerd.yaml").write_text(documented("fields.md", 3).replace("/data/street-objects", str(scenes.parent)))
    server = start_server("--config", tmp_path / "stokerd.yaml")
    (tmp_path / "pipeline.yaml").write_text(documented("fields.md", block))
    with Loader(server.address, transforms=tmp_path / "pipeline.yaml", batch_size=4, output="numpy", as_dict=True) as loader:
        batch = next(iter(loader))
    assert batch["boxes"].box_format == "xyxy" and (batch["boxes"].lengths == batch["classes"].lengths).all()


def test_a_sample_made_of_four_is_the_same_from_any_server(tmp_path, scenes, start_server):
    (tmp_path / "stokerd.yaml").write_text(documented("fields.md", 3).replace("/data/street-objects", str(scenes.parent)))
    servers = [start_server("--config", tmp_path / "stokerd.yaml") for _ in range(3)]
    ops = [ours.Mosaic(96, labels=["classes"]), ours.SanitizeBoundingBoxes(labels=["classes"])]

    def digest_of(addresses):
        with Loader(addresses, transforms=ops, batch_size=4, output="numpy", seed=5) as loader:
            return loader.digest()

    one = digest_of(servers[0].address)
    servers[1].stop()
    assert digest_of([server.address for server in servers]) == one
