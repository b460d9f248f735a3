"""What the peers that read shards make of an encoded image: decoded by Pillow, cropped, resized and flipped."""

import io

import PIL.Image
import torch
from torchvision.transforms import v2 as transforms

from peer import SIZE

torch.set_num_threads(1)
DRAWN = transforms.Compose([transforms.RandomResizedCrop(SIZE), transforms.RandomHorizontalFlip(), transforms.PILToTensor()])


def make_image(data):
    """uint8 [3, 224, 224] of an encoded image's bytes."""
    return DRAWN(PIL.Image.open(io.BytesIO(data)).convert("RGB"))


def endless(epoch):
    """The images of one epoch after another; `epoch` makes an iterator of encoded images."""
    while True:
        for data in epoch():
            yield make_image(data)
