"""Trains with Accelerate, and goes on from its last checkpoint, in mid-epoch too.

    accelerate launch --num_processes 2 train_accelerate.py 127.0.0.1:7077 --classes 4
"""

import argparse
from pathlib import Path

import torch
from accelerate import Accelerator
from torch import nn

import stoker
from stoker import transforms


def train(server: str, classes: int, epochs: int, checkpoint: Path) -> None:
    accelerator = Accelerator()  # Comes before the loader, which takes its rank and device from it.
    loader = stoker.Loader(
        server,
        batch_size=16,
        dtype="float32",
        device=accelerator.device,
        transforms=[transforms.RandomResizedCrop(64), transforms.RandomHorizontalFlip()],
    )
    convolution = nn.Conv2d(3, 16, 5, stride=4)
    network = nn.Sequential(convolution, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, classes))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    # The loader itself is prepared, not a DataLoader of it: it knows its rank's share already.
    network, optimizer, loader = accelerator.prepare(network, optimizer, loader)
    accelerator.register_for_checkpointing(loader)
    if checkpoint.exists():
        accelerator.load_state(str(checkpoint))

    steps = 0
    for epoch in range(loader.epoch, epochs):
        loader.set_epoch(epoch)
        for images, labels in loader:
            loss = nn.functional.cross_entropy(network(images), labels)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            steps += 1
            if steps % 5 == 0:
                accelerator.save_state(str(checkpoint))
        accelerator.print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    accelerator.end_training()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains with Accelerate on served photographs.")
    parser.add_argument("server", help="host:port of a stokerd")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint"))
    train(**vars(parser.parse_args()))
