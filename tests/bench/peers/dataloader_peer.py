"""dataloader_peer.py WORKERS: PyTorch's DataLoader over torchvision's transforms on PIL images, as uint8 tensors."""

from peer import SIZE, serve

BATCH, QUEUED = 64, 2


def load(paths, workers):
    import PIL.Image
    import torch
    import torchvision
    from torchvision.transforms import v2 as transforms

    class Photos(torch.utils.data.Dataset):
        transform = transforms.Compose(
            [transforms.RandomResizedCrop(SIZE), transforms.RandomHorizontalFlip(), transforms.PILToTensor()]
        )

        def __len__(self):
            return 1 << 30

        def __getitem__(self, index):
            return self.transform(PIL.Image.open(paths[index % len(paths)]).convert("RGB"))

    torch.set_num_threads(1)
    batches = iter(torch.utils.data.DataLoader(Photos(), BATCH, num_workers=int(workers)))
    return lambda: next(batches), f"PyTorch {torch.__version__}, torchvision {torchvision.__version__}"


serve(load, images=BATCH, queued=2 * QUEUED, content=False)
