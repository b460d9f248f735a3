"""streaming_peer.py FOLDER: mosaicml-streaming over MDS shards, at a path or in a bucket, in this process and shuffled.
What it downloads it keeps in FOLDER for an epoch, and then downloads again."""

import shutil

from peer import serve


def load(places, folder):
    import streaming
    from stored_images import endless
    from streaming.base.util import clean_stale_shared_memory

    [place] = places
    clean_stale_shared_memory()

    def epoch():
        where = {"local": place}
        if place.startswith("s3://"):
            shutil.rmtree(folder, ignore_errors=True)
            where = {"local": folder, "remote": place}
        dataset = streaming.StreamingDataset(**where, shuffle=True, batch_size=64)
        return (sample["image"] for sample in dataset)

    images = endless(epoch)
    return lambda: next(images), f"mosaicml-streaming {streaming.__version__}"


serve(load, content=False)
