"""What stoker.convert takes over means the same: pixels and places against the libraries' own.

Each test has the servers apply the first ops alone, and the library the rest to what they made.
"""

from __future__ import annotations

import numpy
import pytest

from stoker import Loader
from stoker import transforms as ours
from stoker.transforms import ConversionError, convert

FIRST = [ours.Resize((40, 48), antialias=True)]


@pytest.fixture(params=["v1", "v2"])
def module(request):
    """torchvision's transforms of either version."""
    torchvision = pytest.importorskip("torchvision")
    from torchvision.transforms import v2

    return torchvision.transforms if request.param == "v1" else v2


@pytest.fixture
def albumentations():
    return pytest.importorskip("albumentations")


def images_of(server, transforms, **options):
    """An unshuffled epoch's images, height × width × channels."""
    with Loader(
        server.address, batch_size=50, shuffle=False, transforms=transforms, output="numpy", **options
    ) as loader:
        return numpy.concatenate([images for images, _ in loader])


@pytest.fixture(scope="module")
def made(server):
    """The images that the ops under test find."""
    return images_of(server, FIRST)


# ---- RandomCrop ----


def crops_of(padded, height, width):
    rows, columns = padded.shape[0] - height + 1, padded.shape[1] - width + 1
    return {
        (top, left): padded[top : top + height, left : left + width] for top in range(rows) for left in range(columns)
    }


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize("padding", [3, [2], (1, 3), (1, 2, 3, 4)])
def test_random_crops_pad_as_torchvision_does(module, server, made, mode, padding):
    from PIL import Image
    from torchvision.transforms.functional import pad

    crop = convert(module.RandomCrop((36, 44), padding=padding, padding_mode=mode, fill=9))
    found = images_of(server, [*FIRST, *crop.transforms])
    places = set()
    for image, before in zip(found[:60], made):
        padded = numpy.asarray(pad(Image.fromarray(before), padding, 9, mode))
        crops = crops_of(padded, 36, 44)
        at = [place for place, one in crops.items() if (one == image).all()]
        assert at, f"no crop of torchvision's padded image is what the servers made, padding={padding}"
        places.update(at)
    tops, lefts = {top for top, _ in places}, {left for _, left in places}
    rows, columns = padded.shape[0] - 36, padded.shape[1] - 44
    assert min(tops) <= 1 and max(tops) >= rows - 1 and min(lefts) <= 1 and max(lefts) >= columns - 1


def test_random_crops_that_pad_what_is_small_by_reflection_are_refused(module):
    with pytest.raises(ConversionError, match="padding_mode 'reflect': set pad_if_needed=False"):
        convert([module.RandomCrop(32, padding=4, pad_if_needed=True, padding_mode="reflect")])
    converted = convert([module.RandomCrop(32, padding_mode="reflect")])  # Which pads nothing.
    assert [op.name for op in converted.transforms] == ["RandomCrop"]


# ---- RandomOrder ----


def test_random_orders_are_drawn_alike(module, server, made):
    """Either op may come first, and that shows."""
    solarize, invert = module.RandomSolarize(100, p=1), module.RandomPosterize(2, p=1)
    found = images_of(server, [*FIRST, *convert([module.RandomOrder([solarize, invert])]).transforms])
    one = images_of(server, [*FIRST, *convert([solarize, invert]).transforms])
    other = images_of(server, [*FIRST, *convert([invert, solarize]).transforms])
    ones = [(image == first).all() for image, first in zip(found, one)]
    others = [(image == second).all() for image, second in zip(found, other)]
    assert all(first or second for first, second in zip(ones, others))
    assert 70 < sum(ones) < 130  # Of 200.


def test_random_orders_of_many_ops_are_refused(module):
    with pytest.raises(ConversionError, match="four ops or fewer"):
        convert([module.RandomOrder([module.RandomInvert()] * 5)])


# ---- CoarseDropout ----


def holes_of(images, before, value):
    """Top, left, height and width of each image's one hole; None where it has none."""
    for image, one in zip(images, before):
        rows, columns = (numpy.flatnonzero((image != one).any(axis=axes)) for axes in ((1, 2), (0, 2)))
        if len(rows) == 0:
            yield None
            continue
        hole = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        assert (hole == value).all()
        yield rows[0], columns[0], *hole.shape[:2]


@pytest.mark.parametrize("ranges", [((8, 8), (12, 12)), ((0.2, 0.2), (0.25, 0.25))], ids=["pixels", "shares"])
def test_coarse_dropout_of_one_size(albumentations, server, made, ranges):
    A = albumentations
    dropout = A.CoarseDropout((1, 1), *ranges, fill=(250, 3, 251), p=0.7)
    found = images_of(server, convert([*FIRST, dropout]))
    theirs = A.Compose([dropout], seed=3)
    expected = numpy.stack([theirs(image=image)["image"] for image in made])
    # Where photographs have the hole's color at its border, a hole looks smaller.
    mine, others = (
        [hole for hole in holes_of(images, made, (250, 3, 251)) if hole and hole[2:] == (8, 12)]
        for images in (found, expected)
    )
    assert 115 < len(mine) < 165 and 115 < len(others) < 165  # 140 of 200.
    for holes in (mine, others):
        tops, lefts = numpy.array([hole[0] for hole in holes]), numpy.array([hole[1] for hole in holes])
        assert tops.min() <= 1 and tops.max() >= 31 and lefts.min() <= 1 and lefts.max() >= 35
        assert abs(tops.mean() - 16) < 2.5 and abs(lefts.mean() - 18) < 2.5


def test_coarse_dropout_of_several_holes(albumentations, server, made):
    A = albumentations
    dropout = A.CoarseDropout((1, 3), (6, 6), (6, 6), fill=255, p=1)
    found = images_of(server, convert([*FIRST, dropout]))
    theirs = A.Compose([dropout], seed=3)
    expected = numpy.stack([theirs(image=image)["image"] for image in made])
    mine, others = (
        numpy.bincount(((images != made).any(axis=3).sum(axis=(1, 2)) // 30).clip(max=3)) for images in (found, expected)
    )
    assert numpy.abs(mine - others).max() < 35  # How many images have about one, two and three holes, of 200.


def test_coarse_dropout_is_refused_where_holes_differ_or_images_do(albumentations):
    A = albumentations

    def reason(*transforms):
        with pytest.raises(ConversionError) as caught:
            convert(list(transforms))
        (refused,) = caught.value.refused
        return refused.reason

    assert "give hole_height_range and hole_width_range one number twice each" in reason(A.CoarseDropout())
    assert "put it after an op that gives all images one size" in reason(A.CoarseDropout((1, 1), (8, 8), (8, 8)))
    small = A.CoarseDropout((1, 1), (64, 64), (8, 8))
    assert "64 × 8 pixels in images of 40 × 48" in reason(*FIRST, small)
    assert "fill='random'" in reason(*FIRST, A.CoarseDropout((1, 1), (8, 8), (8, 8), fill="random"))
    assert "at most 16" in reason(*FIRST, A.CoarseDropout((1, 17), (8, 8), (8, 8)))


def test_erasing_of_one_ratio(albumentations, server, made):
    A = albumentations
    erasing = A.Erasing(scale=(0.1, 0.1), ratio=(2, 2), fill=(250, 3, 251), p=1)
    found = images_of(server, convert([*FIRST, erasing]))
    theirs = A.Compose([erasing], seed=3)
    expected = numpy.stack([theirs(image=image)["image"] for image in made])
    shapes, others = (
        [hole[2:] for hole in holes_of(images, made, (250, 3, 251)) if hole] for images in (found, expected)
    )
    assert max(set(shapes), key=shapes.count) == max(set(others), key=others.count) == (10, 20)
    with pytest.raises(ConversionError, match=r"such as \(1, 1\)"):
        convert([A.Erasing()])


# ---- RandomBrightnessContrast, HueSaturationValue ----


def test_contrast_that_multiplies(albumentations, server, made):
    A = albumentations
    for limit in ((0.3, 0.3), (-0.4, -0.4)):
        op = A.RandomBrightnessContrast(brightness_limit=0, contrast_limit=limit, p=1)
        found = images_of(server, convert([*FIRST, op])).astype(int)
        expected = numpy.stack([op(image=image)["image"] for image in made])
        assert numpy.abs(found - expected).max() <= 1
    drawn = convert([A.RandomBrightnessContrast(brightness_limit=0, contrast_limit=0.2, p=0.5)]).transforms[0]
    assert drawn.document()["RandomApply"]["transforms"] == [{"ColorJitter": {"brightness": [0.8, 1.2]}}]


def test_hues_that_turn(albumentations, server, made):
    """OpenCV has hues in steps of 2°, Pillow in steps of 1.4°, which is up to 6 levels each way."""
    A = albumentations
    for turn in (20, -70):
        op = A.HueSaturationValue((turn, turn), 0, 0, p=1)
        found = images_of(server, convert([*FIRST, op])).astype(int)
        expected = numpy.stack([op(image=image)["image"] for image in made])
        difference = numpy.abs(found - expected)
        assert difference.mean() < 1.5 and numpy.percentile(difference, 99) <= 8
    drawn = convert([A.HueSaturationValue(18, 0, 0, p=1)]).transforms
    assert drawn == [ours.ColorJitter(hue=(-0.1, 0.1))]


def test_what_adds_to_values_is_refused(albumentations):
    A = albumentations
    with pytest.raises(ConversionError) as caught:
        convert(
            [
                A.RandomBrightnessContrast(),
                A.HueSaturationValue(),
                A.HueSaturationValue(120, 0, 0),
                A.RandomBrightnessContrast(0, 0.2, ensure_safe_range=True),
            ]
        )
    reasons = [refused.reason for refused in caught.value.refused]
    assert "brightness_limit adds to all values, ColorJitter's brightness multiplies them" in reasons[0]
    assert "sat_shift_limit and val_shift_limit add" in reasons[1]
    assert "at most half a turn" in reasons[2]
    assert "ensure_safe_range" in reasons[3]


# ---- RandomRotate90, D4, Transpose ----


@pytest.mark.parametrize("side", [32, 33])
@pytest.mark.parametrize("name", ["RandomRotate90", "D4", "Transpose"])
def test_symmetries_of_squares(albumentations, server, name, side):
    A = albumentations
    square = [ours.Resize((side, side))]
    before = images_of(server, square)
    found = images_of(server, convert([*square, getattr(A, name)(p=1)]))
    turned = [lambda image, turns=turns: numpy.rot90(image, turns) for turns in range(4)]
    mirrored = [lambda image, turns=turns: numpy.rot90(image, turns).transpose(1, 0, 2) for turns in range(4)]
    all_of = {"RandomRotate90": turned, "D4": turned + mirrored, "Transpose": mirrored[:1]}[name]
    counts = [0] * len(all_of)
    for image, one in zip(found, before):
        (which,) = (at for at, symmetry in enumerate(all_of) if (symmetry(one) == image).all())
        counts[which] += 1
    assert min(counts) > 0.5 * 200 / len(all_of)
    half = convert([*square, getattr(A, name)(p=0.25)])
    unchanged = [(image == one).all() for image, one in zip(images_of(server, half), before)]
    assert abs(sum(unchanged) - 200 * (1 - 0.25 * (1 if name == "Transpose" else 1 - 1 / len(all_of)))) < 25
    with pytest.raises(ConversionError, match="put it after an op that makes all images equal squares"):
        convert([getattr(A, name)()])
    with pytest.raises(ConversionError, match="40 × 48 pixels: they must be squares"):
        convert([*FIRST, getattr(A, name)()])


# ---- RandomPerspective, ElasticTransform, AutoAugment, JPEG, GaussianNoise ----


def alike(image, expected):
    """How many of the pixels are equal but for one level."""
    return (numpy.abs(image.astype(int) - numpy.asarray(expected)).max(axis=2) <= 1).mean()


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
def test_perspectives_are_among_torchvisions(module, server, made, interpolation):
    """Corners that move by a pixel or not have 256 perspectives: each image is made by one of them."""
    from itertools import product

    from PIL import Image
    from torchvision.transforms.functional import perspective

    mode = module.InterpolationMode(interpolation)
    converted = convert(module.RandomPerspective(0.05, p=1, interpolation=mode, fill=9)).transforms
    found = images_of(server, [*FIRST, *converted])
    start = [[0, 0], [47, 0], [47, 39], [0, 39]]
    seen = set()
    for image, before in zip(found[:12], made):
        theirs = Image.fromarray(before)
        for moved in product((0, 1), repeat=8):
            inward = zip(start, moved[::2], moved[1::2])
            end = [[dx if x == 0 else x - dx, dy if y == 0 else y - dy] for (x, y), dx, dy in inward]
            if alike(image, perspective(theirs, start, end, mode, 9)) > 0.99:
                seen.add(moved)
                break
        else:
            raise AssertionError("no perspective of torchvision's is what the servers made")
    assert len(seen) > 6


def test_elastic_moves_spread_as_torchvisions(module, server, made):
    torch = pytest.importorskip("torch")
    op = module.ElasticTransform(60.0, 3.0)
    found = images_of(server, [*FIRST, *convert(op).transforms]).astype(int)
    torch.manual_seed(1)
    expected = torch.stack([op(torch.from_numpy(image).permute(2, 0, 1)) for image in made]).permute(0, 2, 3, 1).numpy()
    mine, theirs = numpy.abs(found - made).mean(), numpy.abs(expected.astype(int) - made).mean()
    assert 0.9 < mine / theirs < 1.1
    strong = images_of(server, [*FIRST, *convert(module.ElasticTransform(120.0, 3.0)).transforms]).astype(int)
    assert numpy.abs(strong - made).mean() > mine


@pytest.mark.parametrize("policy", ["imagenet", "cifar10", "svhn"])
def test_auto_augment_applies_one_of_torchvisions_pairs(server, made, policy):
    v2 = pytest.importorskip("torchvision.transforms.v2")
    from itertools import product

    from PIL import Image

    theirs = v2.AutoAugment(v2.AutoAugmentPolicy(policy))
    found = images_of(server, [*FIRST, *convert(theirs).transforms])
    space = theirs._AUGMENTATION_SPACE

    def changes(op, probability, bin_of):
        """What may become of an image by an op of a pair."""
        magnitudes, signed = space[op]
        values = magnitudes(10, 40, 48)
        magnitude = float(values[bin_of]) if values is not None else 0.0
        kept = [] if probability == 1 else [None]
        return [*kept, *((op, sign * magnitude) for sign in ((1, -1) if signed else (1,)) if probability > 0)]

    def applied(image, change):
        if change is None:
            return image
        return theirs._apply_image_or_video_transform(image, *change, theirs.interpolation, theirs._fill)

    for image, before in zip(found[:16], made):
        start = Image.fromarray(before)
        outcomes = (
            applied(applied(start, one), other)
            for first, second in theirs._policies
            for one, other in product(changes(*first), changes(*second))
        )
        assert any(alike(image, outcome) > 0.98 for outcome in outcomes)
    assert (found != made).any(axis=(1, 2, 3)).mean() > 0.5


def test_jpegs_are_pillows(server, made):
    v2 = pytest.importorskip("torchvision.transforms.v2")
    import io

    from PIL import Image

    for quality in (5, 60, 98):
        found = images_of(server, [*FIRST, *convert(v2.JPEG(quality)).transforms])
        for image, before in zip(found, made):
            file = io.BytesIO()
            Image.fromarray(before).save(file, "jpeg", quality=quality)
            assert (image == numpy.asarray(Image.open(file))).all(), quality
    assert convert(v2.JPEG((20, 80))).transforms == [ours.JPEG([20, 80])]


def test_noise_has_torchvisions_distribution(server, made):
    v2 = pytest.importorskip("torchvision.transforms.v2")
    torch = pytest.importorskip("torch")
    op = v2.GaussianNoise(mean=0.02, sigma=0.05)
    found = images_of(server, [*FIRST, *convert(op).transforms]).astype(int)
    torch.manual_seed(1)
    expected = op(torch.from_numpy(made).permute(0, 3, 1, 2)).permute(0, 2, 3, 1).numpy().astype(int)
    middle = (made > 70) & (made < 185)  # Where nothing is cut.
    counts, theirs = (
        numpy.bincount((images - made)[middle] + 128, minlength=256) / middle.sum() for images in (found, expected)
    )
    assert middle.sum() > 100_000 and numpy.abs(counts - theirs).max() < 0.003
    with pytest.raises(ConversionError, match="clip=False"):
        convert(v2.GaussianNoise(clip=False))


def test_mixes_spread_as_torchvisions(server, made):
    """By how many levels the images change, of 1000 each."""
    v2 = pytest.importorskip("torchvision.transforms.v2")
    torch = pytest.importorskip("torch")
    for options in ({}, {"severity": 8, "mixture_width": 1, "chain_depth": 2, "all_ops": False}):
        op = v2.AugMix(**options)
        found = numpy.concatenate(
            [images_of(server, [*FIRST, *convert(op).transforms], seed=seed) for seed in range(5)]
        ).astype(int)
        torch.manual_seed(1)
        before = numpy.concatenate([made] * 5)
        tensors = torch.from_numpy(before).permute(0, 3, 1, 2)
        expected = torch.stack([op(image) for image in tensors]).permute(0, 2, 3, 1).numpy().astype(int)
        mine, theirs = (numpy.abs(images - before).mean(axis=(1, 2, 3)) for images in (found, expected))
        assert 0.88 < mine.mean() / theirs.mean() < 1.14, options
        assert 0.8 < numpy.median(mine) / numpy.median(theirs) < 1.25, options


# ---- What no op has the meaning of ----


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("RandomPhotometricDistort", "ColorJitter"),
    ],
)
def test_each_is_refused_once_by_its_place_and_with_what_is_near(module, name, told):
    if not hasattr(module, name):
        pytest.skip("torchvision's first version lacks it")
    import torch

    after = [module.ConvertImageDtype(torch.float32), module.Normalize([0.5], [0.5]), module.RandomErasing(value=0.5)]
    with pytest.raises(ConversionError) as caught:
        convert(module.Compose([module.RandomResizedCrop(32), getattr(module, name)(), *after]))
    (refused,) = caught.value.refused
    assert refused.place == "transforms[1]" and refused.op.startswith(name) and told in refused.reason


def test_what_follows_from_foreign_code_is_not_told(module):
    """It may have made floats, or one size."""
    after = [module.Pad(1, fill=0.5), module.Normalize([0.5], [0.5]), module.RandomErasing(value=0.5)]
    after.append(module.RandomApply([module.Pad(1, fill=0.5), module.RandomErasing(value=0.5)]))
    with pytest.raises(ConversionError) as caught:
        convert([lambda image: image, *after])
    assert [refused.place for refused in caught.value.refused] == ["transforms[0]"]
