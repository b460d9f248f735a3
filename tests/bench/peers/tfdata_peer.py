"""tfdata_peer.py aliased|antialiased: tf.data with decode_and_crop_jpeg, one thread."""

from peer import serve

BATCH, QUEUED = 64, 2


def load(files, mode):
    from tf_images import make_image, tf

    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.threading.max_intra_op_parallelism = 1
    dataset = tf.data.Dataset.from_tensor_slices(files).repeat()
    dataset = dataset.map(lambda data: make_image(data, mode), num_parallel_calls=1)
    batches = iter(dataset.batch(BATCH).prefetch(QUEUED).with_options(options))
    return lambda: next(batches), f"TensorFlow {tf.__version__}"


serve(load, images=BATCH, queued=QUEUED)
