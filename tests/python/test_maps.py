"""Label maps and binary maps: what the training loop gets, and that they go where torchvision's masks go."""

from __future__ import annotations

import io
import json
import tarfile

import numpy
import pytest
from conftest import documented

from stoker import Loader
from stoker import transforms as ours

SAMPLES = 24


def scene(seed):
    """Pixels and labels of a sample."""
    draw = numpy.random.default_rng(seed)
    height, width = draw.integers(40, 70, 2)
    labels = draw.integers(0, 5, (height // 4 + 1, width // 4 + 1)).repeat(4, 0).repeat(4, 1)[:height, :width]
    return draw.integers(0, 256, (height, width, 3)).astype(numpy.uint8), labels.astype(numpy.uint8)


def write_shard(path, members):
    """Writes the scenes as tar: `members` says for each extension whether it is the pixels, 0, or the labels, 1."""
    image_module = pytest.importorskip("PIL.Image")
    with tarfile.open(path, "w") as shard:
        for number in range(SAMPLES):
            for extension, which in members.items():
                file = io.BytesIO()
                kind = {"jpg": "jpeg"}.get(extension, "png")
                image_module.fromarray(scene(number)[which]).save(file, kind)
                member = tarfile.TarInfo(f"{number:04}.{extension}")
                member.size = file.tell()
                file.seek(0)
                shard.addfile(member, file)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    """A configuration of samples with an image, its labels and the bits of what is not 0 there."""
    folder = tmp_path_factory.mktemp("scenes")
    write_shard(folder / "scenes.tar", {"png": 0, "seg.png": 1})
    fields = {
        "image": "png",
        "labels": {"from": "seg.png", "kind": "label_map"},
        "there": {"from": "seg.png", "kind": "binary_map"},
    }
    config = {"datasets": [{"name": "scenes", "webdataset": {"path": str(folder), "fields": fields}}]}
    (folder / "stokerd.yaml").write_text(json.dumps(config))
    return folder / "stokerd.yaml"


@pytest.fixture
def served(scenes, start_server):
    return start_server("--config", scenes)


def epoch_of(server, transforms, **options):
    """An unshuffled epoch's images, labels and bits."""
    options = {"batch_size": 5, "shuffle": False, "last_batch": "partial", "output": "numpy", **options}
    with Loader(server.address, transforms=transforms, **options) as loader:
        return [numpy.concatenate(field) for field in zip(*loader)]


def test_labels_are_int64_and_bits_are_bytes(served):
    images, labels, there = epoch_of(served, [ours.CenterCrop(32), ours.ToDtype("float32")])
    assert images.dtype == "float32" and images.shape == (SAMPLES, 3, 32, 32)
    assert labels.dtype == "int64" and labels.shape == (SAMPLES, 32, 32)
    assert there.dtype == "uint8" and ((labels != 0) == there).all() and 0 < there.mean() < 1


def test_what_the_page_shows_works(start_server, tmp_path):
    write_shard(tmp_path / "streets.tar", {"jpg": 0, "seg.png": 1, "road.png": 1})
    (tmp_path / "stokerd.yaml").write_text(documented("fields.md", 0).replace("/data/streets", str(tmp_path)))
    (tmp_path / "pipeline.yaml").write_text(documented("fields.md", 1))
    images, labels, road = epoch_of(start_server("--config", tmp_path / "stokerd.yaml"), tmp_path / "pipeline.yaml")
    assert images.dtype == "float16" and images.shape[1:3] == labels.shape[1:] == road.shape[1:] == (512, 512)
    assert set(numpy.unique(labels)) == {0, 1, 2, 3, 4, 255}


def test_one_hot_takes_labels(served):
    _, labels, _ = epoch_of(served, [ours.CenterCrop(8)])
    _, ones, _ = epoch_of(served, [ours.CenterCrop(8), ours.OneHot(field="labels", num_classes=5)])
    assert (ones == numpy.eye(5)[labels]).all()


def test_one_hot_labels_are_no_image(served):
    torch = pytest.importorskip("torch")
    ops = [ours.CenterCrop(8), ours.OneHot(field="labels", num_classes=5, dtype="uint8")]
    with Loader(served.address, transforms=ops, batch_size=2, output="torch") as loader:
        images, ones, _ = next(iter(loader))
    assert images.shape == (2, 3, 8, 8) and ones.shape == (2, 8, 8, 5) and ones.dtype == torch.uint8


def test_maps_move_on_the_device_as_on_the_server(served):
    def ops(placement):
        crop = ours.RandomCrop(8, padding=2, map_fill=3, placement=placement)
        return [crop, ours.ColorJitter(0.2, placement=placement), ours.RandomHorizontalFlip(placement=placement)]

    first = ours.Resize((12, 12))
    server, device = (epoch_of(served, [first, *ops(placement)]) for placement in ("server", "device"))
    for one, other in zip(server, device):
        assert one.dtype == other.dtype and (one == other).all()


def test_ops_that_would_leave_a_map_behind_are_refused(served):
    mix = ours.CutMix(num_classes=3)
    with pytest.raises(Exception, match="does not mix 'labels', a label_map"):
        epoch_of(served, [ours.CenterCrop(8), mix])


# ---- torchvision's masks ----


def masks_of(transform):
    """What torchvision's transform makes of the labels, beside the image."""
    torch = pytest.importorskip("torch")
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    made = []
    for number in range(SAMPLES):
        pixels, labels = scene(number)
        image = tv_tensors.Image(torch.from_numpy(pixels).permute(2, 0, 1))
        _, mask = transform(image, tv_tensors.Mask(torch.from_numpy(labels)))
        made.append(mask.numpy())
    return numpy.stack(made)


@pytest.fixture
def v2():
    return pytest.importorskip("torchvision.transforms.v2")


EXACT = [
    ("CenterCrop", {"size": 30}, {"size": 30}),
    ("CenterCrop", {"size": 90}, {"size": 90}),
    ("RandomHorizontalFlip", {"p": 1}, {"p": 1}),
    ("RandomVerticalFlip", {"p": 1}, {"p": 1}),
    ("Pad", {"padding": [3, 4, 5, 6], "map_fill": 9}, {"padding": [3, 4, 5, 6], "fill": 9}),
    ("Pad", {"padding": 4, "padding_mode": "reflect"}, {"padding": 4, "padding_mode": "reflect"}),
    ("Pad", {"padding": 4, "padding_mode": "edge"}, {"padding": 4, "padding_mode": "edge"}),
    ("Pad", {"padding": 4, "padding_mode": "symmetric"}, {"padding": 4, "padding_mode": "symmetric"}),
]


@pytest.mark.parametrize("name, ours_has, theirs_has", EXACT)
def test_moves_by_whole_pixels_are_torchvisions(served, v2, name, ours_has, theirs_has):
    op = getattr(ours, name)(**ours_has)
    cut = [ours.CenterCrop((36, 38))] if name != "CenterCrop" else []
    their_cut = [v2.CenterCrop((36, 38))] if name != "CenterCrop" else []
    _, labels, _ = epoch_of(served, [op, *cut])
    assert (labels == masks_of(v2.Compose([getattr(v2, name)(**theirs_has), *their_cut]))).all()


@pytest.mark.parametrize("size", [(31, 47), (90, 33), (128, 128)])
def test_resizing_is_pillows_nearest(served, size):
    image_module = pytest.importorskip("PIL.Image")
    _, labels, _ = epoch_of(served, [ours.Resize(size)])
    for number in range(SAMPLES):
        whole = image_module.fromarray(scene(number)[1])
        assert (labels[number] == numpy.asarray(whole.resize(size[::-1], image_module.Resampling.NEAREST))).all()


@pytest.mark.parametrize("size", [(31, 47), (90, 33), (128, 128)])
def test_resizing_is_torchvisions_nearest_exact_but_for_centers_on_the_border_of_two_pixels(served, v2, size):
    def resized(image, mask):
        exact = v2.functional.resize_image(mask.unsqueeze(0), size, v2.InterpolationMode.NEAREST_EXACT)
        return image, exact.squeeze(0)

    _, labels, _ = epoch_of(served, [ours.Resize(size)])
    assert (labels != masks_of(resized)).mean() < 0.01


@pytest.mark.parametrize("degrees", [30, -77])
def test_rotation_is_torchvisions(served, v2, degrees):
    turn = ours.RandomRotation((degrees, degrees), map_fill=9)
    _, labels, _ = epoch_of(served, [turn, ours.CenterCrop(36)])
    theirs = masks_of(v2.Compose([v2.RandomRotation((degrees, degrees), fill=9), v2.CenterCrop(36)]))
    assert (labels != theirs).mean() < 0.005
    assert (labels == 9).any()


def test_affine_maps_are_torchvisions(served, v2):
    ours_op = ours.RandomAffine((20, 20), scale=(1.2, 1.2), shear=(8, 8), map_fill=9)
    _, labels, _ = epoch_of(served, [ours_op, ours.CenterCrop(36)])
    theirs = v2.RandomAffine((20, 20), scale=(1.2, 1.2), shear=(8, 8), fill=9)
    assert (labels != masks_of(v2.Compose([theirs, v2.CenterCrop(36)]))).mean() < 0.005


def test_a_drawn_crop_is_the_images(served):
    """The labels of a crop are those of a crop of the labels at one place."""
    images, labels, _ = epoch_of(served, [ours.RandomCrop(24), ours.RandomHorizontalFlip()])
    for number in range(SAMPLES):
        pixels, whole = scene(number)
        found = [
            flipped
            for flipped in (1, -1)
            for top in range(whole.shape[0] - 23)
            for left in range(whole.shape[1] - 23)
            if (pixels[top : top + 24, left : left + 24][:, ::flipped] == images[number]).all()
            and (whole[top : top + 24, left : left + 24][:, ::flipped] == labels[number]).all()
        ]
        assert found, number


@pytest.mark.parametrize(
    "op", [ours.RandomPerspective(p=1, interpolation="nearest"), ours.ElasticTransform(60, 3, interpolation="nearest")]
)
def test_moves_that_are_drawn_take_maps_along(start_server, tmp_path, op):
    """The image is its own label map, in three channels."""
    write_shard(tmp_path / "scenes.tar", {"png": 1, "seg.png": 1})
    fields = {"image": "png", "labels": {"from": "seg.png", "kind": "label_map"}}
    config = {"datasets": [{"name": "scenes", "webdataset": {"path": str(tmp_path), "fields": fields}}]}
    (tmp_path / "stokerd.yaml").write_text(json.dumps(config))
    server = start_server("--config", tmp_path / "stokerd.yaml")
    still, _ = epoch_of(server, [ours.CenterCrop(32)])
    images, labels = epoch_of(server, [op, ours.CenterCrop(32)])
    assert (images[..., 0] == labels).all() and (images != still).mean() > 0.1


def test_ops_on_the_client_leave_no_map_behind(served, v2):
    compose = v2.Compose([v2.CenterCrop(32), v2.ToImage(), v2.RandomPhotometricDistort()])
    with pytest.raises(Exception, match="'labels' lies on the image, and .*RandomPhotometricDistort"):
        epoch_of(served, compose, output="torch", on_unsupported="client")
