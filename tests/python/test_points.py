"""Boxes and keypoints: that they go where torchvision's go, and where the pixels under them go."""

from __future__ import annotations

import io
import json
import tarfile

import numpy
import pytest

from stoker import Loader
from stoker import transforms as ours

SAMPLES = 24
FORMATS = ("xyxy", "xywh", "cxcywh")

# What float32 leaves of torchvision's positions, which it rounds after every op: a part of the image's extent.
ROUNDING = 2**-18


def in_format(boxes, box_format):
    """Boxes given by their sides, in float32."""
    first, last = boxes[:, :2], boxes[:, 2:]
    parts = {
        "xyxy": (first, last),
        "xywh": (first, last - first),
        "cxcywh": ((first + last) / 2, last - first),
    }[box_format]
    return numpy.concatenate(parts, axis=1).astype(numpy.float32)


def sides_of(boxes, box_format):
    """The sides of such boxes, in double."""
    first, size = boxes[:, :2].astype(float), boxes[:, 2:].astype(float)
    if box_format == "cxcywh":
        first = first - size / 2
    return numpy.concatenate((first, size if box_format == "xyxy" else first + size), axis=1)


def scene(seed):
    """A black image with a white rectangle, the sides of boxes of which the first is the rectangle's, and keypoints.

    Some boxes reach beyond the image, some are thin, and the first scene has none.
    """
    draw = numpy.random.default_rng(seed)
    height, width = (int(extent) for extent in draw.integers(64, 111, 2))
    left, top = int(draw.integers(8, 24)), int(draw.integers(8, 24))
    right, bottom = left + int(draw.integers(20, 40)), top + int(draw.integers(20, 40))
    pixels = numpy.zeros((height, width, 3), numpy.uint8)
    extents = numpy.array([width, height, width, height])
    others = draw.uniform(-0.05, 1.05, (seed % 5, 4)) * extents
    others[:, 2:] = others[:, :2] + draw.choice([0.3, 5.0, 30.0], (seed % 5, 2))
    boxes = numpy.concatenate(([[left, top, right, bottom]], others))[: None if seed else 0]
    if seed:
        pixels[top:bottom, left:right] = 255
    return pixels, boxes, draw.uniform(0, 1, (seed % 4, 2)) * extents[:2]


def document(seed):
    """The scene's rows, as a JSON document has them."""
    _, boxes, keypoints = scene(seed)
    rows = {box_format: in_format(boxes, box_format) for box_format in FORMATS}
    rows["keypoints"] = keypoints.astype(numpy.float32)
    labels = [10 * seed + number for number in range(len(boxes))]
    return {**{name: value.tolist() for name, value in rows.items()}, "labels": labels}


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    """A configuration of samples with an image, its boxes in every format, their labels, and keypoints."""
    image_module = pytest.importorskip("PIL.Image")
    folder = tmp_path_factory.mktemp("scenes")
    with tarfile.open(folder / "scenes.tar", "w") as shard:
        for number in range(SAMPLES):
            png = io.BytesIO()
            image_module.fromarray(scene(number)[0]).save(png, "png")
            for extension, data in (("png", png.getvalue()), ("json", json.dumps(document(number)).encode())):
                member = tarfile.TarInfo(f"{number:04}.{extension}")
                member.size = len(data)
                shard.addfile(member, io.BytesIO(data))
    rows = {"max_bytes": "4KiB"}
    fields = {
        "image": "png",
        **{name: {"json": f"$.{name}", "kind": "boxes", "box_format": name, **rows} for name in FORMATS},
        "keypoints": {"json": "$.keypoints", "kind": "keypoints", **rows},
        "labels": {"json": "$.labels", "kind": "ragged", "dtype": "int64", **rows},
    }
    config = {"datasets": [{"name": "scenes", "webdataset": {"path": str(folder), "fields": fields}}]}
    (folder / "stokerd.yaml").write_text(json.dumps(config))
    return folder / "stokerd.yaml"


@pytest.fixture
def served(scenes, start_server):
    return start_server("--config", scenes)


def epoch_of(server, transforms):
    """The fields of an unshuffled epoch by their names, each a list of the samples' arrays."""
    options = {"batch_size": 5, "shuffle": False, "last_batch": "partial", "output": "numpy", "as_dict": True}
    with Loader(server.address, transforms=transforms, **options) as loader:
        batches = list(loader)
    return {name: [rows for batch in batches for rows in batch[name]] for name in batches[0]}


# ---- torchvision's boxes and keypoints ----


@pytest.fixture
def v2():
    return pytest.importorskip("torchvision.transforms.v2")


def sample_of(number, box_format):
    """The scene as torchvision has it."""
    torch = pytest.importorskip("torch")
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    pixels, boxes, keypoints = scene(number)
    size = pixels.shape[:2]
    sample = {
        "image": tv_tensors.Image(torch.from_numpy(pixels).permute(2, 0, 1)),
        "boxes": tv_tensors.BoundingBoxes(in_format(boxes, box_format), format=box_format.upper(), canvas_size=size),
        "labels": torch.tensor(document(number)["labels"]),
    }
    if hasattr(tv_tensors, "KeyPoints"):
        sample["keypoints"] = tv_tensors.KeyPoints(keypoints.astype(numpy.float32), canvas_size=size)
    return sample


def same_rows(made, expected):
    """Whether the rows are equal but for the rounding of an image of 224 pixels."""
    return made.shape == expected.shape and numpy.allclose(made, expected, rtol=0, atol=ROUNDING * 224)


def check_against(v2, made, transform):
    """Compares all boxes and keypoints with what torchvision's transform makes of them, once they are in the image."""
    compose = v2.Compose([v2.ClampBoundingBoxes(), transform])
    for box_format in FORMATS:
        for number in range(SAMPLES):
            theirs = compose(sample_of(number, box_format))
            boxes = sides_of(theirs["boxes"].numpy(), box_format)
            assert same_rows(sides_of(made[box_format][number], box_format), boxes), (box_format, number)
            if "keypoints" in theirs:
                assert same_rows(made["keypoints"][number], theirs["keypoints"].numpy()), number


CUT = {"size": (52, 48)}
MOVES = [
    ("CenterCrop", CUT),
    ("RandomHorizontalFlip", {"p": 1}),
    ("RandomVerticalFlip", {"p": 1}),
    ("Pad", {"padding": [3, 4, 5, 6]}),
    ("Resize", {"size": (224, 120)}),
    ("Resize", {"size": (131, 200)}),
    ("RandomRotation", {"degrees": (30, 30)}),
    ("RandomRotation", {"degrees": (-117, -117)}),
    ("RandomAffine", {"degrees": (20, 20), "scale": (1.2, 1.2), "shear": (8, 8, -5, -5)}),
    ("ScaleJitter", {"target_size": (180, 160), "scale_range": (0.9, 0.9)}),
    ("RandomShortestSize", {"min_size": [120]}),
    ("RandomShortestSize", {"min_size": [120], "max_size": 130}),
]


@pytest.mark.parametrize("name, arguments", MOVES)
def test_boxes_and_keypoints_go_where_torchvisions_go(served, v2, name, arguments):
    made = epoch_of(served, [getattr(ours, name)(**arguments), ours.CenterCrop(**CUT)])
    check_against(v2, made, v2.Compose([getattr(v2, name)(**arguments), v2.CenterCrop(**CUT)]))


def test_ops_one_after_the_other_go_where_torchvisions_go(served, v2):
    moves = [
        ("Pad", {"padding": 7}),
        ("RandomRotation", {"degrees": (12, 12)}),
        ("RandomHorizontalFlip", {"p": 1}),
        ("Resize", {"size": (140, 224)}),
        ("CenterCrop", {"size": 100}),
    ]
    ops, theirs = ([getattr(of, name)(**arguments) for name, arguments in moves] for of in (ours, v2))
    check_against(v2, epoch_of(served, ops), v2.Compose(theirs))


@pytest.mark.parametrize("least", [{}, {"min_size": 6, "min_area": 50}])
def test_the_boxes_that_torchvision_keeps_are_kept_with_their_labels(served, v2, least):
    cut = ours.CenterCrop(**CUT)
    for box_format in ("xyxy", "xywh"):
        sanitize = ours.SanitizeBoundingBoxes(field=box_format, labels=["labels"], **least)
        made = epoch_of(served, [cut, sanitize])
        compose = v2.Compose([v2.CenterCrop(**CUT), v2.SanitizeBoundingBoxes(**least)])
        kept = 0
        for number in range(SAMPLES):
            theirs = compose(sample_of(number, box_format))
            assert list(made["labels"][number]) == theirs["labels"].tolist(), number
            assert same_rows(made[box_format][number], theirs["boxes"].numpy()), number
            kept += len(made["labels"][number])
        assert 0 < kept < sum(len(scene(number)[1]) for number in range(SAMPLES))


def test_sanitizing_leaves_other_fields_alone(served):
    made = epoch_of(served, [ours.CenterCrop(20), ours.SanitizeBoundingBoxes(field="xyxy")])
    for number in range(SAMPLES):
        _, boxes, keypoints = scene(number)
        assert len(made["labels"][number]) == len(made["xywh"][number]) == len(boxes)
        assert len(made["keypoints"][number]) == len(keypoints)


# ---- Crops that overlap boxes ----


def epochs_of(server, transforms, epochs):
    """As epoch_of, of several epochs one after the other, which draw each for themselves."""
    options = {"batch_size": SAMPLES, "shuffle": False, "output": "numpy", "as_dict": True}
    with Loader(server.address, transforms=transforms, **options) as loader:
        for _ in range(epochs):
            (batch,) = list(loader)
            yield {name: list(rows) for name, rows in batch.items()}


OUT = (210, 320)  # What all images are resized to after the crop: height, width.


def crop_of(number, batch):
    """The crop that the keypoints tell of: left, top, width, height. None where the scene has too few."""
    _, _, points = scene(number)
    if len(points) < 2:
        return None
    points, moved = points.astype(numpy.float32).astype(float), batch["keypoints"][number].astype(float)
    scale = (moved[1] - moved[0]) / (points[1] - points[0])
    size = numpy.array([OUT[1], OUT[0]]) / scale
    first = points[0] - moved[0] / scale
    crop = numpy.concatenate([first, size])
    assert numpy.abs(crop - crop.round()).max() < 0.05, crop
    return crop.round()


def overlaps_of(boxes, crop):
    """For each box, given by its sides, whether its center lies in the crop, and the intersection over union."""
    left, top, right, bottom = crop[0], crop[1], crop[0] + crop[2], crop[1] + crop[3]
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    inside = (left < x) & (x < right) & (top < y) & (y < bottom)
    width = (numpy.minimum(boxes[:, 2], right) - numpy.maximum(boxes[:, 0], left)).clip(0)
    height = (numpy.minimum(boxes[:, 3], bottom) - numpy.maximum(boxes[:, 1], top)).clip(0)
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return inside, width * height / (areas + crop[2] * crop[3] - width * height)


@pytest.mark.parametrize("box_format", FORMATS)
@pytest.mark.parametrize("least", [0.0, 0.3, 0.7])
def test_a_crop_overlaps_a_box_by_what_was_drawn(served, box_format, least):
    crop_op = ours.RandomIoUCrop(sampler_options=[least], field=box_format, labels=["labels"])
    seen = 0
    for batch in epochs_of(served, [crop_op, ours.Resize(OUT)], 10):
        for number in range(SAMPLES):
            crop, (pixels, _, _) = crop_of(number, batch), scene(number)
            if crop is None:
                continue
            height, width = pixels.shape[:2]
            extents = numpy.array([width, height, width, height])
            boxes = sides_of(in_format(scene(number)[1], box_format), box_format).clip(0, extents)
            labels = list(batch["labels"][number])
            if (crop == [0, 0, width, height]).all():  # None was found, or there are no boxes.
                assert len(labels) <= len(boxes)
                continue
            assert crop[0] >= 0 and crop[1] >= 0 and crop[0] + crop[2] <= width and crop[1] + crop[3] <= height
            assert 0.5 <= crop[2] / crop[3] <= 2
            inside, overlaps = overlaps_of(boxes, crop)
            assert inside.any() and overlaps[inside].max() >= least - 1e-6, (number, crop)
            assert labels == [document(number)["labels"][row] for row in inside.nonzero()[0]]
            moved = (boxes[inside] - numpy.tile(crop[:2], 2)).clip(0, numpy.tile(crop[2:], 2))
            moved *= numpy.tile(numpy.array([OUT[1], OUT[0]]) / crop[2:], 2)
            assert numpy.abs(sides_of(batch[box_format][number], box_format) - moved).max() < 1e-3
            seen += 1
    assert seen > 40


def test_crops_are_drawn_as_torchvision_draws_them(served, v2):
    """How many images stay whole, the share that a crop takes, its ratio, and how many boxes are left."""
    torch = pytest.importorskip("torch")
    epochs, numbers = 60, [number for number in range(SAMPLES) if number % 4 >= 2]  # Those with two keypoints.
    torch.manual_seed(0)
    crop = v2.Compose([v2.ClampBoundingBoxes(), v2.RandomIoUCrop()])
    then = v2.Compose([v2.Resize(OUT), v2.SanitizeBoundingBoxes()])
    theirs, mine = [], []
    for _ in range(epochs):
        for number in numbers:
            sample = crop(sample_of(number, "xyxy"))
            height, width = scene(number)[0].shape[:2]
            *_, after_height, after_width = sample["image"].shape
            theirs.append(measures(after_width, after_height, width, height, len(then(sample)["labels"])))
    crop_op = ours.RandomIoUCrop(field="xyxy", labels=["labels"])
    sanitize = ours.SanitizeBoundingBoxes(field="xyxy", labels=["labels"])
    for batch in epochs_of(served, [crop_op, ours.Resize(OUT), sanitize], epochs):
        for number in numbers:
            crop, (height, width) = crop_of(number, batch), scene(number)[0].shape[:2]
            mine.append(measures(crop[2], crop[3], width, height, len(batch["labels"][number])))
    theirs, mine = numpy.array(theirs), numpy.array(mine)
    assert len(theirs) == len(mine) > 500
    deviation = numpy.sqrt((theirs.var(0) + mine.var(0)) / len(mine))
    assert (numpy.abs(theirs.mean(0) - mine.mean(0)) < 4 * deviation).all(), (theirs.mean(0), mine.mean(0), deviation)


def measures(crop_width, crop_height, width, height, boxes):
    is_whole = crop_width == width and crop_height == height
    return is_whole, crop_width / width, crop_height / height, crop_width / crop_height, boxes


def test_maps_and_images_are_cropped_alike_for_any_overlap(served):
    """What is white of the image lies in the first box still, where that is left."""
    crop_op = ours.RandomIoUCrop(sampler_options=[0, 0.5], field="xyxy", labels=["labels"])
    seen = 0
    for batch in epochs_of(served, [crop_op, ours.Resize(OUT, interpolation="nearest")], 3):
        for number in range(1, SAMPLES):
            white = batch["image"][number][:, :, 0] > 127
            if 10 * number not in batch["labels"][number]:
                continue
            left, top, right, bottom = batch["xyxy"][number][0]
            rows, columns = white.any(1).nonzero()[0], white.any(0).nonzero()[0]
            around = [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]
            assert numpy.abs(numpy.array([left, top, right, bottom]) - around).max() <= 1, (number, around)
            seen += 1
    assert seen > SAMPLES


# ---- The pixels under them ----


DRAWN = [
    [ours.RandomResizedCrop(64, scale=(0.3, 1), interpolation="nearest")],
    [ours.RandomCrop(56), ours.RandomHorizontalFlip(), ours.RandomVerticalFlip()],
    [ours.RandomCrop(96, padding=20, pad_if_needed=True), ours.RandomHorizontalFlip()],
    [ours.RandomAffine(0, translate=(0.2, 0.2), scale=(0.7, 1.3)), ours.CenterCrop(64)],
    [ours.RandomPerspective(0.4, p=1, interpolation="nearest"), ours.CenterCrop(112)],
    [
        ours.RandomApply([ours.Resize((80, 50))]),
        ours.RandomChoice([ours.Pad(9), ours.Grayscale(3)]),
        ours.CenterCrop(64),
    ],
]


@pytest.mark.parametrize("ops", DRAWN)
def test_a_box_stays_around_its_pixels(served, ops):
    """What is white of the image is what the first box says, to a pixel."""
    made = epoch_of(served, ops)
    seen = 0
    for number in range(1, SAMPLES):
        white = made["image"][number][:, :, 0] > 127
        left, top, right, bottom = made["xyxy"][number][0]
        if not white.any():
            assert right - left < 1 or bottom - top < 1, number
            continue
        rows, columns = white.any(1).nonzero()[0], white.any(0).nonzero()[0]
        around = [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]
        assert numpy.abs(numpy.array([left, top, right, bottom]) - around).max() <= 1, (number, around)
        seen += 1
    assert seen > SAMPLES / 2


def test_boxes_and_keypoints_do_not_depend_on_what_else_is_sent(served):
    ops = [ours.RandomResizedCrop(64), ours.RandomHorizontalFlip()]
    whole = epoch_of(served, ops)
    options = {"batch_size": SAMPLES, "shuffle": False, "output": "numpy"}
    with Loader(served.address, transforms=ours.Pipeline(ops, fields=["image", "xyxy"]), **options) as loader:
        _, boxes = next(iter(loader))
    assert all((alone == beside).all() for alone, beside in zip(boxes, whole["xyxy"]))
