#!/usr/bin/env python3
"""Makes golden.h: what Pillow's Image.resize makes of noise. Needs Pillow and numpy; was run with Pillow 9.4 (13 takes
the passes in the cheaper order, which may move a value by 1)."""

import math
import pathlib

import numpy as np
from PIL import Image

CASES = [  # Height, width; the box's top, left, height, width; height, width of the output.
    ((13, 17), (0, 0, 13, 17), (7, 5)),
    ((13, 17), (0, 0, 13, 17), (13, 25)),
    ((13, 17), (0, 0, 13, 17), (22, 17)),
    ((13, 17), (0, 0, 13, 17), (13, 17)),
    ((5, 4), (0, 0, 5, 4), (11, 9)),
    ((64, 3), (0, 0, 64, 3), (1, 1)),
    ((1, 1), (0, 0, 1, 1), (3, 2)),
    ((2, 200), (0, 0, 2, 200), (5, 3)),
    ((300, 2), (0, 0, 300, 2), (3, 7)),
    ((10, 100), (0, 0, 10, 100), (6, 77)),
    ((20, 30), (3, 5, 14, 21), (9, 8)),
    ((20, 30), (0.375, 4.75, 17.25, 20.5), (8, 11)),
    ((20, 30), (6.5, 9.125, 5.25, 7.625), (12, 13)),
    ((20, 30), (4.25, 7.375, 0.5, 1.25), (3, 4)),
]


def noise(height, width):
    """The upper bytes of the linear congruential generator of Numerical Recipes, from 1. So does resize_test.cc."""
    state, out = 1, []
    for _ in range(height * width * 3):
        state = (state * 1664525 + 1013904223) % 2**32
        out.append(state >> 24)
    return np.array(out, np.uint8).reshape(height, width, 3)


def cropped_and_resized(image, box, size, resampling):
    """Crops to whole pixels first: Pillow lets pixels outside of a box have a say."""
    top, left, height, width = box
    y, x = math.floor(top), math.floor(left)
    part = image.crop((x, y, math.ceil(left + width), math.ceil(top + height)))
    return part.resize(size[::-1], resampling, box=(left - x, top - y, left - x + width, top - y + height))


def main():
    lines = []
    for source, box, target in CASES:
        for name in ("NEAREST", "BILINEAR", "BICUBIC", "LANCZOS"):
            image = Image.fromarray(noise(*source))
            pixels = cropped_and_resized(image, box, target, Image.Resampling[name]).tobytes().hex()
            quoted = "\n".join(f'     "{pixels[i:i + 108]}"' for i in range(0, len(pixels), 108))
            numbers = ", ".join(map(str, box))
            lines.append(f"    {{{{{source[0]}, {source[1]}}}, {{{numbers}}}, {{{target[0]}, {target[1]}}}, "
                         f"v1::INTERPOLATION_{name},\n{quoted}}},\n")
    (pathlib.Path(__file__).parent / "golden.h").write_text(
        "// Made by make_golden.py: Pillow's pixels, row by row, in hexadecimal.\n"
        "#ifndef STOKER_TESTS_UNIT_SERVER_AUGMENT_GOLDEN_H_\n#define STOKER_TESTS_UNIT_SERVER_AUGMENT_GOLDEN_H_\n\n"
        "#include \"server/augment/resize/resize.h\"\n\nnamespace stoker {\n\n"
        "struct GoldenResize {\n  ImageSize from;\n  Box box;\n  ImageSize to;\n  v1::Interpolation interpolation;\n"
        "  const char* pixels;\n};\n\n"
        "inline constexpr GoldenResize kGoldenResizes[] = {\n" + "".join(lines) + "};\n\n}  // namespace stoker\n\n"
        "#endif  // STOKER_TESTS_UNIT_SERVER_AUGMENT_GOLDEN_H_\n")


if __name__ == "__main__":
    main()
