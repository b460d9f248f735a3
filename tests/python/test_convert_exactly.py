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


# ---- What no op has the meaning of ----


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("AutoAugment", "RandAugment and TrivialAugmentWide"),
        ("AugMix", "RandAugment and TrivialAugmentWide"),
        ("RandomPerspective", "RandomAffine"),
        ("ElasticTransform", "RandomAffine"),
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
    with pytest.raises(ConversionError) as caught:
        convert([lambda image: image, *after])
    assert [refused.place for refused in caught.value.refused] == ["transforms[0]"]
