"""train_cnn.py with JAX alone: batches arrive as JAX's arrays, by DLPack.

    make-photo-folder photos --classes 4 && stokerd serve --data photos &
    python train_jax.py 127.0.0.1:7077 --classes 4
"""

import argparse

import jax
import jax.numpy as jnp

import stoker
from stoker import transforms


def make_parameters(key: jax.Array, classes: int) -> dict:
    initial = jax.nn.initializers.he_normal()
    keys = jax.random.split(key, 4)
    shapes = [(3, 3, 3, 16), (3, 3, 16, 32), (3, 3, 32, 64)]
    return {
        "convolutions": [initial(key, shape) for key, shape in zip(keys, shapes)],
        "scales": [jnp.ones(shape[-1]) for shape in shapes],
        "head": initial(keys[3], (64, classes)),
    }


def loss_of(parameters: dict, images: jax.Array, labels: jax.Array) -> jax.Array:
    x = images
    for kernel, scale in zip(parameters["convolutions"], parameters["scales"]):
        x = jax.lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(jax.nn.standardize(x, axis=(0, 1, 2)) * scale)
    logits = x.mean(axis=(1, 2)) @ parameters["head"]
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()


@jax.jit
def step_of(parameters: dict, velocity: dict, images: jax.Array, labels: jax.Array):
    loss, gradients = jax.value_and_grad(loss_of)(parameters, images, labels)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients)
    return loss, jax.tree.map(lambda p, v: p - 0.05 * v, parameters, velocity), velocity


def train(server: str, steps: int, classes: int, seed: int) -> None:
    loader = stoker.Loader(
        server,
        batch_size=32,
        device="cpu" if jax.default_backend() == "cpu" else "cuda",
        output="jax",
        seed=seed,
        transforms=[
            transforms.RandomResizedCrop(64, scale=(0.4, 1)),
            transforms.RandomHorizontalFlip(),
            transforms.ToDtype("float32", scale=True),
            transforms.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
            transforms.ToMemoryFormat("channels_last"),
        ],
    )
    if len(loader) == 0:
        raise SystemExit("the dataset has less than a batch of images")

    parameters = make_parameters(jax.random.key(seed), classes)
    velocity = jax.tree.map(jnp.zeros_like, parameters)
    losses = []
    step = 0
    while step < steps:
        for images, labels in loader:
            loss, parameters, velocity = step_of(parameters, velocity, images, labels)
            losses.append(loss)
            step += 1
            if step % 10 == 0:
                print(f"epoch {loader.epoch} step {step} loss {sum(map(float, losses)) / 10:.4f}", flush=True)
                losses.clear()
            if step == steps:
                break


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trains a small network on served photographs, with JAX.")
    parser.add_argument("server", help="host:port of a stokerd")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    train(**vars(parser.parse_args()))
