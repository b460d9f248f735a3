"""albumentations_peer.py linear|area: cv2.imdecode and Albumentations, with its default interpolation or area's."""

import itertools
import os

from peer import AREA, RATIO, SIZE, serve

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"


def load(files, mode):
    import albumentations
    import cv2
    import numpy

    cv2.setNumThreads(1)
    interpolation = {"linear": cv2.INTER_LINEAR, "area": cv2.INTER_AREA}[mode]
    transform = albumentations.Compose(
        [
            albumentations.RandomResizedCrop((SIZE, SIZE), scale=AREA, ratio=RATIO, interpolation=interpolation),
            albumentations.HorizontalFlip(p=0.5),
        ]
    )
    stream = itertools.cycle(numpy.frombuffer(data, numpy.uint8) for data in files)

    def step():
        image = cv2.cvtColor(cv2.imdecode(next(stream), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
        return transform(image=image)["image"]

    return step, f"Albumentations {albumentations.__version__}, OpenCV {cv2.__version__}"


serve(load)
