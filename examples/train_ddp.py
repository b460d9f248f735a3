"""Trains with DistributedDataParallel, and goes on from its last checkpoint, in mid-epoch and with other ranks too.

    torchrun --nproc-per-node 2 train_ddp.py 127.0.0.1:7077 --classes 4
"""

import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

import stoker
from stoker import transforms


def train(server: str, classes: int, epochs: int, checkpoint: Path) -> None:
    gpu = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if gpu else torch.device("cpu")
    dist.init_process_group("nccl" if gpu else "gloo")
    augment = [transforms.RandomResizedCrop(64), transforms.RandomHorizontalFlip()]
    # It takes its rank from the process group, and batch_size is each rank's.
    loader = stoker.Loader(server, batch_size=16, dtype="float32", device=device, transforms=augment)
    convolution = nn.Conv2d(3, 16, 5, stride=4)
    network = nn.Sequential(convolution, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, classes))
    model = nn.parallel.DistributedDataParallel(network.to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    if checkpoint.exists():
        saved = torch.load(checkpoint, map_location=device)
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        loader.load_state_dict(saved["loader"])  # Equal on all ranks.

    for epoch in range(loader.epoch, epochs):
        loader.set_epoch(epoch)
        for step, (images, labels) in enumerate(loader, 1):
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 5 == 0 and dist.get_rank() == 0:
                parts = {"network": network, "optimizer": optimizer, "loader": loader}
                torch.save({name: part.state_dict() for name, part in parts.items()}, f"{checkpoint}.part")
                os.replace(f"{checkpoint}.part", checkpoint)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains with DistributedDataParallel on served photographs.")
    parser.add_argument("server", help="host:port of a stokerd")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint.pt"))
    train(**vars(parser.parse_args()))
