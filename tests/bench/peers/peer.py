"""What the peers of bench-engine share: its random crop, and the lines that they exchange with it.

It writes the paths of the files, one a line, and an empty line; the peer answers `ready VERSIONS` or `skipped REASON`.
Then it writes how many seconds to run and which clock to count by, `wall` or `cpu`, and the peer answers how many
images it made each second; again and again.
"""

import math
import os
import random
import sys
import time

AREA, RATIO, SIZE = (0.08, 1.0), (3 / 4, 4 / 3), 224


def crop_box(height, width):
    """Top, left, height and width of torchvision's RandomResizedCrop."""
    for _ in range(10):
        area = random.uniform(*AREA) * height * width
        ratio = math.exp(random.uniform(math.log(RATIO[0]), math.log(RATIO[1])))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, height - h), random.randint(0, width - w), h, w
    return 0, 0, height, width


def images_per_second(step, images, files, queued, seconds, clock):
    """Runs `step`, which makes `images`, for `seconds` and on to the end of a pass over the files.

    First come as many untimed steps as empty the queue of a library that went on working between two turns."""
    for _ in range(queued + 2):
        step()
    count = {"wall": time.perf_counter, "cpu": time.process_time}[clock]
    made, start, counted = 0, time.perf_counter(), count()
    while True:
        passes = made // files
        step()
        made += images
        if time.perf_counter() - start >= seconds and made // files > passes:
            return made / (count() - counted)


def serve(load, images=1, queued=0):
    """Speaks with bench-engine until it has enough. `load(files, mode)` takes the files' bytes; it returns the step
    and the versions of what it is made with."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # What libraries print is no answer.
    files = []
    for line in iter(sys.stdin.readline, "\n"):
        with open(line.rstrip("\n"), "rb") as file:
            files.append(file.read())
    try:
        step, versions = load(files, sys.argv[1])
        images_per_second(step, images, min(100, len(files)), queued, 0, "wall")  # Warm.
    except Exception as reason:
        print("skipped", " ".join(str(reason).split())[:200] or type(reason).__name__, file=answers)
        return
    print("ready", versions, file=answers)
    for line in iter(sys.stdin.readline, ""):
        seconds, clock = line.split()
        print(images_per_second(step, images, len(files), queued, float(seconds), clock), file=answers)
