"""Trains with Ray Train, and goes on from its last checkpoint, in mid-epoch too.

    python train_ray.py 127.0.0.1:7077 --classes 4 --workers 2
"""

import argparse
import tempfile
from pathlib import Path

import ray.train
import torch
from ray.train import Checkpoint, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, get_device, prepare_model
from torch import nn

import stoker
from stoker import transforms


def train(given: dict) -> None:
    augment = [transforms.RandomResizedCrop(64), transforms.RandomHorizontalFlip()]
    # It takes its rank from the process group that Ray made; prepare_data_loader is for DataLoaders only.
    loader = stoker.Loader(given["server"], batch_size=16, dtype="float32", device=get_device(), transforms=augment)
    convolution = nn.Conv2d(3, 16, 5, stride=4)
    layers = convolution, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, given["classes"])
    network = nn.Sequential(*layers)
    model = prepare_model(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    parts = {"network": network, "optimizer": optimizer, "loader": loader}
    if checkpoint := ray.train.get_checkpoint():
        with checkpoint.as_directory() as folder:
            saved = torch.load(Path(folder, "state.pt"), map_location=get_device())
        for name, part in parts.items():
            part.load_state_dict(saved[name])

    for epoch in range(loader.epoch, given["epochs"]):
        loader.set_epoch(epoch)
        for step, (images, labels) in enumerate(loader, 1):
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 5 == 0:
                with tempfile.TemporaryDirectory() as folder:
                    torch.save({name: part.state_dict() for name, part in parts.items()}, Path(folder, "state.pt"))
                    first = ray.train.get_context().get_world_rank() == 0
                    ray.train.report({"loss": loss.item()}, checkpoint=Checkpoint(folder) if first else None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains with Ray Train on served photographs.")
    parser.add_argument("server", help="host:port of a stokerd")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    workers = ScalingConfig(num_workers=given.workers, use_gpu=torch.cuda.is_available())
    found = RunConfig(name="photographs", storage_path=str(Path("runs").absolute()))  # Its name finds checkpoints.
    TorchTrainer(train, train_loop_config=vars(given), scaling_config=workers, run_config=found).fit()
