"""tfdata_peer.py aliased|antialiased: tf.data with decode_and_crop_jpeg, one thread."""

import os

from peer import AREA, RATIO, SIZE, serve

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
BATCH, QUEUED = 64, 2


def load(files, mode):
    import tensorflow as tf

    def make(data):
        whole = tf.constant([[[0.0, 0.0, 1.0, 1.0]]])
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.image.extract_jpeg_shape(data),
            whole,
            min_object_covered=0.0,
            aspect_ratio_range=RATIO,
            area_range=AREA,
            max_attempts=10,
            use_image_if_no_bounding_boxes=True,
        )
        image = tf.image.decode_and_crop_jpeg(data, tf.concat([begin[:2], size[:2]], 0), channels=3)
        image = tf.image.resize(image, [SIZE, SIZE], antialias=mode == "antialiased")
        return tf.image.random_flip_left_right(tf.cast(image, tf.uint8))

    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.threading.max_intra_op_parallelism = 1
    dataset = tf.data.Dataset.from_tensor_slices(files).repeat().map(make, num_parallel_calls=1)
    batches = iter(dataset.batch(BATCH).prefetch(QUEUED).with_options(options))
    return lambda: next(batches), f"TensorFlow {tf.__version__}"


serve(load, images=BATCH, queued=QUEUED)
