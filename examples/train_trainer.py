"""Trains with the Trainer of transformers, evaluates after each epoch, and goes on from its last checkpoint.

    torchrun --nproc-per-node 2 train_trainer.py 127.0.0.1:7077 --classes 4
"""

import argparse
import json
from pathlib import Path

import torch
from torch import nn
from transformers import Trainer, TrainerCallback, TrainingArguments

import stoker
from stoker.transforms import CenterCrop, RandomHorizontalFlip, RandomResizedCrop, Resize


class Network(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        convolution = nn.Conv2d(3, 16, 5, stride=4)
        self.layers = nn.Sequential(convolution, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, classes))

    def forward(self, image: torch.Tensor, label: torch.Tensor) -> dict:
        return {"loss": nn.functional.cross_entropy(logits := self.layers(image), label), "logits": logits}


class FromServers(Trainer):
    def get_train_dataloader(self) -> stoker.Loader:
        return self.train_dataset

    def get_eval_dataloader(self, dataset: object = None) -> stoker.Loader:
        return self.eval_dataset


class KeepsThePlace(TrainerCallback):
    def on_save(self, arguments, state, control, train_dataloader, **others) -> None:
        if state.is_world_process_zero:
            place = Path(arguments.output_dir, f"checkpoint-{state.global_step}", "loader.json")
            place.write_text(json.dumps(train_dataloader.state_dict()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains with transformers' Trainer on served photographs.")
    parser.add_argument("server", help="host:port of a stokerd")
    parser.add_argument("--classes", type=int, default=10)
    given = parser.parse_args()
    arguments = TrainingArguments(
        "checkpoints", num_train_epochs=2, per_device_train_batch_size=16, label_names=["label"],
        eval_strategy="epoch", save_steps=5, report_to=[], ignore_data_skip=True,  # The loader knows its place.
    )  # fmt: skip
    common = dict(batch_size=16, dtype="float32", as_dict=True, device=arguments.device)
    training = stoker.Loader(given.server, **common, transforms=[RandomResizedCrop(64), RandomHorizontalFlip()])
    common.update(shuffle=False, last_batch="pad")  # Lest a rank have an empty batch, whose loss is no number.
    evaluation = stoker.Loader(given.server, **common, transforms=[Resize(72), CenterCrop(64)])
    trainer = FromServers(Network(given.classes), arguments, None, training, evaluation, callbacks=[KeepsThePlace()])
    places = sorted(Path("checkpoints").glob("*/loader.json"), key=lambda place: place.stat().st_mtime)
    if places:
        training.load_state_dict(json.loads(places[-1].read_text()))
    trainer.train(resume_from_checkpoint=str(places[-1].parent) if places else None)
