"""Fields of numbers that are no image: converted by the servers or on the device, and normalized."""

from __future__ import annotations

import numpy
import pytest
from conftest import documented

from stoker import Loader, StokerError
from stoker import transforms as ours

SAMPLES, EXTENT = 40, 24


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    """A folder of float32 vectors, and what they are."""
    folder = tmp_path_factory.mktemp("features")
    vectors = numpy.random.default_rng(1).normal(3, 100, (SAMPLES, EXTENT)).astype(numpy.float32)
    for number, vector in enumerate(vectors):
        numpy.save(folder / f"{number:04}.npy", vector)
    return folder, vectors


def epoch_of(server, transforms, **options):
    options = {"batch_size": 7, "shuffle": False, "last_batch": "partial", "output": "numpy", **options}
    with Loader(server.address, transforms=transforms, **options) as loader:
        made = numpy.concatenate([batch[0] for batch in loader])
        return made, loader.stats()["bytes"], loader.description["sample_bytes"]


@pytest.fixture
def served(features, start_server):
    return start_server("--data", features[0])


@pytest.mark.parametrize("placement", ["server", "device"])
def test_half_floats_are_numpys(served, features, placement):
    made, _, sample_bytes = epoch_of(served, [ours.ToDtype("float16", field="features", placement=placement)])
    assert made.dtype == "float16" and (made == features[1].astype(numpy.float16)).all()
    assert sample_bytes == EXTENT * (2 if placement == "server" else 4)


def test_bfloat16_is_torchs(served, features):
    torch = pytest.importorskip("torch")
    ops = [ours.ToDtype("bfloat16", field="features", placement="server")]
    with Loader(served.address, transforms=ops, batch_size=SAMPLES, shuffle=False, output="torch") as loader:
        (made,) = next(iter(loader))
    assert made.dtype == torch.bfloat16 and torch.equal(made, torch.from_numpy(features[1]).to(torch.bfloat16))


def test_each_element_is_normalized(served, features):
    mean, std = features[1].mean(0).astype(float), features[1].std(0).astype(float)
    ops = [ours.Normalize(mean=list(mean), std=list(std), field="features")]
    made, _, _ = epoch_of(served, ops)
    assert made.dtype == "float32" and numpy.allclose(made, (features[1] - mean) / std, atol=1e-5)
    assert abs(made.mean()) < 1e-5 and abs(made.std() - 1) < 1e-4
    # What the servers rounded is normalized on the device.
    rounded = ours.ToDtype("float16", field="features", placement="server")
    made, _, _ = epoch_of(served, [rounded, *ops])
    half = features[1].astype(numpy.float16).astype(numpy.float32)
    assert made.dtype == "float16" and numpy.allclose(made, (half - mean) / std, atol=2e-3)


def test_what_the_page_shows_works(served, tmp_path, features):
    torch = pytest.importorskip("torch")
    (tmp_path / "pipeline.yaml").write_text(documented("fields.md", 2))
    with Loader(served.address, transforms=tmp_path / "pipeline.yaml", batch_size=4, output="torch") as loader:
        (made,) = next(iter(loader))
    assert made.dtype == torch.bfloat16 and made.shape == (4, EXTENT)


def test_labels_become_floats_beside_images_of_another_type(server):
    ops = [
        ours.ToDtype("float32", field="label", placement="server"),
        ours.CenterCrop(8),
        ours.ToDtype("float16", scale=True),
        ours.Normalize(mean=1, std=2, field="label"),
    ]
    plain, floats = (
        Loader(server.address, transforms=each, batch_size=50, shuffle=False, output="numpy")
        for each in ([ours.CenterCrop(8)], ops)
    )
    with plain, floats:
        for (_, whole), (images, labels) in zip(plain, floats):
            assert images.dtype == "float16" and images.max() <= 1
            assert labels.dtype == "float32" and (labels == (whole - 1) / 2).all()


def test_the_loaders_dtype_is_the_images(server):
    ops = [ours.CenterCrop(8), ours.ToDtype("float16", field="label")]
    with Loader(server.address, transforms=ops, dtype="float32", batch_size=4, output="numpy") as loader:
        images, labels = next(iter(loader))
    assert images.dtype == "float32" and images.shape == (4, 3, 8, 8) and labels.dtype == "float16"


@pytest.mark.parametrize(
    "op, says",
    [
        (ours.ToDtype("float16", field="label", placement="server"), "ToDtype.field: 'label' is not sent"),
        (ours.ToDtype("uint8", field="features"), "ToDtype.dtype: of a field that is no image must be float32"),
        (ours.Normalize(mean=[1, 2], std=1, field="features"), r"one for each element \(24\); found 2"),
    ],
)
def test_refusals_say_what_to_do(served, op, says):
    with pytest.raises(StokerError, match=says):
        epoch_of(served, [op])
