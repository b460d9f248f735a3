"""A program that trains with torch, for a type checker alone; it is never run. types.sh checks it with torch's own types.

Under mypy --strict a mark without its error is an error too.
"""

from __future__ import annotations

from typing import Any, TypedDict

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader
from typing_extensions import assert_type

import stoker


class Batch(TypedDict):
    image: Tensor
    label: Tensor


def train(loader: stoker.Loader, model: nn.Module, optimizer: torch.optim.Optimizer) -> float:
    """`stoker.Loader` alone says nothing of batches."""
    total = 0.0
    for images, labels in loader:
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        total += loss.item()
    return total


def evaluate(loader: stoker.Loader[tuple[Tensor, Tensor]]) -> None:
    for images, labels in loader:
        assert_type(images, Tensor)
        images.classify()  # type: ignore[attr-defined]


def noisy(image: Tensor) -> Tensor:
    return image + torch.randn_like(image)


loader = stoker.Loader(
    "cpu1:7077",
    batch_size=8,
    output="torch",
    transforms=[stoker.transforms.RandomResizedCrop(32), noisy],
    on_unsupported="client",
)
assert_type(loader, stoker.Loader[tuple[Tensor, ...]])
for images, labels in loader:
    assert_type(images, Tensor)
with stoker.Loader("cpu1:7077", batch_size=8, output="torch", as_dict=True) as dicts:
    for batch in dicts:
        assert_type(batch["image"], Tensor)
train(loader, nn.Identity(), torch.optim.SGD([], 0.1))

# "auto" depends on what a program has imported: who knows says so, also how many fields there are, or their names.
pairs: stoker.Loader[tuple[Tensor, Tensor]] = stoker.Loader("cpu1:7077", batch_size=8)
evaluate(pairs)
named: stoker.Loader[Batch] = stoker.Loader("cpu1:7077", batch_size=8, as_dict=bool(input()))
first: Tensor = next(iter(named))["image"]

assert_type(DataLoader(loader, batch_size=None), DataLoader[tuple[Tensor, ...]])
assert_type(DataLoader(stoker.Loader("cpu1:7077", batch_size=8), batch_size=None), DataLoader[tuple[Any, ...]])
