"""tfrecord_peer.py aliased|antialiased: tf.data over TFRecord files with decode_and_crop_jpeg, one thread."""

from peer import serve

BATCH, QUEUED, BUFFERED = 64, 2, 100


def load(files, mode):
    from tf_images import make_image, tf

    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.threading.max_intra_op_parallelism = 1
    features = {"image/encoded": tf.io.FixedLenFeature([], tf.string)}

    def make(record):
        return make_image(tf.io.parse_single_example(record, features)["image/encoded"], mode)

    dataset = tf.data.TFRecordDataset(files).shuffle(BUFFERED).repeat().map(make, num_parallel_calls=1)
    batches = iter(dataset.batch(BATCH).prefetch(QUEUED).with_options(options))
    return lambda: next(batches), f"TensorFlow {tf.__version__}"


serve(load, images=BATCH, queued=QUEUED, content=False)
