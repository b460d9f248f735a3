"""The images that both TensorFlow peers make: decode_and_crop_jpeg, resize, flip."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

from peer import AREA, RATIO, SIZE


def make_image(data, mode):
    """uint8 [224, 224, 3] of a JPEG's bytes; `mode` is aliased or antialiased."""
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
