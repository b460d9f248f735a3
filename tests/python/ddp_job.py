"""A training job as users write it, of one process or of torchrun's many: test_ddp.py runs it and reads what it leaves.

In FOLDER: checkpoint.pt, from which it goes on; steps.jsonl, a line a step with what all ranks trained on; and
rank-R.json at the end. With --kill-step one rank kills itself after that step.
"""

import argparse
import json
import os
import signal
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

import stoker

CHECKPOINT_STEPS = 4
KILLED_RANK = 2


def gathered(numbers):
    """Of all ranks, in their order."""
    mine = torch.tensor(list(numbers), dtype=torch.int64)
    if not dist.is_initialized():
        return mine.tolist()
    of_ranks = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(of_ranks, mine)
    return torch.cat(of_ranks).tolist()


class Job:
    def __init__(self, server, batch_size, folder):
        self.folder = Path(folder)
        self.rank = dist.get_rank() if dist.is_initialized() else 0
        self.loader = stoker.Loader(server, batch_size=batch_size, dtype="float32", transforms=[], seed=5)
        torch.manual_seed(0)
        self.network = nn.Sequential(nn.Flatten(), nn.Linear(8 * 8 * 3, 16), nn.Tanh(), nn.Linear(16, 1))
        self.model = nn.parallel.DistributedDataParallel(self.network) if dist.is_initialized() else self.network
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.steps = 0

    def resume(self):
        path = self.folder / "checkpoint.pt"
        lines = []
        if path.exists():
            checkpoint = torch.load(path)
            self.network.load_state_dict(checkpoint["network"])
            self.loader.load_state_dict(checkpoint["loader"])
            self.steps = checkpoint["steps"]
            lines = (self.folder / "steps.jsonl").read_text().splitlines()[: self.steps]
        if self.rank == 0:  # What came after the checkpoint was lost with the job.
            (self.folder / "steps.jsonl").write_text("".join(line + "\n" for line in lines))

    def save(self):
        if self.rank == 0:
            state = {"network": self.network.state_dict(), "loader": self.loader.state_dict(), "steps": self.steps}
            torch.save(state, self.folder / "checkpoint.part")
            os.replace(self.folder / "checkpoint.part", self.folder / "checkpoint.pt")
        if dist.is_initialized():
            dist.barrier()

    def train(self, epochs, kill_step):
        for epoch in range(self.loader.epoch, epochs):
            self.loader.set_epoch(epoch)
            for images, numbers in self.loader:
                loss = nn.functional.mse_loss(self.model(images - 0.5), images.mean(dim=(1, 2, 3))[:, None] * 10)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.steps += 1
                self.note(numbers, loss)
                if self.steps % CHECKPOINT_STEPS == 0:
                    self.save()
                if self.steps == kill_step and self.rank == KILLED_RANK:
                    os.kill(os.getpid(), signal.SIGKILL)
        parameters = torch.cat([parameter.detach().flatten() for parameter in self.network.parameters()])
        told = {"steps": self.steps, "parameters": parameters.tolist()}
        (self.folder / f"rank-{self.rank}.json").write_text(json.dumps(told))

    def note(self, numbers, loss):
        info = self.loader.info
        step = {
            "epoch": info.epoch,
            "positions": gathered(info.positions),
            "sample_ids": gathered(info.sample_ids),
            "numbers": gathered(numbers),
            "loss": loss.item(),
        }
        if self.rank == 0:
            with open(self.folder / "steps.jsonl", "a") as file:
                file.write(json.dumps(step) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("folder")
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--kill-step", type=int)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
    job = Job(arguments.server, arguments.batch_size, arguments.folder)
    job.resume()
    job.train(arguments.epochs, arguments.kill_step)
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
