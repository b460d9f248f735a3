"""Trains a small convolutional network on the photographs that a stokerd serves, and prints the loss as it goes.
train_cnn.cc is the same in C++.

    make-photo-folder photos --classes 4 && stokerd serve --data photos &
    python train_cnn.py 127.0.0.1:7077 --classes 4
"""

import argparse

import torch
from torch import nn

import stoker
from stoker import transforms


def make_network(classes: int) -> nn.Module:
    layers = []
    for narrow, wide in ((3, 16), (16, 32), (32, 64)):
        layers += [nn.Conv2d(narrow, wide, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(wide), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, classes))


def train(server: str, steps: int, classes: int, seed: int) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = stoker.Loader(
        server,
        batch_size=32,
        device=device,
        seed=seed,
        transforms=[
            transforms.RandomResizedCrop(64, scale=(0.4, 1)),
            transforms.RandomHorizontalFlip(),
            transforms.ToDtype("float32", scale=True),
            transforms.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
            transforms.ToMemoryFormat("channels_first"),
        ],
    )
    if len(loader) == 0:
        raise SystemExit("the dataset has less than a batch of images")

    torch.manual_seed(seed)
    network = make_network(classes).to(device)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    total = torch.zeros((), device=device)  # Stays on the device: reading it waits.
    step = 0
    while step < steps:
        for images, labels in loader:
            loss = nn.functional.cross_entropy(network(images), labels)
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains a small network on served photographs.")
    parser.add_argument("server", help="host:port of a stokerd")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    train(**vars(parser.parse_args()))
