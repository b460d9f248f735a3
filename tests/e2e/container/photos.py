"""A folder of images of all formats that an image folder may have."""

import shutil
from pathlib import Path

from containerfile import ROOT

CORPUS = ROOT / "tests/fuzz/corpus"
FORMATS = ("jpeg", "png", "webp", "other")


def write_photos(folder, photographs=None):
    """Writes a class `formats` of the fuzzers' sound images, and a class `photographs` of a folder of JPEG files, if
    there is one. Returns the number of images."""
    (folder / "formats").mkdir(parents=True)
    for name in FORMATS:
        for file in sorted((CORPUS / name).iterdir()):
            # The names of the files in `other` say which format they have.
            ending = next(word for word in ("bmp", "pgm", "ppm", "tiff", name) if word in file.name or word == name)
            if not file.name.startswith("bad_"):
                shutil.copyfile(file, folder / "formats" / f"{file.name}.{ending}")
    if photographs and photographs.is_dir():
        (folder / "photographs").mkdir()
        for file in sorted(Path(photographs).rglob("*.JPEG")):
            shutil.copyfile(file, folder / "photographs" / file.name)
    return sum(path.is_file() for path in folder.rglob("*"))
