"""Trains a small network on images of many sizes, each in a size of its own, and prints the loss as it goes.

The network looks at patches, as vision-language models do: an image has as many as its pixels make, and none are padding.
The servers make both sides of an image multiples of a patch's. The patches of a batch come one after another. With --state
FILE training goes on where it was stopped: with the next batch, in the middle of an epoch.

    python make_data.py sizes sizes && stokerd serve --config sizes/stokerd.yaml &
    python train_native_size.py 127.0.0.1:7077
"""

import argparse
from pathlib import Path

import torch
from torch import nn

import stoker
from stoker import transforms

CLASSES, PATCH, WIDTH = 4, 8, 64  # Colors, pixels of a patch's side, and numbers that stand for a patch.
LONGEST = 96  # Pixels of an image's longer side.


class Network(nn.Module):
    """Looks at each patch and where it lies, and takes the mean of what an image's patches say."""

    def __init__(self) -> None:
        super().__init__()
        self.patch, self.place = nn.Linear(PATCH * PATCH * 3, WIDTH), nn.Linear(2, WIDTH)
        self.mix = nn.Sequential(nn.GELU(), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU())
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, images: stoker.RaggedImages) -> torch.Tensor:
        patches = images.patches(PATCH)
        sample = torch.repeat_interleave(patches.lengths)  # Of each patch.
        across = (images.sizes[:, 1] // PATCH)[sample]  # Patches in a row of its image.
        number = torch.arange(len(sample), device=sample.device) - patches.offsets[sample]
        place = torch.stack([number // across, number % across], 1) * (PATCH / LONGEST)
        seen = self.mix(self.patch(patches.values.flatten(1)) + self.place(place))
        total = torch.zeros(len(images), WIDTH, device=seen.device).index_add(0, sample, seen)
        return self.head(total / patches.lengths[:, None])


def train(servers: list[str], steps: int, seed: int, state: Path | None) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = stoker.Loader(
        servers,
        batch_size=16,
        device=device,
        seed=seed,
        as_dict=True,
        output="torch",
        transforms=transforms.Pipeline(
            [
                transforms.Resize(64, max_size=LONGEST, multiple=PATCH),
                transforms.RandomHorizontalFlip(),
                transforms.ToDtype("float32", scale=True),
                transforms.Normalize(mean=[0.5], std=[0.25]),
            ],
            native_size={"max_pixels": LONGEST * LONGEST, "typical_pixels": 64 * 80},
        ),
    )
    torch.manual_seed(seed)
    network = Network().to(device)
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
            loss = nn.functional.cross_entropy(network(batch["image"]), batch["label"])
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
    parser = argparse.ArgumentParser(description="Trains a small network on served images of native size.")
    parser.add_argument("servers", nargs="+", help="host:port of each stokerd")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state", type=Path, help="file that training goes on from, and is saved in when it ends")
    train(**vars(parser.parse_args()))
