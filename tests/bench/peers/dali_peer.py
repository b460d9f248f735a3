"""dali_peer.py aliased|antialiased [THREADS]: DALI on the CPU; it decodes the region of the crop alone."""

from peer import AREA, RATIO, SIZE, serve

BATCH, QUEUED = 64, 2


def load(files, mode, threads="1"):
    import numpy
    import nvidia.dali
    from nvidia.dali import fn, types

    antialias = mode == "antialiased"
    encoded = [numpy.frombuffer(data, numpy.uint8) for data in files]

    def batch(info):
        return encoded[info.idx_in_epoch % len(encoded)]

    @nvidia.dali.pipeline_def(batch_size=BATCH, num_threads=int(threads), device_id=None, seed=1, prefetch_queue_depth=QUEUED)
    def pipeline():
        data = fn.external_source(source=batch, batch=False, dtype=types.UINT8)
        image = fn.decoders.image_random_crop(
            data, device="cpu", output_type=types.RGB, random_area=list(AREA), random_aspect_ratio=list(RATIO)
        )
        interpolation = types.INTERP_TRIANGULAR if antialias else types.INTERP_LINEAR
        image = fn.resize(image, size=[SIZE, SIZE], interp_type=interpolation, antialias=antialias)
        return fn.flip(image, horizontal=fn.random.coin_flip(probability=0.5))

    built = pipeline()
    built.build()
    return built.run, f"DALI {nvidia.dali.__version__}"


serve(load, images=BATCH, queued=QUEUED)
