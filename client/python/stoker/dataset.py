"""What datasets servers have, as they describe them."""

# Without `from __future__ import annotations`, with which the fields of named tuples have types that pdoc cannot find.
import bisect
import ctypes
import json
from collections.abc import Iterable, Sequence
from typing import Any, Callable, NamedTuple, Optional, Union

from . import _library, _options
from .errors import InvalidArgumentError


class DatasetPart(NamedTuple):
    """One of the datasets that another is mixed of."""

    #: Its name in the servers' configuration.
    name: str
    #: The ids that its samples have in the mixed dataset.
    sample_ids: range
    #: How many samples of every block are its own; 0 where parts stand one after another.
    weight: int


class DatasetInfo:
    """The dataset, or the part of it that a loader reads, as the servers describe it.

    What the servers' index knows is asked for when it is first looked at. That raises InvalidArgumentError where the
    index has no labels, and UnavailableError where no server answers.
    """

    def __init__(self, description: dict[str, Any], ask: Callable[..., Any], known: dict[str, Any]) -> None:
        #: Its name in the servers' configuration.
        self.name: str = description["dataset"]
        #: A hash of its samples' names, sizes and labels, in hexadecimal. It is equal for all copies of the dataset.
        self.fingerprint: str = description["fingerprint"]
        #: The datasets that it is mixed of, in the order of their samples' ids; empty where it is no mix.
        self.parts: list[DatasetPart] = parts_of(description)
        self._samples = int(description["samples"])
        self._ask = ask
        self._known = known

    def __len__(self) -> int:
        """How many samples an epoch has: those of the part that is read, or what ``samples=`` said."""
        return self._samples

    @property
    def classes(self) -> list[str]:
        """The names of the whole dataset's classes, by label. Empty where labels have no names."""
        return list(self._once("stoker_loader_classes"))

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The label of each class, by its name."""
        return {name: label for label, name in enumerate(self.classes)}

    @property
    def num_classes(self) -> int:
        """How many classes the whole dataset has; where they have no names, one more than the largest label here."""
        return len(self.classes) or max((label for label, _ in self._once("stoker_loader_labels")), default=-1) + 1

    @property
    def targets(self) -> list[int]:
        """The label of each sample that is read, in the order of an epoch without shuffling."""
        return [label for label, count in self._once("stoker_loader_labels") for _ in range(count)]

    def names(self, sample_ids: Iterable[int]) -> list[str]:
        """The names of samples by their ids, which are ``info.sample_ids`` of a batch, such as "cat/0001.jpg"."""
        ids = [_options.whole_number("sample_ids", index) for index in sample_ids]
        found: list[str] = self._ask("stoker_loader_names", (ctypes.c_uint64 * len(ids))(*ids), len(ids))
        return found

    def part_counts(self, sample_ids: Iterable[int]) -> dict[str, int]:
        """How many of the samples with these ids each of ``parts`` has, by its name; no server is asked.

        Parts of one name count together. Empty where the dataset is no mix.
        """
        counts = dict.fromkeys((part.name for part in self.parts), 0)
        ends = [part.sample_ids.stop for part in self.parts]
        for index in sample_ids:
            part = bisect.bisect_right(ends, index)
            if part < len(ends):
                counts[self.parts[part].name] += 1
        return counts

    def _once(self, function: str) -> Any:
        if function not in self._known:
            self._known[function] = self._ask(function)
        return self._known[function]

    def __repr__(self) -> str:
        return f"stoker.DatasetInfo(name={self.name!r}, samples={self._samples}, fingerprint={self.fingerprint!r})"


def parts_of(description: dict[str, Any]) -> list[DatasetPart]:
    """The parts in what the library says of a loader."""
    parts: list[DatasetPart] = []
    for part in description["parts"]:
        begin = parts[-1].sample_ids.stop if parts else 0
        parts.append(DatasetPart(part["name"], range(begin, int(part["end"])), int(part["weight"])))
    return parts


def folds(count: int) -> list[tuple[str, str]]:
    """The splits of a cross-validation: for each of `count` folds what to train on and what to validate on.

        for train, validation in stoker.folds(5):
            loader = stoker.Loader("cpu1:7077", batch_size=256, split=train)

    Folds are cut by a hash of the samples' names, so they have equal sizes only nearly.
    """
    if _options.whole_number("folds", count) < 2:
        raise InvalidArgumentError(f"folds: {count} is fewer than 2")
    pairs = []
    for fold in range(count):
        before = f"[:{fold}/{count}]" if fold > 0 else ""
        after = f"[{fold + 1}/{count}:]" if fold + 1 < count else ""
        pairs.append(("+".join(filter(None, [before, after])), f"[{fold}/{count}:{fold + 1}/{count}]"))
    return pairs


def servers_offer(
    servers: Union[str, Sequence[str]],
    *,
    connect_timeout: Optional[float] = None,
    tls_ca_file: Optional[str] = None,
    tls_server_name: Optional[str] = None,
    tls_cert_file: Optional[str] = None,
    tls_key_file: Optional[str] = None,
    token_file: Optional[str] = None,
) -> dict[str, list[dict[str, Any]]]:
    """Asks servers what they offer.

    The answer is {"datasets": [{"name", "samples", "fingerprint", "description"}], "pipelines": [{"name",
    "pipeline"}]}.
    """
    text = _options.as_json(
        {
            "servers": _options.addresses(servers),
            "connect_timeout": connect_timeout,
            "tls_ca_file": tls_ca_file,
            "tls_server_name": tls_server_name,
            "tls_cert_file": tls_cert_file,
            "tls_key_file": tls_key_file,
            "token_file": token_file,
        }
    )
    stoker_list = _library.library().stoker_list
    found = _library.interruptible(lambda: _library.text_from(stoker_list, text), lambda text: None)
    offered: dict[str, list[dict[str, Any]]] = json.loads(found)
    return offered
