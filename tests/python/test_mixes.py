"""What a batch of a mixed dataset is made of."""

from __future__ import annotations

import collections
import shutil

import pytest
from conftest import loader_of

import stoker


@pytest.fixture
def mixed(photos, start_server, tmp_path):
    """A server of the photographs, of a folder with two of their classes, and of what is mixed of both."""
    few = tmp_path / "few"
    for name in ("class-00", "class-01"):
        shutil.copytree(photos / name, few / name)
    (tmp_path / "server.yaml").write_text(
        f"datasets:\n- {{name: photos, data: {photos}}}\n- {{name: few, data: {few}}}\n"
        "- {name: both, mix: [{dataset: photos, weight: 3}, {dataset: few, weight: 1}]}\n"
        "- {name: twice, mix: [{dataset: few}, {dataset: few}]}\n"
    )
    return start_server("--config", tmp_path / "server.yaml")


def test_a_mix_knows_its_parts(mixed):
    with loader_of(mixed, dataset="both") as loader:
        assert loader.dataset.parts == [("photos", range(0, 200), 3), ("few", range(200, 300), 1)]
        assert loader.dataset.parts[1].name == "few" and 250 in loader.dataset.parts[1].sample_ids
    with loader_of(mixed, dataset="twice") as loader:
        assert [part.weight for part in loader.dataset.parts] == [0, 0]


def test_every_batch_of_whole_blocks_has_its_shares(mixed):
    with loader_of(mixed, dataset="both", last_batch="drop") as loader:
        assert loader.part_counts() == {}, "no batch was handed out"
        for _ in loader:
            assert loader.part_counts() == {"photos": 12, "few": 4}
        assert all(batch.part_counts == {"photos": 12, "few": 4} for batch in loader.batches())


def test_counts_are_those_of_the_sample_ids(mixed):
    with loader_of(mixed, dataset="both", batch_size=10, last_batch="pad", shuffle="block") as loader:
        for batch in loader.batches():
            info = batch.info()
            names = loader.dataset.names(info.sample_ids[: info.real])
            assert batch.part_counts == collections.Counter(name.split("/")[0] for name in names)
            assert batch.part_counts == loader.dataset.part_counts(info.sample_ids[: info.real])
            assert sum(batch.part_counts.values()) == info.real


def test_padding_does_not_count(mixed):
    with loader_of(mixed, dataset="both", batch_size=64, last_batch="pad") as loader:
        for batch in loader.batches():
            last = batch.part_counts
        assert batch.size == 64 and batch.real == 300 - 4 * 64 and last == {"photos": 33, "few": 11}
        for _ in loader:
            pass
        assert loader.part_counts() == last, "blocks of the second epoch begin where it does, since 300 is whole blocks"


def test_ranks_count_their_own(mixed):
    sums = [collections.Counter() for _ in range(12)]
    for rank in range(2):
        with loader_of(mixed, dataset="both", batch_size=6, rank=rank, world_size=2, last_batch="drop") as loader:
            for step, batch in zip(range(12), loader.batches()):
                sums[step].update(batch.part_counts)
    assert all(counts == {"photos": 9, "few": 3} for counts in sums)


def test_parts_of_one_name_count_together(mixed):
    with loader_of(mixed, dataset="twice", shuffle=False) as loader:
        assert [batch.part_counts["few"] for batch in loader.batches()] == [16] * 12 + [8]


def test_a_dataset_that_is_no_mix_has_no_parts(mixed):
    with loader_of(mixed, dataset="photos") as loader:
        assert loader.dataset.parts == [] and next(loader.batches()).part_counts == {}
        next(iter(loader))
        assert loader.part_counts() == {}
        assert stoker.DatasetPart("a", range(3), 1).sample_ids == range(3)
