"""Trains with Lightning, validates after each epoch, and goes on from its last checkpoint, in mid-epoch too.

    python train_lightning.py 127.0.0.1:7077 --classes 4 --devices 2
"""

import argparse
from pathlib import Path

import lightning.pytorch as pl
import torch
from torch import nn

import stoker
from stoker import transforms


class Classifier(pl.LightningModule):
    def __init__(self, server: str, classes: int) -> None:
        super().__init__()
        self.server = server
        convolution = nn.Conv2d(3, 16, 5, stride=4)
        self.network = nn.Sequential(convolution, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, classes))

    # Loaders are made here, where Lightning has started all ranks. Their state is in its checkpoints.
    def train_dataloader(self) -> stoker.Loader:
        augment = [transforms.RandomResizedCrop(64), transforms.RandomHorizontalFlip()]
        return stoker.Loader(self.server, batch_size=16, dtype="float32", transforms=augment)

    def val_dataloader(self) -> stoker.Loader:
        resize = [transforms.Resize(72), transforms.CenterCrop(64)]
        return stoker.Loader(
            self.server, batch_size=16, dtype="float32", transforms=resize, shuffle=False, last_batch="partial"
        )

    def training_step(self, batch: tuple, index: int) -> torch.Tensor:
        images, labels = batch
        return nn.functional.cross_entropy(self.network(images), labels)

    def validation_step(self, batch: tuple, index: int) -> None:
        images, labels = batch
        accuracy = (self.network(images).argmax(1) == labels).float().mean()
        self.log("accuracy", accuracy, batch_size=len(labels), sync_dist=True)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains with Lightning on served photographs.")
    parser.add_argument("server", help="host:port of a stokerd")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--checkpoints", type=Path, default=Path("checkpoints"))
    given = parser.parse_args()
    keep = pl.callbacks.ModelCheckpoint(given.checkpoints, save_last=True, every_n_train_steps=5)
    trainer = pl.Trainer(max_epochs=given.epochs, devices=given.devices, callbacks=[keep], logger=False)
    last = given.checkpoints / "last.ckpt"
    trainer.fit(Classifier(given.server, given.classes), ckpt_path=last if last.exists() else None)
