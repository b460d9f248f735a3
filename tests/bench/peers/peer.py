"""What the peers of our benchmarks share: a random crop, and the lines that they exchange with a benchmark.

It writes the paths of the files, one a line, and an empty line; the peer answers `ready VERSIONS` or `skipped REASON`.
Then it writes how many seconds to run, and the peer answers with four numbers: the images that it made, and in seconds
the time on the wall, its own time on cores, and that of the processes that it started; again and again.
"""

import math
import os
import random
import sys
import time

AREA, RATIO, SIZE = (0.08, 1.0), (3 / 4, 4 / 3), 224
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def crop_box(height, width):
    """Top, left, height and width of torchvision's RandomResizedCrop."""
    for _ in range(10):
        area = random.uniform(*AREA) * height * width
        ratio = math.exp(random.uniform(math.log(RATIO[0]), math.log(RATIO[1])))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, height - h), random.randint(0, width - w), h, w
    return 0, 0, height, width


def children_cpu():
    """Seconds on cores of this process's living children."""
    ticks = 0
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as children:
            for child in children.read().split():
                with open(f"/proc/{child}/stat") as stat:
                    ticks += sum(map(int, stat.read().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def run(step, images, files, queued, seconds):
    """Runs `step`, which makes `images`, for `seconds` and on to the end of a pass over the files: how many it made, and
    the three times.

    First come as many untimed steps as empty the queue of a library that went on working between two turns."""
    for _ in range(queued + 2):
        step()
    made, start, cpu, children = 0, time.perf_counter(), time.process_time(), children_cpu()
    while True:
        passes = made // files
        step()
        made += images
        wall = time.perf_counter() - start
        if wall >= seconds and made // files > passes:
            return made, wall, time.process_time() - cpu, children_cpu() - children


def read(path):
    with open(path, "rb") as file:
        return file.read()


def serve(load, images=1, queued=0, content=True):
    """Speaks with a benchmark until it has enough. `load(files, *arguments)` takes the files' bytes, or their paths
    without `content`; it returns the step and the versions of what it is made with."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # What libraries print is no answer.
    files = [line.rstrip("\n") for line in iter(sys.stdin.readline, "\n")]
    count = max(1, len(files))
    try:
        step, versions = load([read(path) for path in files] if content else files, *sys.argv[1:])
        run(step, images, min(100, count), queued, 0)  # Warm.
    except Exception as reason:
        print("skipped", " ".join(str(reason).split())[:200] or type(reason).__name__, file=answers)
        return
    print("ready", versions, file=answers)
    for line in iter(sys.stdin.readline, ""):
        print(*run(step, images, count, queued, float(line)), file=answers)
