"""dataloader_peer.py WORKERS [KIND]: PyTorch's DataLoader over torchvision's transforms on PIL images.

KIND: uint8, which is the default; float32, normalized by the workers, as training scripts have it; or
float32-by-trainer, for which the workers send uint8 and the training process converts whole batches.
"""

from peer import MEAN, SIZE, STD, serve

BATCH, QUEUED = 64, 2


def load(paths, workers, kind="uint8"):
    import PIL.Image
    import torch
    import torchvision
    from torchvision.transforms import v2 as transforms

    drawn = [transforms.RandomResizedCrop(SIZE), transforms.RandomHorizontalFlip(), transforms.PILToTensor()]
    floats = transforms.Compose([transforms.ToDtype(torch.float32, scale=True), transforms.Normalize(MEAN, STD)])

    class Photos(torch.utils.data.Dataset):
        transform = transforms.Compose([*drawn, floats] if kind == "float32" else drawn)

        def __len__(self):
            return 1 << 30

        def __getitem__(self, index):
            return self.transform(PIL.Image.open(paths[index % len(paths)]).convert("RGB"))

    torch.set_num_threads(1)
    batches = iter(torch.utils.data.DataLoader(Photos(), BATCH, num_workers=int(workers)))
    finish = floats if kind == "float32-by-trainer" else lambda images: images
    return lambda: finish(next(batches)), f"PyTorch {torch.__version__}, torchvision {torchvision.__version__}"


serve(load, images=BATCH, queued=2 * QUEUED, content=False)
