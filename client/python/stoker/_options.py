"""Turns what users give a loader into the options that the library takes, and says which one is wrong."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from .errors import InvalidArgumentError


#: What a DataLoader's arguments are called here.
_DATA_LOADERS_WORDS = {
    "num_workers": "the servers are the workers: leave it out",
    "persistent_workers": "the servers are the workers: leave it out",
    "worker_init_fn": "the servers are the workers, and seed= makes what they draw: leave it out",
    "multiprocessing_context": "the servers are the workers: leave it out",
    "transform": "it is transforms= here",
    "drop_last": "it is last_batch= here: 'drop' is True, 'partial' is False",
    "pin_memory": "it is pin= here, and batches for a GPU are pinned anyway",
    "pin_memory_device": "device= says for which device batches are made",
    "prefetch_factor": "it is prefetch= here, in batches of this loader",
    "timeout": "it is progress_timeout= here",
    "generator": "it is seed= here",
    "sampler": "the servers shuffle: shuffle=, seed= and class_weights= say how, rank= and world_size= whose share, "
    "split=, indices= and classes= of what",
    "batch_sampler": "the servers shuffle: shuffle= and seed= say how, rank= and world_size= whose share",
    "collate_fn": "batches come as they are: as_dict= makes dicts of them",
}


def answer_data_loaders_words(options: Mapping[str, Any]) -> None:
    """Raises where `options` has an argument of a DataLoader, and says what it is here."""
    for key in options:
        if key in _DATA_LOADERS_WORDS:
            raise InvalidArgumentError(f"{key}: {_DATA_LOADERS_WORDS[key]}")


def addresses(servers: Any) -> list[str]:
    """The list that `servers`, an address or several, stands for. Commas separate those of one string."""
    if isinstance(servers, str):
        return [server for part in servers.split(",") if (server := part.strip())]
    if not isinstance(servers, Iterable):
        raise InvalidArgumentError(f"servers: expected an address or a list of some, found {servers!r}")
    return list(servers)


def shuffle_mode(shuffle: Any, class_weights: Any = None, samples: Any = None) -> Any:
    """The mode that `shuffle`, a mode or whether to, and weights of classes stand for."""
    if shuffle is None:
        raise InvalidArgumentError('shuffle: give True ("full") or False ("none"); None is neither')
    if class_weights is not None:
        if shuffle is not True and shuffle != "full":
            raise InvalidArgumentError("class_weights: what is drawn by weights has no other shuffle; leave that out")
        return _weighted(class_weights, samples)
    if samples is not None:
        raise InvalidArgumentError("samples: only what class_weights= draws has an epoch of any length")
    return {True: "full", False: "none"}[shuffle] if isinstance(shuffle, bool) else shuffle


def _weighted(class_weights: Any, samples: Any) -> dict[str, Any]:
    weighted: dict[str, Any] = {"mode": "weighted"}
    if isinstance(class_weights, Mapping):
        if not class_weights:
            raise InvalidArgumentError('class_weights: no class is given; "balanced" draws all alike')
        weighted["class_weights"] = {
            str(name): whole_number(f"class_weights[{name!r}]", weight) for name, weight in class_weights.items()
        }
    elif class_weights != "balanced":
        raise InvalidArgumentError(
            f'class_weights: give "balanced", or whole numbers by the classes\' names; found {class_weights!r}'
        )
    if samples is not None:
        weighted["samples"] = whole_number("samples", samples)
    return weighted


def texts(key: str, value: Any) -> Any:
    """The list that `value` of the option `key`, a text or several, stands for; None where it is None."""
    found = [value] if isinstance(value, str) else None if value is None else list(value)
    if found == []:
        raise InvalidArgumentError(f"{key}: there is none, so there would be nothing to read")
    return found


def whole_numbers(key: str, value: Any) -> Any:
    """The list of whole numbers in `value` of the option `key`, also of NumPy or torch; None where it is None."""
    if value is None:
        return None
    numbers = [whole_number(key, number) for number in value]
    if not numbers:
        raise InvalidArgumentError(f"{key}: there is none, so there would be nothing to read")
    return numbers


def whole_number(key: str, value: Any) -> int:
    """`value` of the option `key`, from Python, NumPy or torch."""
    try:
        return operator.index(value)
    except TypeError:
        raise InvalidArgumentError(f"{key}: expected a whole number, found {value!r}") from None


def epoch_number(key: str, value: Any) -> int:
    """`value` of the option `key` as the number of an epoch."""
    epoch = whole_number(key, value)
    if not 0 <= epoch < 2**63:
        raise InvalidArgumentError(f"{key}: {epoch} is not from 0 to 2^63 − 1")
    return epoch


def as_json(options: Mapping[str, Any]) -> bytes:
    """`options` that are not None as a JSON object. NumPy's and torch's whole numbers count as Python's."""
    options = {key: value for key, value in options.items() if value is not None}
    for key, value in options.items():
        try:
            json.dumps(value, allow_nan=False, default=partial(whole_number, key))
        except (TypeError, ValueError) as error:
            if isinstance(error, InvalidArgumentError):
                raise
            raise InvalidArgumentError(f"{key}: {value!r} cannot be given on: {error}") from None
    return json.dumps(options, default=operator.index).encode()
