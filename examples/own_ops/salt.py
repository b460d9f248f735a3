"""Two ops of one's own in Python, which a server runs: docs/own-ops.md.

    stokerd serve --data photos --ops salt.py
"""

import numpy as np

import stoker


@stoker.op(version=1)
def salt(image, rng, amount=0.01, pepper=False):
    """Makes some pixels white, or with pepper black."""
    if not 0 <= amount <= 1:
        raise ValueError(f"amount is {amount}; it is a share, from 0 to 1")
    image[rng.uniform(size=image.shape[:2]) < amount] = 0 if pepper else 255
    return image


@stoker.op(version=1, size=lambda height, width, by: (height // by, width // by), trial={"by": 2})
def thumbnail(image, rng, by: int):
    """Takes the mean of by × by pixels."""
    height, width = image.shape[0] // by, image.shape[1] // by
    blocks = image[: height * by, : width * by].reshape(height, by, width, by, 3)
    return (blocks.astype(np.uint32).sum(axis=(1, 3)) // by**2).astype(np.uint8)
