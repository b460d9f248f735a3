"""stoker_peer.py STOKERD FOLDER WORKERS KIND: stoker.Loader and a server of its own, beside dataloader_peer.py.

KIND: uint8 or float32. The server's time is that of a process that this one started.
"""

import subprocess
import sys
import tempfile

from peer import MEAN, SIZE, STD, serve

BATCH, QUEUED = 64, 4


def load(paths, stokerd, folder, workers, kind):
    import torch

    import stoker
    from stoker import transforms

    torch.set_num_threads(1)
    pipeline = [transforms.RandomResizedCrop(SIZE), transforms.RandomHorizontalFlip()]
    if kind == "float32":
        pipeline += [transforms.ToDtype("float32", scale=True), transforms.Normalize(MEAN, STD)]
    address = server.stdout.readline().strip().removeprefix("listening on ")
    loader = stoker.Loader(address, batch_size=BATCH, transforms=pipeline, output="torch", prefetch=QUEUED)

    def forever():
        while True:
            yield from loader

    batches = forever()
    return lambda: next(batches), f"stoker {stoker.__version__}"


stokerd, folder, workers, kind = sys.argv[1:]
with tempfile.TemporaryDirectory() as cache:
    command = [stokerd, "serve", "--data", folder, "--workers", workers, "--cache-dir", cache, "--log-level", "error"]
    server = subprocess.Popen(
        [*command, "--listen", "127.0.0.1:0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    try:
        serve(load, images=BATCH, queued=4 * QUEUED, content=False)  # The server has made some ahead, too.
    finally:
        server.kill()
        server.wait()
