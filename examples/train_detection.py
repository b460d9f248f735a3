"""Trains a small network to find drawn shapes: the box and the class of each, and prints the loss as it goes.

A drawing has one box or many. The servers move the boxes as they crop and mirror the drawing, and leave out those of which
nothing is left, with their classes. The boxes of a batch come one after another, without padding. With --state FILE
training goes on where it was stopped: with the next batch, in the middle of an epoch.

    python make_data.py objects objects && stokerd serve --config objects/stokerd.yaml &
    python train_detection.py 127.0.0.1:7077
"""

import argparse
from pathlib import Path

import torch
from torch import nn

import stoker
from stoker import transforms

CLASSES = 3
EXTENT, CELL = 64, 8  # Pixels of an image, and of a cell of the grid in which shapes are looked for.


def make_network() -> nn.Module:
    def block(narrow: int, wide: int, stride: int = 2) -> list[nn.Module]:
        return [nn.Conv2d(narrow, wide, 3, stride, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU()]

    # For each cell: how surely each class has its center there, and the four sides' distances from the cell's center.
    return nn.Sequential(*block(3, 24), *block(24, 32), *block(32, 64), *block(64, 64, 1), nn.Conv2d(64, CLASSES + 4, 1))


def loss_of(made: torch.Tensor, boxes: stoker.Ragged, classes: stoker.Ragged) -> torch.Tensor:
    """Cross entropy of each cell's classes, and the mean distance of the sides where a shape has its center."""
    sample = torch.repeat_interleave(boxes.lengths)  # Of each box.
    centers = (boxes.values[:, :2] + boxes.values[:, 2:]) / 2
    column, row = (centers / CELL).long().clamp(0, EXTENT // CELL - 1).unbind(1)
    there = torch.zeros_like(made[:, :CLASSES])
    there[sample, classes.values, row, column] = 1
    sides = made[sample, CLASSES:, row, column]
    middle = (torch.stack([column, row, column, row], 1) + 0.5) * CELL
    found = nn.functional.binary_cross_entropy_with_logits(made[:, :CLASSES], there, reduction="sum")
    placed = nn.functional.smooth_l1_loss(sides, (boxes.values - middle) / CELL, reduction="sum")
    return (found + placed) / max(len(sample), 1)


def train(servers: list[str], steps: int, seed: int, state: Path | None) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = stoker.Loader(
        servers,
        batch_size=16,
        device=device,
        seed=seed,
        as_dict=True,
        output="torch",
        transforms=[
            transforms.RandomResizedCrop(EXTENT, scale=(0.5, 1)),
            transforms.RandomHorizontalFlip(),
            transforms.SanitizeBoundingBoxes(min_size=3, labels=["classes"]),
            transforms.ToDtype("float32", scale=True),
            transforms.ToMemoryFormat("channels_first"),
        ],
    )
    torch.manual_seed(seed)
    network = make_network().to(device)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    step = 0
    if state is not None and state.exists():
        saved = torch.load(state)
        loader.load_state_dict(saved["loader"])
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        step = saved["step"]

    total = torch.zeros((), device=device)  # Stays on the device: reading it waits.
    while step < steps:
        for batch in loader:
            loss = loss_of(network(batch["image"]), batch["boxes"], batch["classes"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach()
            step += 1
            if step % 10 == 0:
                print(f"epoch {loader.epoch} step {step} loss {total.item() / 10:.4f}", flush=True)
                total.zero_()
            if step == steps:
                break
    if state is not None:
        saved = {"loader": loader.state_dict(), "network": network.state_dict(), "step": step}
        torch.save({**saved, "optimizer": optimizer.state_dict()}, state)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains a small network for detection on served drawings.")
    parser.add_argument("servers", nargs="+", help="host:port of each stokerd")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state", type=Path, help="file that training goes on from, and is saved in when it ends")
    train(**vars(parser.parse_args()))
