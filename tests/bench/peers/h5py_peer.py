"""h5py_peer.py FILE: encoded images in a variable-length dataset of an HDF5 file, read by h5py in the one worker of PyTorch's
DataLoader, shuffled. It writes FILE itself, of the tar shards at the paths that it is given."""

import itertools
import tarfile

from peer import serve

BATCH, QUEUED = 64, 2


def load(shards, path):
    import h5py
    import numpy as np
    import torch
    from stored_images import make_image

    images = []
    for shard in shards:
        with tarfile.open(shard) as tar:
            images += [tar.extractfile(member).read() for member in tar if member.name.endswith(".jpg")]
    with h5py.File(path, "w") as file:
        written = file.create_dataset("images", len(images), h5py.vlen_dtype(np.uint8))
        for i, image in enumerate(images):
            written[i] = np.frombuffer(image, np.uint8)

    class Images(torch.utils.data.Dataset):
        file = None  # opened in the worker: a handle does not survive a fork

        def __len__(self):
            return len(images)

        def __getitem__(self, index):
            self.file = self.file or h5py.File(path, "r")
            return make_image(self.file["images"][index].tobytes())

    loader = torch.utils.data.DataLoader(
        Images(), BATCH, shuffle=True, num_workers=1, drop_last=True, persistent_workers=True
    )
    batches = itertools.chain.from_iterable(itertools.repeat(loader))
    return lambda: next(batches), f"h5py {h5py.__version__}, PyTorch {torch.__version__}"


serve(load, images=BATCH, queued=2 * QUEUED, content=False)
