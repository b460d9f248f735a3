"""Trains a classifier of feature vectors, such as those that a frozen network made, and prints the loss as it goes.

The servers send bfloat16, half of the bytes that are stored, and the device normalizes each element by the mean and the
deviation that the first batches have.

    python make_data.py features features && stokerd serve --config features/stokerd.yaml &
    python train_features.py 127.0.0.1:7077
"""

import argparse

import torch
from torch import nn

import stoker
from stoker import transforms

CLASSES = 10
SENT = transforms.ToDtype("bfloat16", field="features", placement="server")


def statistics(servers: list[str], batches: int = 4) -> tuple[list[float], list[float]]:
    """The mean and the standard deviation of each element."""
    with stoker.Loader(servers, batch_size=64, transforms=[SENT], output="torch") as loader:
        features = torch.cat([features for features, _ in zip((batch[0] for batch in loader), range(batches))]).float()
    return features.mean(0).tolist(), features.std(0).tolist()


def train(servers: list[str], steps: int, seed: int) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    mean, std = statistics(servers)
    normalize = transforms.Normalize(mean, std, field="features")
    loader = stoker.Loader(servers, batch_size=64, device=device, seed=seed, transforms=[SENT, normalize])
    torch.manual_seed(seed)
    network = nn.Linear(len(mean), CLASSES).to(device, torch.bfloat16)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
    total = torch.zeros((), device=device)  # Stays on the device: reading it waits.
    step = 0
    while step < steps:
        for features, labels in loader:
            loss = nn.functional.cross_entropy(network(features).float(), labels)
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
    parser = argparse.ArgumentParser(description="Trains a classifier of served feature vectors.")
    parser.add_argument("servers", nargs="+", help="host:port of each stokerd")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    train(**vars(parser.parse_args()))
