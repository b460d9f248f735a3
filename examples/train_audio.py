"""Trains a small network that tells sounds apart, and prints the loss as it goes.

The files have several sample rates and lengths. The servers resample them and take a stretch of each, which travels as
int16; the device makes floats of it. With --state FILE training goes on where it was stopped: with the next batch, in the
middle of an epoch.

    python make_data.py sounds sounds && stokerd serve --config sounds/stokerd.yaml &
    python train_audio.py 127.0.0.1:7077
"""

import argparse
from pathlib import Path

import torch
from torch import nn

import stoker
from stoker import transforms

CLASSES = 6


class Network(nn.Module):
    """Hears loudness at each frequency, as a spectrogram shows it, and how it changes."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(256))
        self.layers = nn.Sequential(
            nn.Conv1d(129, 64, 3),
            nn.ReLU(),
            nn.Conv1d(64, 64, 3),
            nn.ReLU(),
            nn.AdaptiveMaxPool1d(1),
            nn.Flatten(),
            nn.Linear(64, CLASSES),
        )

    def forward(self, audio: torch.Tensor) -> torch.Tensor:
        spectrum = torch.stft(audio.squeeze(-1), 256, 128, window=self.window, return_complex=True)
        return self.layers((spectrum.abs() + 1e-3).log())


def train(servers: list[str], steps: int, seed: int, state: Path | None) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = stoker.Loader(
        servers,
        batch_size=32,
        device=device,
        seed=seed,
        as_dict=True,
        output="torch",
        transforms=[
            transforms.Resample(8000),
            transforms.RandomAudioCrop(3000),
            transforms.ToDtype("float32", scale=True, field="audio"),
        ],
    )
    torch.manual_seed(seed)
    network = Network().to(device)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    step = 0
    if state is not None and state.exists():
        saved = torch.load(state)
        loader.load_state_dict(saved["loader"])
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        step = saved["step"]

    total = torch.zeros((), device=device)  # Stays on the device: reading it waits.
    while step < steps:
        for batch in loader:
            loss = nn.functional.cross_entropy(network(batch["audio"]), batch["label"])
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
    if state is not None:
        saved = {"loader": loader.state_dict(), "network": network.state_dict(), "step": step}
        torch.save({**saved, "optimizer": optimizer.state_dict()}, state)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains a small network on served sounds.")
    parser.add_argument("servers", nargs="+", help="host:port of each stokerd")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state", type=Path, help="file that training goes on from, and is saved in when it ends")
    train(**vars(parser.parse_args()))
