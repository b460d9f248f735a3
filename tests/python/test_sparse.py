"""Sparse fields, as the training loop gets them."""

from __future__ import annotations

import io
import json
import tarfile

import numpy
import pytest

import stoker
from stoker import Loader, Sparse
from stoker import transforms as ours

SAMPLES, SHAPE = 30, (20, 50)


def array_of(number):
    draw = numpy.random.default_rng(number)
    places = numpy.sort(draw.choice(SHAPE[0] * SHAPE[1], int(draw.integers(0, 12)), replace=False))
    return places, draw.normal(0, 1, len(places)).astype(numpy.float32)


FIELDS = {
    "words": {"json": "$.ids", "values": "$.weights", "kind": "sparse", "dense_shape": list(SHAPE), "max_bytes": "64"},
    "tags": {"json": "$.ids", "kind": "sparse", "dense_shape": [1000], "max_bytes": "64", "typical_bytes": "24"},
    "arrays": {"from": "ids.npy", "values": "w.npy", "kind": "sparse", "dense_shape": [1000], "max_bytes": "64"},
}


def write(folder, documents):
    with tarfile.open(folder / "arrays.tar", "w") as shard:
        for number, (ids, weights) in enumerate(documents):
            document = {"ids": [int(place) for place in ids], "weights": [float(weight) for weight in weights]}
            members = {"json": json.dumps(document).encode()}
            for name, value in {"ids.npy": numpy.array(ids, numpy.int32), "w.npy": numpy.array(weights, numpy.float32)}.items():
                file = io.BytesIO()
                numpy.save(file, value)
                members[name] = file.getvalue()
            for extension, content in members.items():
                member = tarfile.TarInfo(f"{number:04}.{extension}")
                member.size = len(content)
                shard.addfile(member, io.BytesIO(content))
    config = {"datasets": [{"name": "arrays", "webdataset": {"path": str(folder), "fields": FIELDS}}]}
    (folder / "stokerd.yaml").write_text(json.dumps(config))
    return folder / "stokerd.yaml"


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    return write(tmp_path_factory.mktemp("arrays"), [array_of(number) for number in range(SAMPLES)])


@pytest.fixture
def served(arrays, start_server):
    return start_server("--config", arrays)


def loader_of(server, ops=(), **options):
    options = {"batch_size": 7, "shuffle": False, "last_batch": "partial", "output": "numpy", "as_dict": True, **options}
    return Loader(server.address, transforms=ours.Pipeline(ops), **options)


def test_every_sample_has_its_places_and_values(served):
    with loader_of(served) as loader:
        assert {field["name"] for field in loader.description["fields"]} == set(FIELDS)
        seen = 0
        for batch in loader:
            assert all(isinstance(batch[name], Sparse) for name in FIELDS)
            assert batch["words"].dense_shape == SHAPE and batch["tags"].values is None
            assert batch["words"].indices.dtype == "int32" and batch["words"].values.dtype == "float32"
            for row in range(len(batch["words"])):
                places, values = array_of(seen)
                for name in ("words", "arrays"):
                    assert (batch[name][row][0] == places).all() and (batch[name][row][1] == values).all()
                assert (batch["tags"][row][0] == places).all() and batch["tags"][row][1] is None
                seen += 1
        assert seen == SAMPLES


def test_dense_is_the_array_that_a_sample_stands_for(served):
    with loader_of(served) as loader:
        seen = 0
        for batch in loader:
            dense, ones = batch["words"].dense(), batch["tags"].dense()
            assert dense.shape[1:] == SHAPE and dense.dtype == "float32" and ones.shape[1:] == (1000,)
            for row in range(len(dense)):
                places, values = array_of(seen)
                expected = numpy.zeros(1000, numpy.float32)
                expected[places] = values
                assert (dense[row].ravel() == expected).all() and (ones[row] == (expected != 0)).all()
                seen += 1


def test_torch_gets_coo_and_csr(served):
    torch = pytest.importorskip("torch")
    with loader_of(served, output="torch") as loader:
        for batch in loader:
            words, tags = batch["words"], batch["tags"]
            coo, csr = words.to_torch(), tags.to_torch("csr")
            assert coo.is_coalesced() and coo.shape == (len(words), *SHAPE)
            assert (coo.to_dense() == words.dense()).all()
            assert csr.layout == torch.sparse_csr and (csr.to_dense() == tags.dense()).all()
            assert (tags.to_torch().coalesce().to_dense() == tags.dense()).all()
            with pytest.raises(ValueError, match="rows of one dimension"):
                words.to_torch("csr")


def test_to_dtype_takes_the_values_on_either_side(served):
    for options in ({}, {"placement": "server"}):
        with loader_of(served, [ours.ToDtype("float16", field="words", **options)]) as loader:
            batch = next(iter(loader))
            places, values = array_of(0)
            assert (batch["words"][0][1] == values.astype("float16")).all() and batch["words"].values.dtype == "float16"
            assert (batch["words"][0][0] == places).all()
    with pytest.raises(stoker.InvalidArgumentError, match="'words' is sparse, which stays as it is"):
        loader_of(served, [ours.Normalize(mean=[0], std=[1], field="words")])


def test_to_dense_makes_the_array_on_the_device(served):
    with loader_of(served) as sparse, loader_of(served, [ours.ToDense("words"), ours.ToDense("tags")]) as dense:
        assert dense.description["fields"][-1]["shape"] == list(SHAPE)
        for places, arrays in zip(sparse, dense):
            assert (arrays["words"] == places["words"].dense()).all() and arrays["words"].dtype == "float32"
            assert (arrays["tags"] == places["tags"].dense()).all() and arrays["tags"].dtype == "float32"
            assert isinstance(arrays["arrays"], Sparse)


def test_what_is_no_sparse_array_is_a_bad_sample(tmp_path, start_server):
    for ids, weights, message in (
        ([5, 3], [1, 1], "index 1 is 3 and the one before it 5; indices must ascend"),
        ([5, 5], [1, 1], "none may stand twice"),
        ([5, 1000], [1, 1], "index 1 is 1000, and the array of its dense_shape has 1000 elements"),
        ([5, 6], [1], "has 2 indices and 1 values"),
    ):
        folder = tmp_path / str(len(message))
        folder.mkdir()
        server = start_server("--config", write(folder, [([1], [1]), (ids, weights)]))
        with loader_of(server) as loader, pytest.raises(stoker.DataLossError, match=message):
            list(loader)
