#!/usr/bin/env python3
"""Makes pillow_golden.h: what Pillow makes of noise by a perspective, and by a JPEG. Needs it and numpy."""

import io
import pathlib

from PIL import Image

from make_golden import noise

SIZES = [(9, 14), (7, 40), (17, 33)]
PERSPECTIVES = [
    (1, 0, 0, 0, 1, 0, 0, 0),
    (0.9, 0.1, -1.5, 0.05, 1.1, 0.5, 0.01, -0.02),
    (1.2, -0.3, 2.25, 0.2, 0.8, -1, -0.03, 0.04),
    (1, 0, 0, 0, 1, 0, -0.2, 0),  # It has a horizon, at x = 5.
]
QUALITIES = (1, 30, 75, 96, 100)

HEAD = """// Made by make_pillow_golden.py: Pillow's pixels, row by row, in hexadecimal.
#ifndef STOKER_TESTS_UNIT_SERVER_AUGMENT_PILLOW_GOLDEN_H_
#define STOKER_TESTS_UNIT_SERVER_AUGMENT_PILLOW_GOLDEN_H_

#include "common/ops/parameters.h"

namespace stoker {

struct GoldenPerspective {
  ImageSize size;
  PerspectiveParameters warp;
  const char* pixels;
};

struct GoldenJpeg {
  ImageSize size;
  RecompressParameters recompress;
  const char* pixels;
};

"""
TAIL = """
}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_AUGMENT_PILLOW_GOLDEN_H_
"""


def shown(image):
    pixels = image.tobytes().hex()
    return "\n".join(f'     "{pixels[i:i + 108]}"' for i in range(0, len(pixels), 108))


def perspectives():
    for height, width in SIZES[:2]:
        for coefficients in PERSPECTIVES:
            for name in ("NEAREST", "BILINEAR"):
                image = Image.fromarray(noise(height, width)).transform(
                    (width, height), Image.Transform.PERSPECTIVE, coefficients, Image.Resampling[name],
                    fillcolor=(10, 200, 30))
                numbers = ", ".join(repr(float(value)) for value in coefficients)
                yield (f"    {{{{{height}, {width}}}, {{{{{numbers}}}, v1::INTERPOLATION_{name}, {{10, 200, 30}}}},\n"
                       f"{shown(image)}}},\n")


def jpegs():
    for height, width in SIZES:
        for quality in QUALITIES:
            file = io.BytesIO()
            Image.fromarray(noise(height, width)).save(file, "jpeg", quality=quality)
            yield f"    {{{{{height}, {width}}}, {{{quality}}},\n{shown(Image.open(file))}}},\n"


def main():
    (pathlib.Path(__file__).parent / "pillow_golden.h").write_text(
        HEAD + "inline const GoldenPerspective kGoldenPerspectives[] = {\n" + "".join(perspectives())
        + "};\n\ninline const GoldenJpeg kGoldenJpegs[] = {\n" + "".join(jpegs()) + "};\n" + TAIL)


if __name__ == "__main__":
    main()
