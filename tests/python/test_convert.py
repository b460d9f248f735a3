"""stoker.transforms.convert: of torchvision's composes and Albumentations', and what is refused."""

from __future__ import annotations

import numpy
import pytest

from stoker import Loader
from stoker import transforms as ours
from stoker.transforms import ConversionError, convert

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@pytest.fixture
def torchvision():
    return pytest.importorskip("torchvision")


@pytest.fixture
def albumentations():
    return pytest.importorskip("albumentations")


@pytest.fixture(params=["v1", "v2"])
def module(request, torchvision):
    """torchvision's transforms of either version."""
    from torchvision.transforms import v2

    return torchvision.transforms if request.param == "v1" else v2


def reasons(compose):
    with pytest.raises(ConversionError) as caught:
        convert(compose)
    for refused in caught.value.refused:  # One error names them all.
        assert refused.place in str(caught.value) and refused.reason in str(caught.value)
    return {refused.place: (refused.op.partition("(")[0], refused.reason) for refused in caught.value.refused}


# ---- torchvision ----


@pytest.mark.filterwarnings("ignore:The transform `ToTensor")
def test_the_usual_training_pipeline(module):
    compose = module.Compose(
        [
            module.RandomResizedCrop(224),
            module.RandomHorizontalFlip(),
            module.ToTensor(),
            module.Normalize(MEAN, STD),
        ]
    )
    assert convert(compose).document() == {
        "ops": [
            {
                "RandomResizedCrop": {
                    "size": [224, 224],
                    "scale": [0.08, 1.0],
                    "ratio": [3 / 4, 4 / 3],
                    "interpolation": "bilinear",
                    "antialias": True,
                }
            },
            {"RandomHorizontalFlip": {"p": 0.5}},
            {"ToDtype": {"dtype": "float32", "scale": True}},
            {"Normalize": {"mean": list(MEAN), "std": list(STD)}},
            {"ToMemoryFormat": {"memory_format": "channels_first"}},
        ]
    }


def test_the_transforms_of_pretrained_weights(torchvision, server, photos):
    from PIL import Image
    from torchvision.models import ResNet50_Weights

    transform = ResNet50_Weights.DEFAULT.transforms()
    assert [op.name for op in convert(transform).transforms] == [
        "Resize", "CenterCrop", "ToDtype", "Normalize", "ToMemoryFormat",
    ]  # fmt: skip
    options = {"shuffle": False, "names": True, "transforms": transform, "output": "numpy", "jpeg_scaling": "exact"}
    with Loader(server.address, batch_size=8, **options) as loader:
        images, _ = next(iter(loader))
        names = loader.info.names
    for image, name in zip(images, names):
        with Image.open(photos / name) as photo:
            expected = transform(photo.convert("RGB")).numpy()
        assert numpy.abs(image - expected).max() < 2.1 / 255 / min(STD)  # Two levels.


def test_timms_transforms():
    data = pytest.importorskip("timm.data")
    training = data.create_transform(224, is_training=True, re_prob=0.25, re_mode="const", interpolation="bicubic")
    ops = {name: arguments for op in convert(training).document()["ops"] for name, arguments in op.items()}
    assert ops.pop("RandomErasing") == {
        "p": 0.25, "scale": pytest.approx([0.02, 1 / 3]), "ratio": pytest.approx([0.3, 1 / 0.3]), "value": 0,
    }  # fmt: skip
    assert ops.pop("Normalize") == {"mean": pytest.approx(MEAN), "std": pytest.approx(STD)}
    assert ops == {
        "RandomResizedCrop": {
            "size": [224, 224], "scale": [0.08, 1.0], "ratio": [3 / 4, 4 / 3], "interpolation": "bicubic",
        },
        "RandomHorizontalFlip": {"p": 0.5},
        "ColorJitter": {"brightness": [0.6, 1.4], "contrast": [0.6, 1.4], "saturation": [0.6, 1.4]},
        "ToDtype": {"dtype": "float32", "scale": True},
        "placement": "device",
        "ToMemoryFormat": {"memory_format": "channels_first"},
    }  # fmt: skip
    pixels = convert(data.create_transform(224, is_training=True, re_prob=0.25, re_mode="pixel"))
    assert [op.document() for op in pixels.transforms if op.name == "RandomErasing"][0]["RandomErasing"]["noise"]
    evaluation = convert(data.create_transform(224, is_training=False))
    assert [op.name for op in evaluation.transforms] == [
        "Resize", "CenterCrop", "ToDtype", "Normalize", "ToMemoryFormat",
    ]  # fmt: skip
    noisy = {"auto_augment": "rand-m9", "re_prob": 1, "re_mode": "rand", "interpolation": "random"}
    refused = reasons(data.create_transform(224, is_training=True, **noisy))
    assert [name for name, _ in refused.values()] == ["RandomResizedCropAndInterpolation", "RandAugment", "RandomErasing"]


def test_timms_mixup():
    data = pytest.importorskip("timm.data")
    mixup = data.Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, switch_prob=0.3, label_smoothing=0.1, num_classes=9)
    mixes = [ours.MixUp(alpha=0.8, num_classes=9), ours.CutMix(alpha=1.0, num_classes=9)]
    assert convert([mixup]).transforms == [ours.RandomChoice(mixes, [0.7, 0.3]), ours.LabelSmoothing(0.1)]
    each = data.Mixup(mixup_alpha=0.2, mode="elem", label_smoothing=0, num_classes=9)
    assert convert([each]).transforms == [ours.MixUp(alpha=0.2, num_classes=9, per_sample=True)]
    assert "pairs" in reasons([data.Mixup(mode="pair")])["transforms[0]"][1]
    assert "give 1" in reasons([data.Mixup(prob=0.5)])["transforms[0]"][1]


def test_gray_images_become_rgb_without_an_op(torchvision):
    from torchvision.transforms import v2

    to_rgb = torchvision.transforms.Lambda(lambda image: image.convert("RGB"))
    assert convert(v2.Compose([v2.RGB(), to_rgb])).transforms == []
    assert list(reasons(torchvision.transforms.Lambda(lambda image: image.convert("L")))) == ["transforms[0]"]


def test_one_refusal_is_not_followed_by_others(module):
    compose = module.Compose([module.CenterCrop(32), object(), module.Normalize(MEAN, STD)])
    assert list(reasons(compose)) == ["transforms[1]"]


def test_version_2s_way_to_floats(torchvision):
    import torch
    from torchvision.transforms import v2

    compose = v2.Compose(
        [v2.ToImage(), v2.CenterCrop(32), v2.ToDtype(torch.float16, scale=True), v2.Normalize([0.5], [0.25])]
    )
    assert convert(compose) == ours.Compose(
        [
            ours.CenterCrop((32, 32)),
            ours.ToDtype("float16", scale=True),
            ours.Normalize([0.5], [0.25]),
            ours.ToMemoryFormat("channels_first"),
        ]
    )


def test_bytes_as_an_image_tensor_have_channels_first(module):
    assert convert(module.Compose([module.PILToTensor()])) == ours.Compose([ours.ToMemoryFormat("channels_first")])


def every_op(module):
    return [
        module.Resize(64, max_size=200),
        module.Pad(2, fill=3),
        module.RandomCrop(60, padding=4, pad_if_needed=True, fill=(1, 2, 3)),
        module.ColorJitter(0.1, 0.2, 0.3, 0.1),
        module.RandomRotation(10, fill=7),
        module.RandomAffine(10, translate=(0.1, 0.1), scale=(0.5, 1), shear=5),
        module.GaussianBlur(3),
        module.RandomGrayscale(),
        module.Grayscale(3),
        module.RandomPosterize(3),
        module.RandomSolarize(128),
        module.RandomEqualize(),
        module.RandomAutocontrast(),
        module.RandomInvert(),
        module.RandomAdjustSharpness(2),
        module.RandAugment(),
        module.TrivialAugmentWide(),
        module.AutoAugment(),
        module.AugMix(),
        module.RandomPerspective(0.3),
        module.ElasticTransform(20.0, 2.0),
        module.RandomVerticalFlip(0.2),
        module.RandomApply([module.RandomInvert(), module.Compose([module.RandomEqualize()])], p=0.3),
        module.RandomChoice([module.RandomInvert(), module.Compose([module.RandomEqualize(), module.GaussianBlur(3)])]),
        module.CenterCrop(40),
        module.RandomErasing(value=9),
    ]


def test_every_op_that_converts_is_one_that_servers_take(module, server):
    converted = convert(module.Compose(every_op(module)))
    assert len(converted.transforms) == len(every_op(module))
    with Loader(server.address, batch_size=8, transforms=converted, output="numpy") as loader:
        images, _ = next(iter(loader))
        assert images.shape == (8, 40, 40, 3)
        known = {name for op in loader.description["pipeline"]["ops"] for name in op}
        assert {op.name for op in converted.transforms} <= known


def test_ops_that_zoom_say_what_torchvisions_do(torchvision):
    import torch
    from torchvision.transforms import v2

    compose = v2.Compose(
        [
            v2.RandomZoomOut(fill=(1, 2, 3), side_range=(1.5, 2), p=0.25),
            v2.ScaleJitter((640, 480), (0.5, 1.5), v2.InterpolationMode.BICUBIC, antialias=False),
            v2.RandomShortestSize([480, 512], max_size=800),
            v2.RandomShortestSize(300),
        ]
    )
    assert convert(compose).document()["ops"] == [
        {"RandomZoomOut": {"fill": [1, 2, 3], "side_range": [1.5, 2], "p": 0.25}},
        {
            "ScaleJitter": {
                "target_size": [640, 480],
                "scale_range": [0.5, 1.5],
                "interpolation": "bicubic",
                "antialias": False,
            }
        },
        {
            "RandomShortestSize": {
                "min_size": [480, 512],
                "max_size": 800,
                "interpolation": "bilinear",
                "antialias": True,
            }
        },
        {"RandomShortestSize": {"min_size": [300], "interpolation": "bilinear", "antialias": True}},
    ]
    box = v2.ScaleJitter((32, 32), interpolation=v2.InterpolationMode.BOX)
    assert "'box'" in reasons(v2.Compose([box]))["transforms[0]"][1]
    painted = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.RandomZoomOut(fill=0.5)])
    assert list(reasons(painted)) == ["transforms[2]"]


def test_ops_that_zoom_are_ones_that_servers_take_before_a_crop(torchvision, server):
    from torchvision.transforms import v2

    zooms = [v2.RandomZoomOut(fill=9), v2.ScaleJitter((48, 64)), v2.RandomShortestSize([30, 40], 80)]
    compose = v2.Compose([*zooms, v2.CenterCrop(24)])
    with Loader(server.address, batch_size=8, transforms=compose, output="numpy") as loader:
        assert next(iter(loader))[0].shape == (8, 24, 24, 3)
    with pytest.raises(Exception, match="differ in size from sample to sample, also after RandomShortestSize"):
        Loader(server.address, batch_size=8, transforms=v2.Compose(zooms), output="numpy")


@pytest.mark.filterwarnings("ignore:The transform `ToTensor")
def test_pixels_are_torchvisions(module, server, photos):
    """The pipeline of validation, image by image: within one level, which is what decoders differ by."""
    import PIL.Image
    import torch

    compose = module.Compose([module.Resize(64), module.CenterCrop(56), module.ToTensor(), module.Normalize(MEAN, STD)])
    pipeline = ours.Pipeline(convert(compose), jpeg_scaling="exact")
    with Loader(
        server.address, batch_size=16, shuffle=False, transforms=pipeline, names=True, output="torch"
    ) as loader:
        images, _ = next(iter(loader))
        for image, name in zip(images, loader.info.names):
            expected = compose(PIL.Image.open(photos / name).convert("RGB"))
            levels = (image - expected).abs() * torch.tensor(STD).reshape(3, 1, 1) * 255
            assert levels.max() < 1.5 and levels.mean() < 0.3


@pytest.mark.filterwarnings("ignore:The transform `ToTensor")
def test_ops_on_floats_that_say_the_same_of_bytes_move_before(module):
    compose = module.Compose([module.ToTensor(), module.ColorJitter(0.1), module.RandomHorizontalFlip()])
    assert [op.name for op in convert(compose).transforms] == [
        "ColorJitter",
        "RandomHorizontalFlip",
        "ToDtype",
        "ToMemoryFormat",
    ]


@pytest.mark.filterwarnings("ignore:The transform `ToTensor")
def test_erasing_after_normalize_stays_there(module):
    compose = module.Compose([module.ToTensor(), module.Normalize(MEAN, STD), module.RandomErasing()])
    names = [op.name for op in convert(compose).transforms]
    assert names == ["ToDtype", "Normalize", "RandomErasing", "ToMemoryFormat"]
    assert convert(compose).transforms[2].document()["placement"] == "device"


@pytest.mark.filterwarnings("ignore:The transform `ToTensor")
def test_erasing_with_random_values_is_erasing_with_noise(module):
    erase = module.RandomErasing(0.3, value="random")
    converted = convert(module.Compose([module.ToTensor(), module.Normalize(MEAN, STD), erase])).transforms[2]
    assert converted == ours.RandomErasing(0.3, (0.02, 0.33), (0.3, 3.3), noise=True, placement="device")
    refused = reasons(module.Compose([erase, module.ToTensor()]))
    assert refused["transforms[0]"][0] == "RandomErasing" and "float" in refused["transforms[0]"][1]


@pytest.mark.filterwarnings("ignore:The transform `ToTensor")
def test_erased_noise_is_standard_normal(module, server):
    import torch

    erase = module.RandomErasing(1, scale=(0.3, 0.5), value="random")
    compose = module.Compose([module.Resize((32, 32)), module.ToTensor(), erase])
    with Loader(server.address, batch_size=8, transforms=compose, output="torch", shuffle=False) as loader:
        noise = torch.cat([images[(images < 0) | (images > 1)] for images, _ in loader])
    assert len(noise) > 1000
    assert abs((noise < 0).float().mean() - 0.5 / (0.5 + 0.1587)) < 0.05  # Of what lies beyond 0 and 1.


def test_batch_ops_come_last(torchvision):
    from torchvision.transforms import v2

    choice = v2.RandomChoice([v2.MixUp(num_classes=4), v2.CutMix(num_classes=4, alpha=0.5)])
    compose = v2.Compose([v2.RandomHorizontalFlip(), v2.ToTensor(), choice])
    mixes = [ours.MixUp(alpha=1.0, num_classes=4), ours.CutMix(alpha=0.5, num_classes=4)]
    assert convert(compose).transforms[2] == ours.RandomChoice(mixes, [0.5, 0.5])


def test_labels_that_are_floats_already_are_mixed_without_classes(torchvision):
    from torchvision.transforms import v2

    assert convert([v2.CutMix(alpha=0.5)]).transforms == [ours.CutMix(alpha=0.5)]
    soft = [ours.OneHot(4), ours.LabelSmoothing(0.1), v2.MixUp(), ours.ToDtype("float16", field="features")]
    assert [op.name for op in convert(soft).transforms] == ["ToDtype", "OneHot", "LabelSmoothing", "MixUp"]


def test_training_with_mixes_runs(torchvision, server):
    import torch
    from torchvision.transforms import v2

    compose = v2.Compose(
        [
            v2.RandomResizedCrop(32),
            v2.ToImage(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(MEAN, STD),
            v2.RandomErasing(),
            v2.RandomChoice([v2.MixUp(num_classes=4), v2.CutMix(num_classes=4)]),
        ]
    )
    with Loader(server.address, batch_size=8, transforms=compose, output="torch") as loader:
        for images, labels in loader:
            assert images.shape == (8, 3, 32, 32) and images.min() < 0
            torch.testing.assert_close(labels.sum(1), torch.ones(8))


def test_one_error_names_every_op_that_is_refused(module):
    class Mine:
        def __repr__(self):
            return "Mine()"

    compose = module.Compose(
        [
            module.TenCrop(8),
            module.RandomHorizontalFlip(),
            module.Grayscale(),
            module.Lambda(lambda image: image),
            Mine(),
            module.Compose([module.RandomRotation(5, expand=True)]),
            module.RandomErasing(value="random"),
            module.Resize(32, interpolation=module.InterpolationMode.BOX),
            module.RandomApply([module.FiveCrop(8)]),
            module.Normalize(MEAN, STD),
        ]
    )
    refused = reasons(compose)
    assert [(place, name) for place, (name, _) in refused.items()] == [
        ("transforms[0]", "TenCrop"),
        ("transforms[2]", "Grayscale"),
        ("transforms[3]", "Lambda"),
        ("transforms[4]", "Mine"),
        ("transforms[5].transforms[0]", "RandomRotation"),
        ("transforms[6]", "RandomErasing"),
        ("transforms[7]", "Resize"),
        ("transforms[8].transforms[0]", "FiveCrop"),
    ]  # Not Normalize: who knows whether Mine makes floats.
    assert "views" in refused["transforms[0]"][1]
    assert "three channels" in refused["transforms[2]"][1]
    assert "apply it to what the loader hands out" in refused["transforms[4]"][1]
    assert "several sizes" in refused["transforms[5].transforms[0]"][1]
    assert "'box'" in refused["transforms[7]"][1]
    assert "ToTensor" in reasons(module.Compose([module.Normalize(MEAN, STD)]))["transforms[0]"][1]


@pytest.mark.filterwarnings("ignore:The transform `ToTensor")
def test_ops_that_mean_something_else_on_floats_are_refused(module):
    refused = reasons(
        module.Compose(
            [
                module.ToTensor(),
                module.RandomSolarize(0.5),
                module.Pad(2, fill=0.5),
                module.Normalize(MEAN, STD),
                module.ColorJitter(0.1),
                module.RandomHorizontalFlip(),
            ]
        )
    )
    assert {place: name for place, (name, _) in refused.items()} == {
        "transforms[1]": "RandomSolarize",
        "transforms[2]": "Pad",
        "transforms[4]": "ColorJitter",
    }


def test_loaders_take_composes_as_they_are(module, server):
    compose = module.Compose([module.RandomResizedCrop(24), module.RandomHorizontalFlip()])
    with Loader(server.address, batch_size=4, transforms=compose, output="numpy") as loader:
        assert next(iter(loader))[0].shape == (4, 24, 24, 3)
    with Loader(server.address, batch_size=4, transforms=list(compose.transforms), output="numpy") as loader:
        assert next(iter(loader))[0].shape == (4, 24, 24, 3)


def test_lists_of_both_kinds(module):
    assert convert([module.RandomHorizontalFlip(), ours.RandomMask(0.1)]) == ours.Compose(
        [ours.RandomHorizontalFlip(0.5), ours.RandomMask(0.1)]
    )


def test_boxes_are_sanitized_by_the_servers_also_after_a_conversion_to_floats(torchvision):
    import torch
    from torchvision.transforms import v2

    sanitize = v2.SanitizeBoundingBoxes(min_size=2, min_area=9)
    compose = v2.Compose([v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True), sanitize])
    converted = convert(compose).document()["ops"]
    assert converted[:2] == [
        {"RandomHorizontalFlip": {"p": 0.5}},
        {"SanitizeBoundingBoxes": {"min_size": 2, "min_area": 9, "labels": ["labels"]}},
    ]
    assert "ToDtype" in converted[2]
    alone = v2.SanitizeBoundingBoxes(labels_getter=None)
    assert convert(alone).document()["ops"] == [{"SanitizeBoundingBoxes": {"min_size": 1.0, "min_area": 1.0}}]
    mixed = convert([v2.ToDtype(torch.float32, scale=True), ours.SanitizeBoundingBoxes()])
    assert [op.name for op in mixed.transforms] == ["SanitizeBoundingBoxes", "ToDtype"]
    refused = reasons(v2.Compose([v2.SanitizeBoundingBoxes(labels_getter=lambda sample: sample[1]["ids"])]))
    assert "name in `labels`" in refused["transforms[0]"][1]
    refused = reasons(v2.Compose([v2.RandomApply([sanitize])]))
    assert "some samples only" in refused["transforms[0].transforms[0]"][1]


def test_ssds_crops_are_taken_over_with_their_labels(torchvision):
    from torchvision.transforms import v2

    compose = v2.Compose([v2.RandomZoomOut(), v2.RandomIoUCrop(trials=20), v2.Resize((30, 30)), v2.SanitizeBoundingBoxes()])
    converted = convert(compose).document()["ops"]
    assert [next(iter(op)) for op in converted] == ["RandomZoomOut", "RandomIoUCrop", "Resize", "SanitizeBoundingBoxes"]
    assert converted[1]["RandomIoUCrop"] == {
        "min_scale": 0.3, "max_scale": 1.0, "min_aspect_ratio": 0.5, "max_aspect_ratio": 2.0,
        "sampler_options": [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0], "trials": 20, "labels": ["labels"],
    }  # fmt: skip


# ---- Albumentations ----


def test_albumentations_usual_training_pipeline(albumentations):
    A = albumentations
    from albumentations.pytorch import ToTensorV2

    converted = convert(A.Compose([A.RandomResizedCrop((224, 224)), A.HorizontalFlip(), A.Normalize(), ToTensorV2()]))
    assert [op.name for op in converted.transforms] == [
        "RandomResizedCrop",
        "RandomHorizontalFlip",
        "ToDtype",
        "Normalize",
        "ToMemoryFormat",
    ]
    assert converted.transforms[0].document()["RandomResizedCrop"]["antialias"] is False
    assert converted.transforms[3] == ours.Normalize(list(MEAN), list(STD))
    assert converted.transforms[4] == ours.ToMemoryFormat("channels_first")


def test_albumentations_floats_without_to_tensor_stay_channels_last(albumentations):
    A = albumentations
    assert convert(A.Compose([A.Normalize()])).transforms[-1] == ours.ToMemoryFormat("channels_last")


def test_albumentations_probability_of_ops_that_have_none(albumentations):
    A = albumentations
    converted = convert(A.Compose([A.Rotate(10, p=0.25), A.ColorJitter(p=0), A.GaussianBlur((3, 3), p=1)]))
    assert [op.name for op in converted.transforms] == ["RandomApply", "GaussianBlur"]
    assert converted.transforms[0].document()["RandomApply"]["p"] == 0.25


def test_albumentations_one_of_weighs_by_probability(albumentations):
    A = albumentations
    converted = convert(A.Compose([A.OneOf([A.HorizontalFlip(p=0.2), A.InvertImg(p=0.6)], p=1)]))
    expected = ours.RandomChoice([ours.RandomHorizontalFlip(1.0), ours.RandomInvert(1.0)], [0.2, 0.6])
    (choice,) = (op.document()["RandomChoice"] for op in converted.transforms)
    assert choice["transforms"] == expected.document()["RandomChoice"]["transforms"]
    assert choice["p"][0] / choice["p"][1] == pytest.approx(1 / 3)


def test_every_albumentations_op_that_converts_is_one_that_servers_take(albumentations, server):
    A = albumentations
    ops = [
        A.SmallestMaxSize(64),
        A.Pad(3, fill=5),
        A.RandomCrop(60, 60),
        A.VerticalFlip(),
        A.ColorJitter(),
        A.ToGray(),
        A.GaussianBlur(),
        A.Rotate(20),
        A.Affine(rotate=(-10, 10), translate_percent=(-0.1, 0.1), scale=(0.9, 1.1), keep_ratio=True),
        A.Posterize(3),
        A.Solarize(),
        A.Equalize(mode="pil"),
        A.AutoContrast(method="pil"),
        A.InvertImg(),
        A.Erasing(ratio=(1, 1)),
        A.CoarseDropout((1, 2), (8, 8), (8, 8)),
        A.RandomBrightnessContrast(0, 0.2),
        A.HueSaturationValue(20, 0, 0),
        A.OneOf([A.InvertImg(), A.Sequential([A.HorizontalFlip(), A.VerticalFlip()])]),
        A.NoOp(),
        A.CenterCrop(48, 48),
        A.Resize(32, 40),
    ]
    converted = convert(A.Compose(ops))
    assert len(converted.transforms) == len(ops) - 1  # NoOp is none.
    with Loader(server.address, batch_size=8, transforms=converted, output="numpy") as loader:
        assert next(iter(loader))[0].shape == (8, 32, 40, 3)


def test_pixels_are_albumentations(albumentations, server, photos):
    """Resize, crop and normalize, image by image: OpenCV rounds otherwise, by a level or two."""
    A = albumentations
    import PIL.Image

    compose = A.Compose([A.SmallestMaxSize(64), A.CenterCrop(56, 56), A.Normalize()])
    pipeline = ours.Pipeline(convert(compose), jpeg_scaling="exact")
    with Loader(
        server.address, batch_size=16, shuffle=False, transforms=pipeline, names=True, output="numpy"
    ) as loader:
        images, _ = next(iter(loader))
        assert images.shape == (16, 56, 56, 3)
        for image, name in zip(images, loader.info.names):
            expected = compose(image=numpy.asarray(PIL.Image.open(photos / name).convert("RGB")))["image"]
            levels = numpy.abs(image - expected) * numpy.array(STD) * 255
            assert levels.mean() < 0.5 and numpy.percentile(levels, 99) < 2.5


def test_albumentations_refusals(albumentations):
    A = albumentations
    refused = reasons(
        A.Compose(
            [
                A.RandomResizedCrop((8, 8), interpolation=3),
                A.CoarseDropout(),
                A.Resize(8, 8, p=0.5),
                A.Equalize(),
                A.OneOf([A.CLAHE(), A.HorizontalFlip()]),
                A.RandomBrightnessContrast(),
                A.Normalize(normalization="image"),
            ]
        )
    )
    assert {place: name for place, (name, _) in refused.items()} == {
        "transforms[0]": "RandomResizedCrop",
        "transforms[1]": "CoarseDropout",
        "transforms[2]": "Resize",
        "transforms[3]": "Equalize",
        "transforms[4].transforms[0]": "CLAHE",
        "transforms[5]": "RandomBrightnessContrast",
        "transforms[6]": "Normalize",
    }
    assert "area" in refused["transforms[0]"][1] and "mode='pil'" in refused["transforms[3]"][1]


def test_fills_by_type_are_those_of_images_and_of_label_maps(torchvision):
    from torchvision import tv_tensors
    from torchvision.transforms import v2

    def fills(op):
        (arguments,) = convert([op]).document()["ops"][0].values()
        return arguments.get("fill"), arguments.get("map_fill")

    assert fills(v2.RandomRotation(9, fill={tv_tensors.Image: 7, tv_tensors.Mask: 255})) == (7, 255)
    assert fills(v2.Pad(3, fill={tv_tensors.Image: [1, 2, 3], "others": 9})) == ([1, 2, 3], 9)
    assert fills(v2.RandomCrop(8, padding=3, fill={"Image": 7}))[1] is None
    assert fills(v2.RandomZoomOut(fill={tv_tensors.Image: (1, 2, 3), tv_tensors.Mask: 255})) == ([1, 2, 3], 255)
    assert fills(v2.RandomZoomOut({"Image": 7}))[1] is None
    assert fills(v2.RandAugment(fill=5))[1] == fills(v2.RandomAffine(3, fill=5))[1] == 5
    assert fills(v2.RandomAffine(3, fill=(1, 2, 3)))[1] is None
    assert fills(torchvision.transforms.RandomRotation(9, fill=7))[1] is None, "of v1, which has images alone"
    with pytest.raises(ConversionError, match="and not for Image"):
        convert([v2.RandomRotation(9, fill={tv_tensors.Mask: 255})])
