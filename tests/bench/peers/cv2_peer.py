"""cv2_peer.py linear|area: cv2.imdecode, crop and cv2.resize."""

import itertools
import random

from peer import SIZE, crop_box, serve


def load(files, mode):
    import cv2
    import numpy

    cv2.setNumThreads(1)
    interpolation = {"linear": cv2.INTER_LINEAR, "area": cv2.INTER_AREA}[mode]
    stream = itertools.cycle(numpy.frombuffer(data, numpy.uint8) for data in files)

    def step():
        image = cv2.imdecode(next(stream), cv2.IMREAD_COLOR)
        top, left, height, width = crop_box(*image.shape[:2])
        image = cv2.resize(image[top : top + height, left : left + width], (SIZE, SIZE), interpolation=interpolation)
        if random.random() < 0.5:
            image = cv2.flip(image, 1)
        return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)

    return step, f"OpenCV {cv2.__version__}"


serve(load)
