"""Images of native size, as the training loop gets them."""

from __future__ import annotations

import io
import json
import tarfile

import numpy
import pytest
from conftest import documented

import stoker
from stoker import Loader, RaggedImages
from stoker import transforms as ours

SAMPLES = 24


def image_of(number):
    draw = numpy.random.default_rng(number)
    return draw.integers(0, 256, (*draw.integers(8, 60, 2), 3)).astype(numpy.uint8)


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    image_module = pytest.importorskip("PIL.Image")
    folder = tmp_path_factory.mktemp("images")
    with tarfile.open(folder / "images.tar", "w") as shard:
        for number in range(SAMPLES):
            content = io.BytesIO()
            image_module.fromarray(image_of(number)).save(content, "png")
            member = tarfile.TarInfo(f"{number:04}.png")
            member.size = len(content.getvalue())
            shard.addfile(member, io.BytesIO(content.getvalue()))
    config = {"datasets": [{"name": "images", "webdataset": {"path": str(folder), "fields": {"image": "png"}}}]}
    (folder / "stokerd.yaml").write_text(json.dumps(config))
    return folder / "stokerd.yaml"


@pytest.fixture
def served(images, start_server):
    return start_server("--config", images)


def loader_of(server, ops=(), native_size=None, **options):
    native_size = native_size or {"max_pixels": 3600}
    options = {"batch_size": 7, "shuffle": False, "last_batch": "partial", "output": "numpy", "as_dict": True, **options}
    return Loader(server.address, transforms=ours.Pipeline(ops, native_size=native_size), **options)


def test_each_image_has_the_size_that_it_is_stored_in(served):
    with loader_of(served) as loader:
        assert [field["name"] for field in loader.description["fields"]] == ["image"]
        seen = 0
        for batch in loader:
            assert isinstance(batch["image"], RaggedImages) and list(batch) == ["image"]
            for row, image in enumerate(batch["image"]):
                assert (image == image_of(seen)).all() and image.shape == image_of(seen).shape
                assert (batch["image"][row] == image).all()
                assert batch["image"].sizes[row].tolist() == list(image.shape[:2])
                seen += 1
        assert seen == SAMPLES
        assert "rows × 3" in repr(loader)


def test_no_padding_travels(served):
    with loader_of(served, batch_size=SAMPLES) as loader:
        list(loader)
        stats = loader.stats()
        own = sum(image_of(number).size for number in range(SAMPLES))
        # Epochs that are looked ahead at have the same images, a span each.
        assert stats["bytes"] == stats["spans"] * (own + SAMPLES * (8 + 4))


def test_torch_gets_channels_first_padded_nested_and_patches(served):
    torch = pytest.importorskip("torch")
    with loader_of(served, [ours.Resize(16, max_size=48, multiple=8)], output="torch") as loader:
        for batch in loader:
            images = batch["image"]
            assert images.layout == "channels_first" and images.sizes.dtype == torch.int32
            assert all(image.shape[0] == 3 and image.shape[1] % 8 == image.shape[2] % 8 == 0 for image in images)
            assert (images.sizes <= 48).all()
            padded, nested, patches = images.padded(9), images.nested(), images.patches(8)
            assert padded.shape[2:] == tuple(images.sizes.max(0).values)
            assert patches.values.shape[1:] == (8, 8, 3) and patches.lengths.sum() * 64 == images.values.shape[0]
            for row, image in enumerate(images):
                height, width = image.shape[1:]
                assert (padded[row, :, :height, :width] == image).all()
                assert (padded[row, :, height:] == 9).all() and (padded[row, :, :, width:] == 9).all()
                assert (nested[row] == image).all()
                assert (patches[row][1] == image.permute(1, 2, 0)[:8, 8:16]).all() if width > 8 else True


def test_patches_of_other_sizes_are_refused(served):
    with loader_of(served) as loader:
        with pytest.raises(ValueError, match="not made of whole 7×7"):
            next(iter(loader))["image"].patches(7)


def test_floats_are_those_of_images_of_one_size(served):
    ops = [
        ours.CenterCrop(20),
        ours.RandomHorizontalFlip(),
        ours.ToDtype("float32", scale=True),
        ours.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ]
    with loader_of(served, ops) as native:
        with Loader(
            served.address, transforms=[*ops, ours.ToMemoryFormat("channels_last")], batch_size=7, shuffle=False, output="numpy"
        ) as fixed:
            for of_native, (of_fixed,) in zip(native, fixed):
                assert (numpy.stack(list(of_native["image"])) == of_fixed).all()


def test_dtype_casts_them(served):
    with loader_of(served, dtype="float32") as loader:
        image = next(iter(loader))["image"][0]
        assert image.dtype == "float32" and (image == image_of(0).astype("float32") / numpy.float32(255)).mean() > 0.5
        assert abs(image - image_of(0) / 255).max() < 1e-6


def test_an_image_above_the_most_is_a_bad_sample_by_name(served):
    most = max(image_of(number).size // 3 for number in range(SAMPLES)) - 1
    with loader_of(served, native_size={"max_pixels": most}) as loader:
        with pytest.raises(stoker.DataLossError, match="field .image. would be an image of .*max_pixels"):
            list(loader)


def test_the_digest_is_that_of_sizes_and_bytes_whatever_the_spans(served):
    import hashlib

    expected = hashlib.sha256()
    for number in range(SAMPLES):
        image = image_of(number)
        sides = numpy.array(image.shape[:2], numpy.int32).tobytes()
        expected.update(number.to_bytes(8, "little") * 2 + image.size.to_bytes(8, "little") + image.tobytes() + sides)
    for batch_size in (1, 7, SAMPLES):
        with loader_of(served, batch_size=batch_size) as loader:
            assert loader.digest() == expected.hexdigest()


def test_what_the_page_shows_works(served, tmp_path):
    torch = pytest.importorskip("torch")
    (tmp_path / "pipeline.yaml").write_text(documented("fields.md", 7))
    with Loader(served.address, transforms=tmp_path / "pipeline.yaml", batch_size=4, output="torch") as loader:
        (images,) = next(iter(loader))
    assert images.values.dtype == torch.bfloat16 and (images.sizes % 28 == 0).all()
    assert images.patches(28).values.shape[1:] == (28, 28, 3)
