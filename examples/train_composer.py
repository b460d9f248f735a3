"""Trains with Composer, validates after each epoch, and goes on from its last checkpoint, in mid-epoch too.

    composer -n 2 train_composer.py 127.0.0.1:7077 --classes 4
"""

import argparse

import torch
from composer import Callback, Trainer
from composer.models import ComposerClassifier
from torch import nn

import stoker
from stoker.transforms import CenterCrop, RandomHorizontalFlip, RandomResizedCrop, Resize


class KeepsThePlace(Callback):
    """Callbacks' states are in Composer's checkpoints, and with this one the loader's."""

    def __init__(self, loader: stoker.Loader) -> None:
        self.loader = loader

    def state_dict(self) -> dict:
        return self.loader.state_dict()

    def load_state_dict(self, state: dict) -> None:
        self.loader.load_state_dict(state)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains with Composer on served photographs.")
    parser.add_argument("server", help="host:port of a stokerd")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=2)
    given = parser.parse_args()
    # Loaders take their rank from what Composer's launcher sets. They are given as they are, not in a DataLoader.
    common = dict(batch_size=16, dtype="float32")
    training = stoker.Loader(given.server, **common, transforms=[RandomResizedCrop(64), RandomHorizontalFlip()])
    common.update(shuffle=False, last_batch="pad")  # Lest a rank have an empty batch.
    evaluation = stoker.Loader(given.server, **common, transforms=[Resize(72), CenterCrop(64)])
    convolution = nn.Conv2d(3, 16, 5, stride=4)
    network = nn.Sequential(convolution, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, given.classes))
    Trainer(
        model=ComposerClassifier(network, num_classes=given.classes),
        optimizers=torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9),
        train_dataloader=training,
        eval_dataloader=evaluation,
        max_duration=f"{given.epochs}ep",
        run_name="photographs",
        save_folder="checkpoints",
        save_interval="5ba",
        autoresume=True,
        spin_dataloaders=False,  # The loader knows its place.
        callbacks=KeepsThePlace(training),
    ).fit()
