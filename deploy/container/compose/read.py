"""read.py [EPOCHS]: reads epochs from the servers that STOKER_SERVERS names, as a training job would, and says how
fast. Without EPOCHS it goes on until it is stopped. Needs the package stoker and nothing else."""

import os
import sys
import time

import stoker

epochs = int(sys.argv[1]) if len(sys.argv) > 1 else None
servers = os.environ["STOKER_SERVERS"]
with stoker.Loader(servers, batch_size=32, last_batch="partial", output="dlpack", connect_timeout=120) as loader:
    print(loader, flush=True)
    epoch = 0
    while epoch != epochs:
        begun, ids = time.monotonic(), set()
        for images, labels in loader:
            ids.update(loader.info.sample_ids)
        rate = len(ids) / (time.monotonic() - begun)
        print(f"epoch {loader.info.epoch}: {len(ids)} samples, {rate:.0f} a second", flush=True)
        epoch += 1
