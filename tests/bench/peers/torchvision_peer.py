"""torchvision_peer.py pil|io: Image.open and transforms on PIL images, or decode_jpeg and transforms on tensors."""

import io
import itertools
import os

from peer import SIZE, serve

os.environ["OMP_NUM_THREADS"] = "1"


def load(files, mode):
    import numpy
    import PIL.Image
    import torch
    import torchvision

    try:
        from torchvision.transforms import v2 as transforms
    except ImportError:
        from torchvision import transforms  # Before 0.15, as in Debian 12.
    torch.set_num_threads(1)
    antialias = {} if mode == "pil" else {"antialias": True}  # PIL always does; old releases have no such argument.
    transform = transforms.Compose(
        [transforms.RandomResizedCrop(SIZE, **antialias), transforms.RandomHorizontalFlip()]
    )

    def on_pil(data):
        return numpy.asarray(transform(PIL.Image.open(io.BytesIO(data)).convert("RGB")))

    def on_tensors(data):
        return transform(torchvision.io.decode_jpeg(data, mode=torchvision.io.ImageReadMode.RGB))

    if mode == "pil":
        one, sources = on_pil, files
    else:
        one, sources = on_tensors, [torch.frombuffer(bytearray(data), dtype=torch.uint8) for data in files]
    stream = itertools.cycle(sources)
    return lambda: one(next(stream)), f"torchvision {torchvision.__version__}, Pillow {PIL.__version__}"


serve(load)
