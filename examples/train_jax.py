"""Trains with JAX alone, and goes on from its last checkpoint, in mid-epoch too. Batches arrive as JAX's arrays, by DLPack.

    python train_jax.py 127.0.0.1:7077 --classes 4
"""

import argparse
import pickle
from pathlib import Path

import jax
import jax.numpy as jnp

import stoker
from stoker import transforms


def loss_of(parameters: list[jax.Array], images: jax.Array, labels: jax.Array) -> jax.Array:
    for kernel in parameters[:-1]:
        images = jax.lax.conv_general_dilated(images, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        images = jax.nn.relu(jax.nn.standardize(images, axis=(0, 1, 2)))
    logits = images.mean(axis=(1, 2)) @ parameters[-1]
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()


@jax.jit
def step_of(parameters: list[jax.Array], images: jax.Array, labels: jax.Array) -> tuple[list[jax.Array], jax.Array]:
    loss, gradients = jax.value_and_grad(loss_of)(parameters, images, labels)
    return jax.tree.map(lambda parameter, gradient: parameter - 0.2 * gradient, parameters, gradients), loss


def train(server: str, classes: int, epochs: int, checkpoint: Path) -> None:
    augment = [transforms.RandomResizedCrop(64, scale=(0.4, 1)), transforms.RandomHorizontalFlip()]
    device = "cpu" if jax.default_backend() == "cpu" else "cuda"
    options = dict(dtype="float32", layout="channels_last", device=device, output="jax")
    loader = stoker.Loader(server, batch_size=16, transforms=augment, **options)
    shapes = [(3, 3, 3, 16), (3, 3, 16, 32), (3, 3, 32, 64), (64, classes)]  # Three convolutions and a head.
    initial, keys = jax.nn.initializers.he_normal(), jax.random.split(jax.random.key(1), 4)
    parameters = [initial(key, shape) for key, shape in zip(keys, shapes)]
    if checkpoint.exists():
        parameters, place = pickle.loads(checkpoint.read_bytes())
        loader.load_state_dict(place)

    for epoch in range(loader.epoch, epochs):
        loader.set_epoch(epoch)
        for step, (images, labels) in enumerate(loader, 1):
            parameters, loss = step_of(parameters, images, labels)
            if step % 5 == 0:
                part = checkpoint.with_suffix(".part")
                part.write_bytes(pickle.dumps((jax.device_get(parameters), loader.state_dict())))
                part.replace(checkpoint)
        print(f"epoch {epoch} loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains a small network on served photographs, with JAX.")
    parser.add_argument("server", help="host:port of a stokerd")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint.pickle"))
    train(**vars(parser.parse_args()))
