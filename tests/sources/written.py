"""One small set of photographs in several formats, each written by its reference tool in an environment of its own."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from dataclasses import dataclass

HERE = pathlib.Path(__file__).parent


@dataclass
class Written:
    photos: pathlib.Path  # class folders
    root: pathlib.Path  # has a folder for each format
    formats: list[str]  # those whose writers there are
    pipeline: pathlib.Path  # random crops, as a training job's


def write_formats(programs: pathlib.Path, run: str, wanted: list[str], work: pathlib.Path) -> Written:
    """Writes below `work` each FORMAT:PACKAGES of `wanted`. Ends the test as skipped where no writer can be had."""
    photos, root, pipeline = work / "photos", work / "root", work / "pipeline.yaml"
    make = ["--classes", "3", "--images", "60", "--width", "96", "--height", "64"]
    subprocess.run([programs / "make-photo-folder", photos, *make], check=True, stdout=subprocess.DEVNULL)
    formats = []
    for form, packages in (pair.split(":") for pair in wanted):
        listed = HERE / f"packages-{packages}.txt"
        ended = subprocess.run([run, listed, HERE / "write_shards.py", form, photos, root / form], check=False)
        assert ended.returncode in (0, 77), f"{form}: not written"
        if ended.returncode == 0:
            formats.append(form)
    if not formats:
        print("SKIPPED: no format's writer could be installed")
        sys.exit(77)
    pipeline.write_text("{ops: [{random_resized_crop: {size: [32]}}]}")
    return Written(photos, root, formats, pipeline)
