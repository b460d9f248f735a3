"""A program that uses the package, for a type checker alone; it is never run.

Each error that the checker must find is marked. Under mypy --strict a mark without its error is an error too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import assert_type

import stoker
from stoker import transforms

pipeline = transforms.Compose(
    [
        transforms.RandomResizedCrop((224, 192), scale=(0.2, 1.0), interpolation="bicubic"),
        transforms.RandomApply([transforms.GaussianBlur(5)], p=0.3),
        transforms.ToDtype("float32", scale=True),
        transforms.Normalize(mean=[0.5], std=0.5),
        transforms.MixUp(num_classes=10),
    ]
)
transforms.RandomResizedCrop("224")  # type: ignore[arg-type]
transforms.RandomResizedCrop()  # type: ignore[call-arg]
transforms.RandomHorizontalFlip(probability=0.5)  # type: ignore[call-arg]
transforms.MixUp(0.2, num_classes=10)  # type: ignore[call-arg]
transforms.Compose(["RandomInvert"])  # type: ignore[list-item]

loader = stoker.Loader(
    ["cpu1:7077", "cpu2:7077"], batch_size=256, device="cuda", transforms=pipeline, rank=0, world_size=2
)
stoker.Loader("cpu1:7077", batch_size=256, transforms=Path("train.yaml"))
stoker.Loader("cpu1:7077")  # type: ignore[call-overload]
stoker.Loader("cpu1:7077", batch_size="256")  # type: ignore[call-overload]
stoker.Loader("cpu1:7077", batch_size=256, sed=3)  # type: ignore[call-overload]

for images, labels in loader:
    print(images.shape, labels)
assert_type(loader, stoker.Loader[tuple[Any, ...]])
dicts = stoker.Loader("cpu1:7077", batch_size=256, as_dict=True)
assert_type(dicts, stoker.Loader[dict[str, Any]])
for named in dicts:
    print(named["image"])
for either in stoker.Loader("cpu1:7077", batch_size=256, as_dict=bool(input())):
    print(either)


def read(any_loader: stoker.Loader) -> None:
    for image, label in any_loader:
        print(image, label)


read(loader)
read(dicts)


class Mine(stoker.Loader):
    pass


mine = Mine("cpu1:7077", batch_size=256)
info = loader.info
print(info.positions)  # type: ignore[union-attr]
if info is not None:
    first: int = info.positions[0]
    names: list[str] = info.names
for batch in loader.batches():
    shape: tuple[int, ...] = batch["image"].shape
    view: memoryview = batch.tensors[0].memoryview()
    size: str = batch.size  # type: ignore[assignment]
state: dict[str, Any] = loader.state_dict()
loader.load_state_dict(state)
length: int = len(loader.dataset)
digest: str = loader.digest(0)

overlap = stoker.Overlap(lambda images: images, loader, overlap="on")
for features, labels in overlap:
    print(features)

try:
    offered: list[dict[str, Any]] = stoker.servers_offer("cpu1:7077")["datasets"]
except stoker.UnavailableError as error:
    code: int = error.code
try:
    transforms.convert([])
except transforms.ConversionError as refused:
    print([one.reason for one in refused.refused])
