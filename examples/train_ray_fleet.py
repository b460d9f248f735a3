"""Trains with Ray Train on photographs that Stoker serves from the CPU nodes of the same Ray cluster.

    python train_ray_fleet.py photos --classes 4 --workers 2 --insecure

One stokerd runs on each node that has no GPU, for as long as the training lasts. They need the program stokerd in their
PATH, or where --stokerd says.
"""

import argparse
from pathlib import Path

import ray
import ray.train
import torch
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, get_device, prepare_model
from torch import nn

import stoker
import stoker.ray
from stoker import transforms


def train(given: dict) -> None:
    augment = [transforms.RandomResizedCrop(64), transforms.RandomHorizontalFlip()]
    # The servers may change while it trains: the loader sees that by itself.
    loader = stoker.Loader(given["servers"], batch_size=16, dtype="float32", device=get_device(), transforms=augment)
    given["servers"].watch(loader)  # By what loaders wait the fleet scales, if it is told to.
    convolution = nn.Conv2d(3, 16, 5, stride=4)
    layers = convolution, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, given["classes"])
    model = prepare_model(nn.Sequential(*layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(given["epochs"]):
        loader.set_epoch(epoch)
        losses = []
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        ray.train.report({"loss": sum(losses) / len(losses)})
        if ray.train.get_context().get_world_rank() == 0:
            print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains with Ray Train on photographs served by the cluster's nodes.")
    parser.add_argument("data", help="a folder of class folders, as the CPU nodes see it")
    parser.add_argument("--nodes", type=int, help="how many of them serve; default: all")
    parser.add_argument("--cpus", type=float, help="CPUs of each that serve; default: all")
    parser.add_argument("--stokerd", default="stokerd", help="the program on these nodes")
    parser.add_argument("--insecure", action="store_true", help="serve in plaintext, on a network that you trust")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    ray.init()  # Joins the cluster of RAY_ADDRESS, if there is one.
    serving = {"nodes": given.nodes, "cpus": given.cpus, "stokerd": given.stokerd, "insecure": given.insecure}
    with stoker.ray.serve(given.data, **serving) as fleet:
        workers = ScalingConfig(num_workers=given.workers, use_gpu=torch.cuda.is_available())
        kept = RunConfig(name="photographs", storage_path=str(Path("runs").absolute()))
        config = {"servers": fleet.servers, "classes": given.classes, "epochs": given.epochs}
        TorchTrainer(train, train_loop_config=config, scaling_config=workers, run_config=kept).fit()
