"""Trains a small network to say for each pixel what is drawn there, and prints the loss as it goes.

The servers crop, turn and mirror each drawing and its label map by the same draws. A map is one byte a pixel on the way,
and int64 when it is handed out, which is what cross_entropy takes. With --state FILE training goes on where it was
stopped: with the next batch, in the middle of an epoch.

    python make_data.py shapes shapes && stokerd serve --config shapes/stokerd.yaml &
    python train_segmentation.py 127.0.0.1:7077
"""

import argparse
from pathlib import Path

import torch
from torch import nn

import stoker
from stoker import transforms

CLASSES = 4
NOBODYS = 255  # The label of what stands for nothing: the borders of shapes, and what a rotation uncovers.


def make_network() -> nn.Module:
    def block(narrow: int, wide: int, **options: int) -> list[nn.Module]:
        return [nn.Conv2d(narrow, wide, 3, padding=1, bias=False, **options), nn.BatchNorm2d(wide), nn.ReLU()]

    return nn.Sequential(
        *block(3, 24),
        *block(24, 32, stride=2),
        *block(32, 32),
        *block(32, 32),
        nn.Upsample(scale_factor=2),
        nn.Conv2d(32, CLASSES, 1),
    )


def train(servers: list[str], steps: int, seed: int, state: Path | None) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = stoker.Loader(
        servers,
        batch_size=16,
        device=device,
        seed=seed,
        transforms=[
            transforms.RandomRotation(15, interpolation="bilinear", map_fill=NOBODYS),
            transforms.RandomResizedCrop(64, scale=(0.5, 1)),
            transforms.RandomHorizontalFlip(),
            transforms.ColorJitter(brightness=0.2, contrast=0.2),
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
        for images, labels in loader:
            loss = nn.functional.cross_entropy(network(images), labels, ignore_index=NOBODYS)
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
    parser = argparse.ArgumentParser(description="Trains a small network for segmentation on served drawings.")
    parser.add_argument("servers", nargs="+", help="host:port of each stokerd")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state", type=Path, help="file that training goes on from, and is saved in when it ends")
    train(**vars(parser.parse_args()))
