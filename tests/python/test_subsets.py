"""Parts of a dataset, draws by class, and what the servers' index knows."""

from __future__ import annotations

import collections
import csv
import json

import numpy
import pytest
from conftest import ids_of, loader_of

import stoker

WHOLE = {"last_batch": "partial"}


def test_parts_cover_the_dataset_once(server):
    parts = [ids_of(loader_of(server, split=split, **WHOLE)) for split in ("[:80%]", "[80%:]")]
    assert sorted(parts[0] + parts[1]) == list(range(200))
    assert 130 < len(parts[0]) < 190


def test_folds_validate_on_each_sample_once(server):
    validated = []
    for train, validation in stoker.folds(3):
        part = ids_of(loader_of(server, split=validation, shuffle=False))
        assert sorted(part + ids_of(loader_of(server, split=train, **WHOLE))) == list(range(200))
        validated += part
    assert sorted(validated) == list(range(200))
    assert stoker.folds(2) == [("[1/2:]", "[0/2:1/2]"), ("[:1/2]", "[1/2:2/2]")]
    with pytest.raises(stoker.InvalidArgumentError, match="folds: 1 is fewer than 2"):
        stoker.folds(1)


def test_indices_and_classes_choose_samples(server):
    assert ids_of(loader_of(server, indices=numpy.array([7, 3, 199]), shuffle=False)) == [3, 7, 199]
    with loader_of(server, classes=["class-01", "class-03"], shuffle=False, split="[:-10]") as loader:
        assert ids_of(loader) == [*range(50, 100), *range(150, 190)]
        assert len(loader.dataset) == 90
    assert ids_of(loader_of(server, classes="class-02", shuffle=False)) == list(range(100, 150))


def test_a_list_of_the_servers_is_chosen_by_name(photos, start_server, tmp_path):
    (tmp_path / "clean.txt").write_text("class-03/image-0000.jpg\nclass-00/image-0004.jpg\n")
    (tmp_path / "server.yaml").write_text(
        f"datasets: [{{image_folder: {{path: {photos}}}, lists: [{{name: clean, file: {tmp_path}/clean.txt}}]}}]\n"
    )
    server = start_server("--config", tmp_path / "server.yaml")
    assert ids_of(loader_of(server, subset="clean", shuffle=False)) == [4, 150]
    with pytest.raises(stoker.NotFoundError, match="no list 'cleen' is configured .* there are: clean"):
        loader_of(server, subset="cleen")


def test_classes_are_drawn_by_weight(server):
    with loader_of(server, class_weights={"class-00": 1, "class-02": 3}, samples=1600) as loader:
        drawn = collections.Counter(index // 50 for index in ids_of(loader))
        assert set(drawn) == {0, 2} and 1080 < drawn[2] < 1320 and len(loader) == 100
        assert ids_of(loader) != ids_of(loader), "each epoch draws anew"
    with loader_of(server, class_weights="balanced", indices=[0, 1, 2, 50], samples=800) as loader:
        drawn = collections.Counter(ids_of(loader))
        assert 320 < drawn[50] < 480


def test_draws_go_on_where_they_were(server):
    def make():
        return loader_of(server, class_weights="balanced", samples=160)

    whole = ids_of(make())
    with make() as loader:
        batches = loader.batches()
        seen = [index for _ in range(4) for index in next(batches).info().sample_ids]
        state = loader.state_dict()
    with make() as loader:
        loader.load_state_dict(state)
        assert seen + ids_of(loader) == whole
    with loader_of(server, class_weights={"class-00": 1}, samples=160) as other:
        with pytest.raises(stoker.FailedPreconditionError):
            other.load_state_dict(state)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"split": "90%"}, "split: '90%': it is not in brackets; write"),
        ({"split": "[:300]"}, "the dataset has 200 samples, and \\[0:300\\] reaches past them"),
        ({"split": "[:10]", "indices": [5]}, "indices: the split names ids already"),
        ({"indices": [5, 5]}, "indices: 5 is there twice"),
        ({"indices": []}, "indices: there is none"),
        ({"classes": []}, "classes: there is none"),
        ({"split": ""}, "split: '': it is not in brackets"),
        ({"subset": ""}, "subset: expected a list's name"),
        ({"indices": [1.5]}, "indices: expected a whole number, found 1.5"),
        ({"indices": range(0, 20000, 2)}, "give long lists of samples to the servers"),
        ({"classes": ["class-1"]}, "no class is called 'class-1'; did you mean 'class-01'"),
        ({"class_weights": {"class-00": 0.5}}, "expected a whole number, found 0.5"),
        ({"class_weights": {}}, "no class is given"),
        ({"class_weights": [1, 2]}, 'give "balanced", or whole numbers'),
        ({"class_weights": "balanced", "shuffle": False}, "has no other shuffle"),
        ({"class_weights": {"class-00": 1}, "classes": "class-01"}, "'class-00' has no sample in the subset"),
        ({"samples": 100}, "samples: only what class_weights= draws"),
        ({"split_seed": 3}, "split_seed means nothing"),
        ({"sampler": [1]}, "split=, indices= and classes="),
    ],
)
def test_errors_say_what_is_wrong(server, options, message):
    with pytest.raises(stoker.StokerError, match=message):
        loader_of(server, **options)


def test_the_dataset_knows_classes_labels_and_names(server):
    with loader_of(server, split="[45:55]", shuffle=False) as loader:
        dataset = loader.dataset
        assert dataset.classes == ["class-00", "class-01", "class-02", "class-03"]
        assert dataset.class_to_idx["class-02"] == 2 and dataset.num_classes == 4
        assert dataset.targets == [0] * 5 + [1] * 5
        assert dataset.names([199, 0]) == ["class-03/image-0049.jpg", "class-00/image-0000.jpg"]
        with pytest.raises(stoker.InvalidArgumentError, match="none has the id 200"):
            dataset.names([200])
        labels = next(iter(loader))[1]
        assert labels.tolist() == dataset.targets
        assert loader.names()[0] == "class-00/image-0045.jpg" and len(loader.names()) == 10
    assert dataset.classes[0] == "class-00", "what was asked for is kept"
    with pytest.raises(stoker.CancelledError, match="closed"):
        dataset.names([0])


def test_a_dataset_without_labels_says_so(start_server):
    server = start_server("--synthetic", "8x8x3")
    with stoker.Loader(server.address, batch_size=4, transforms=[]) as loader:
        with pytest.raises(stoker.InvalidArgumentError, match="index has no labels"):
            loader.dataset.classes  # noqa: B018


def test_a_flat_folder_has_its_labels_in_a_file(photos, start_server, tmp_path):
    names = {f"{path.parent.name} {path.name}": path for path in sorted(photos.rglob("*.jpg"))[:60]}
    (tmp_path / "flat").mkdir()
    for name, path in names.items():
        (tmp_path / "flat" / name).symlink_to(path)
    rows = [(name, f'a "kind", the {index % 3}.') for index, name in enumerate(names)]
    with open(tmp_path / "labels.csv", "w", newline="") as file:
        csv.writer(file).writerows([("file", "kind"), *reversed(rows)])
    (tmp_path / "labels.json").write_text(json.dumps(dict(rows)))
    lines = "".join(json.dumps({"file_name": name, "label": label}) + "\n" for name, label in rows)
    (tmp_path / "labels.jsonl").write_text(lines)
    sources = [f"{{name: {kind}, labeled_folder: {{path: {tmp_path}/flat, labels: {tmp_path}/labels.{kind}}}}}"
               for kind in ("csv", "json", "jsonl")]  # fmt: skip
    (tmp_path / "server.yaml").write_text(f"datasets: [{', '.join(sources)}]\n")
    server = start_server("--config", tmp_path / "server.yaml")
    for kind in ("csv", "json", "jsonl"):
        with loader_of(server, dataset=kind, shuffle=False, names=True) as loader:
            assert loader.dataset.classes == sorted({label for _, label in rows})
            found = []
            for _, labels in loader:
                found += zip(loader.names(), (loader.dataset.classes[label] for label in labels))
            assert found == sorted(rows)
