"""Pipelines by torchvision's names, as documents; no server."""

from __future__ import annotations

import pytest

from stoker import InvalidArgumentError
from stoker.transforms import (
    Compose,
    CutMix,
    MixUp,
    Normalize,
    Pipeline,
    RandomApply,
    RandomChoice,
    RandomErasing,
    RandomHorizontalFlip,
    RandomInvert,
    RandomResizedCrop,
    ToDtype,
    ToMemoryFormat,
    Views,
    options_of,
)


def names_of(pipeline):
    return [next(key for key in op if key != "placement") for op in pipeline["ops"]]


def test_an_op_is_its_name_and_the_arguments_that_were_given():
    assert RandomResizedCrop(224).document() == {"RandomResizedCrop": {"size": 224}}
    crop = RandomResizedCrop((224, 192), scale=(0.5, 1), antialias=False, placement="device")
    assert crop.document() == {
        "RandomResizedCrop": {"size": [224, 192], "scale": [0.5, 1], "antialias": False},
        "placement": "device",
    }
    assert repr(RandomHorizontalFlip(p=0.3)) == "RandomHorizontalFlip(p=0.3)"


def test_ops_of_ops():
    op = RandomChoice([RandomApply([RandomInvert()], p=0.2), RandomHorizontalFlip()], p=[1, 2])
    assert op.document() == {
        "RandomChoice": {
            "transforms": [
                {"RandomApply": {"transforms": [{"RandomInvert": {}}], "p": 0.2}},
                {"RandomHorizontalFlip": {}},
            ],
            "p": [1, 2],
        }
    }


def test_other_things_than_ops_are_refused():
    with pytest.raises(TypeError, match="convert"):
        Compose([lambda image: image])


def test_pipelines_say_all_that_yaml_can():
    pipeline = Pipeline([RandomHorizontalFlip()], bad_samples="substitute", jpeg_scaling="exact", fields=["image"])
    assert pipeline.document() == {
        "ops": [{"RandomHorizontalFlip": {}}],
        "bad_samples": "substitute",
        "jpeg_scaling": "exact",
        "fields": ["image"],
    }
    views = Pipeline(views=[Views("global", 2, [RandomResizedCrop(224)])])
    assert views.document() == {
        "views": [{"name": "global", "count": 2, "ops": [{"RandomResizedCrop": {"size": 224}}]}]
    }


@pytest.mark.parametrize("dtype", ["float16", "numpy", "torch"])
def test_dtypes_of_other_libraries(dtype):
    if dtype == "float16":
        wanted = dtype
    else:
        wanted = pytest.importorskip(dtype).float16
    assert ToDtype(wanted).document() == {"ToDtype": {"dtype": "float16"}}
    if dtype == "numpy":
        import numpy

        assert ToDtype(numpy.dtype("float16")) == ToDtype("float16")


def test_nothing_is_the_servers_default():
    assert options_of(None) == {}


def test_names_files_and_documents_are_taken_as_they_are(tmp_path):
    assert options_of("train") == {"pipeline_name": "train"}
    file = tmp_path / "pipeline.yaml"
    file.write_text("ops:\n  - RandomHorizontalFlip:\n")
    assert options_of(file) == {"pipeline": "ops:\n  - RandomHorizontalFlip:\n"}
    document = {"ops": [{"ToDtype": {"dtype": "float32"}}]}
    assert options_of(document) == {"pipeline": document}
    with pytest.raises(InvalidArgumentError, match="^dtype: "):
        options_of("train", "float32")


def test_dtype_adds_a_cast_and_channels_first():
    ops = options_of([RandomResizedCrop(224)], "float32")["pipeline"]["ops"]
    assert ops[1:] == [
        {"ToDtype": {"dtype": "float32", "scale": True}},
        {"ToMemoryFormat": {"memory_format": "channels_first"}},
    ]
    assert names_of(options_of(None, "bfloat16")["pipeline"]) == [
        "RandomResizedCrop",
        "RandomHorizontalFlip",
        "ToDtype",
        "ToMemoryFormat",
    ]


@pytest.mark.parametrize(
    "last", [Normalize(0.5, 0.5), MixUp(num_classes=4), RandomChoice([MixUp(num_classes=4), CutMix(num_classes=4)])]
)
def test_dtype_casts_before_what_wants_floats(last):
    pipeline = options_of([RandomHorizontalFlip(), last], "float16")["pipeline"]
    assert names_of(pipeline) == ["RandomHorizontalFlip", "ToDtype", last.name, "ToMemoryFormat"]


def test_dtype_takes_the_place_of_the_pipelines():
    ops = [ToDtype("float32", scale=True), Normalize(0.5, 0.5)]
    pipeline = options_of(ops, "float16")["pipeline"]
    assert names_of(pipeline) == ["ToDtype", "Normalize", "ToMemoryFormat"]
    assert pipeline["ops"][0] == {"ToDtype": {"dtype": "float16", "scale": True}}
    assert ops[0] == ToDtype("float32", scale=True)  # The user's own stays.


def test_bytes_stay_as_they_travel():
    assert names_of(options_of([RandomHorizontalFlip()])["pipeline"]) == ["RandomHorizontalFlip"]
    assert names_of(options_of([RandomHorizontalFlip()], "uint8")["pipeline"]) == ["RandomHorizontalFlip"]


def test_the_pipelines_own_memory_format_holds():
    ops = [ToDtype("float32"), ToMemoryFormat("channels_last"), RandomErasing(placement="device")]
    assert names_of(options_of(ops)["pipeline"]) == ["ToDtype", "ToMemoryFormat", "RandomErasing"]
