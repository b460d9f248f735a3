"""Boxes and keypoints under ops that draw a warp or a canvas: what was drawn is read off a grid of keypoints, and given
to torchvision."""

from __future__ import annotations

import importlib
import io
import json
import tarfile

import numpy
import pytest

from stoker import Loader
from stoker import transforms as ours

v2 = pytest.importorskip("torchvision.transforms.v2")
torch = pytest.importorskip("torch")
tv_tensors = pytest.importorskip("torchvision.tv_tensors")

SAMPLES = 8
HEIGHT, WIDTH = 40, 56
FORMATS = ("XYXY", "XYWH", "CXCYWH")

# A keypoint at the center of each pixel, as torchvision counts them, row by row.
GRID = numpy.stack(numpy.meshgrid(numpy.arange(WIDTH), numpy.arange(HEIGHT)), -1).reshape(-1, 2).astype(numpy.float32)

# It changes nothing, and promises that all images have one size.
WHOLE = ours.CenterCrop((HEIGHT, WIDTH))

# What float32 leaves of positions, which are read off others in it.
ROUNDING = 2e-3


# So many of the first boxes and keypoints lie on whole pixels.
ON_PIXELS = 3


def boxes_of(number, box_format):
    """Boxes inside of the image."""
    draw = numpy.random.default_rng(number)
    first = draw.uniform(0, 0.6, (6, 2)) * (WIDTH, HEIGHT)
    last = first + draw.uniform(0.1, 0.4, (6, 2)) * (WIDTH, HEIGHT)
    for corner in (first, last):
        corner[:ON_PIXELS] = numpy.rint(corner[:ON_PIXELS])
    parts = {"XYXY": (first, last), "XYWH": (first, last - first), "CXCYWH": ((first + last) / 2, last - first)}
    return numpy.concatenate(parts[box_format], axis=1).astype(numpy.float32)


def points_of(number):
    """Keypoints inside of the image."""
    draw = numpy.random.default_rng(100 + number)
    points = draw.uniform(0, 1, (7, 2)) * (WIDTH - 1, HEIGHT - 1)
    points[:ON_PIXELS] = numpy.rint(points[:ON_PIXELS])
    return points.astype(numpy.float32)


@pytest.fixture(scope="module")
def configuration(tmp_path_factory):
    image_module = pytest.importorskip("PIL.Image")
    folder = tmp_path_factory.mktemp("grids")
    with tarfile.open(folder / "grids.tar", "w") as shard:
        for number in range(SAMPLES):
            png = io.BytesIO()
            image_module.new("RGB", (WIDTH, HEIGHT), (number, 100, 200)).save(png, "png")
            rows = {box_format: boxes_of(number, box_format).tolist() for box_format in FORMATS}
            rows.update(grid=GRID.tolist(), points=points_of(number).tolist())
            for extension, data in (("png", png.getvalue()), ("json", json.dumps(rows).encode())):
                member = tarfile.TarInfo(f"{number:04}.{extension}")
                member.size = len(data)
                shard.addfile(member, io.BytesIO(data))
    boxes = {
        box_format: {"json": f"$.{box_format}", "kind": "boxes", "box_format": box_format.lower(), "max_bytes": "1KiB"}
        for box_format in FORMATS
    }
    points = {
        name: {"json": f"$.{name}", "kind": "keypoints", "max_bytes": "32KiB", "typical_bytes": "1KiB"}
        for name in ("grid", "points")
    }
    fields = {"image": "png", **boxes, **points}
    config = {"datasets": [{"name": "grids", "webdataset": {"path": str(folder), "fields": fields}}]}
    (folder / "stokerd.yaml").write_text(json.dumps(config))
    return folder / "stokerd.yaml"


def made_by(configuration, start_server, *ops):
    """The samples as the ops made them, each a dict of arrays."""
    options = {"batch_size": SAMPLES, "shuffle": False, "output": "numpy", "as_dict": True}
    with Loader(start_server("--config", configuration).address, transforms=list(ops), **options) as loader:
        batch = next(iter(loader))
    return [{name: rows[number] for name, rows in batch.items()} for number in range(SAMPLES)]


def check_against(samples, transform, parameters_of, between_pixels=ROUNDING):
    """Compares boxes in all formats and keypoints with those that torchvision's transform makes by `parameters_of` the
    grid, those between pixels less exactly."""
    bounds = numpy.array([ROUNDING] * ON_PIXELS + [between_pixels] * 4)[:, None]
    for number, made in enumerate(samples):
        parameters = parameters_of(made["grid"].reshape(HEIGHT, WIDTH, 2).astype(float))
        for box_format in FORMATS:
            boxes = tv_tensors.BoundingBoxes(
                boxes_of(number, box_format), format=box_format, canvas_size=(HEIGHT, WIDTH)
            )
            theirs = transform.transform(boxes, parameters)
            assert (numpy.abs(made[box_format] - theirs.numpy()) <= bounds[:6]).all(), (number, box_format)
        if hasattr(tv_tensors, "KeyPoints"):
            points = tv_tensors.KeyPoints(points_of(number), canvas_size=(HEIGHT, WIDTH))
            theirs = transform.transform(points, parameters).numpy()
            assert (numpy.abs(made["points"] - theirs) <= bounds).all(), number


def whole(numbers):
    """The whole numbers that these are, but for rounding."""
    rounded = numpy.rint(numbers)
    assert numpy.abs(numbers - rounded).max() <= ROUNDING, numbers
    return rounded.astype(int).tolist()


def test_perspectives(configuration, start_server):
    ops = [ours.RandomPerspective(0.5, p=1), WHOLE]

    def drawn(grid):
        corners = [(0, 0), (0, WIDTH - 1), (HEIGHT - 1, WIDTH - 1), (HEIGHT - 1, 0)]
        ends = [whole(grid[corner]) for corner in corners]
        starts = [[x, y] for y, x in corners]
        assert ends != starts
        _get_perspective_coeffs = importlib.import_module("torchvision.transforms.functional")._get_perspective_coeffs
        return {"coefficients": _get_perspective_coeffs(starts, ends)}

    check_against(made_by(configuration, start_server, *ops), v2.RandomPerspective(0.5, p=1), drawn)


def test_elastic_transforms(configuration, start_server):
    """A keypoint on a pixel moves by the pixel's displacement, which torchvision has in halves of the image's extents.

    torchvision moves what is between pixels to a whole one first, and we do not: that is less than a pixel, and for the
    width of a box less than two.
    """
    ops = [ours.ElasticTransform(alpha=60, sigma=4), WHOLE]

    def drawn(grid):
        moved = GRID.reshape(HEIGHT, WIDTH, 2) - grid
        assert numpy.abs(moved).max() > 1
        displacement = torch.from_numpy(moved * 2 / (WIDTH, HEIGHT))[None].float()
        return {"displacement": displacement}

    check_against(made_by(configuration, start_server, *ops), v2.ElasticTransform(60, 4), drawn, between_pixels=2)


def test_zooms_out(configuration, start_server):
    """A canvas of any size, of which a corner is kept, so that all samples have one size."""
    least = 16  # below each image's own extents, so that a crop is inside of the canvas
    ops = [ours.RandomZoomOut(p=1, side_range=(1.2, 2.0)), ours.CenterCrop(least)]
    samples = made_by(configuration, start_server, *ops)

    def drawn(grid):
        # The crop's own shift is in what the keypoints moved by, as if the canvas were larger on the other side.
        left, top = whole(grid[0, 0])
        return {"padding": [left, top, least - WIDTH - left, least - HEIGHT - top]}

    check_against(samples, v2.RandomZoomOut(p=1), drawn)
