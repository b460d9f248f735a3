"""webdataset_peer.py: webdataset over tar shards, paths or URLs, in this process; shards and samples in a drawn order."""

from peer import serve

BUFFERED = 100  # samples that it draws from, its own examples' order of size


def load(shards):
    import webdataset
    from stored_images import endless

    def epoch():
        dataset = webdataset.WebDataset(shards, shardshuffle=len(shards), seed=1).shuffle(BUFFERED)
        return (sample["jpg"] for sample in dataset)

    images = endless(epoch)
    return lambda: next(images), f"webdataset {webdataset.__version__}"


serve(load, content=False)
