"""Trains two small networks, one for images and one for text, so that a drawing lies near its own caption, and prints the
loss as it goes.

Captions travel as they are, without padding, and are padded here, to the longest of the batch. With --state FILE training
goes on where it was stopped: with the next batch, in the middle of an epoch.

    python make_data.py captions captions && stokerd serve --config captions/stokerd.yaml &
    python train_contrastive.py 127.0.0.1:7077
"""

import argparse
from pathlib import Path

import torch
from torch import nn

import stoker
from stoker import transforms

WIDTH = 64  # Of what both networks make.


class TextNetwork(nn.Module):
    """Reads text byte by byte. Real ones have a tokenizer: ``captions.texts()`` gives it the strings."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(256, WIDTH)
        self.reader = nn.GRU(WIDTH, WIDTH, batch_first=True)

    def forward(self, captions: stoker.Ragged) -> torch.Tensor:
        read, _ = self.reader(self.embedding(captions.padded().long()))
        return read[torch.arange(len(captions)), captions.lengths - 1]  # At the last byte of each.


def make_image_network() -> nn.Module:
    def block(narrow: int, wide: int) -> list[nn.Module]:
        return [nn.Conv2d(narrow, wide, 3, 2, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU()]

    pooled = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, WIDTH)]
    return nn.Sequential(*block(3, 24), *block(24, 32), *block(32, 64), *pooled)


def train(servers: list[str], steps: int, seed: int, state: Path | None) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = stoker.Loader(
        servers,
        batch_size=32,
        device=device,
        seed=seed,
        as_dict=True,
        output="torch",
        transforms=[
            transforms.RandomResizedCrop(48, scale=(0.7, 1)),
            transforms.ToDtype("float32", scale=True),
            transforms.ToMemoryFormat("channels_first"),
        ],
    )
    torch.manual_seed(seed)
    networks = nn.ModuleDict({"image": make_image_network(), "text": TextNetwork()}).to(device)
    optimizer = torch.optim.Adam(networks.parameters(), lr=3e-3)
    step = 0
    if state is not None and state.exists():
        saved = torch.load(state)
        loader.load_state_dict(saved["loader"])
        networks.load_state_dict(saved["networks"])
        optimizer.load_state_dict(saved["optimizer"])
        step = saved["step"]

    total = torch.zeros((), device=device)  # Stays on the device: reading it waits.
    while step < steps:
        for batch in loader:
            seen = nn.functional.normalize(networks["image"](batch["image"]))
            read = nn.functional.normalize(networks["text"](batch["caption"]))
            nearness = 10 * seen @ read.T
            own = torch.arange(len(nearness), device=device)
            loss = (nn.functional.cross_entropy(nearness, own) + nn.functional.cross_entropy(nearness.T, own)) / 2
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
        saved = {"loader": loader.state_dict(), "networks": networks.state_dict(), "step": step}
        torch.save({**saved, "optimizer": optimizer.state_dict()}, state)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains small networks for images and captions on served drawings.")
    parser.add_argument("servers", nargs="+", help="host:port of each stokerd")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state", type=Path, help="file that training goes on from, and is saved in when it ends")
    train(**vars(parser.parse_args()))
