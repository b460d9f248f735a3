#!/usr/bin/env python3
"""Makes golden.h: what Pillow's Image.resize makes of noise. Needs Pillow and numpy; was run with Pillow 12.0 (13 takes
the passes in the cheaper order, which may move a value by 1)."""

import pathlib

import numpy as np
from PIL import Image

SIZES = [  # From height, width to height, width.
    ((13, 17), (7, 5)),
    ((13, 17), (13, 25)),
    ((13, 17), (22, 17)),
    ((13, 17), (13, 17)),
    ((5, 4), (11, 9)),
    ((64, 3), (1, 1)),
    ((1, 1), (3, 2)),
    ((2, 200), (5, 3)),
    ((300, 2), (3, 7)),
    ((10, 100), (6, 77)),
]


def noise(height, width):
    """The upper bytes of the linear congruential generator of Numerical Recipes, from 1. So does resize_test.cc."""
    state, out = 1, []
    for _ in range(height * width * 3):
        state = (state * 1664525 + 1013904223) % 2**32
        out.append(state >> 24)
    return np.array(out, np.uint8).reshape(height, width, 3)


def main():
    lines = []
    for source, target in SIZES:
        for name in ("NEAREST", "BILINEAR", "BICUBIC"):
            resized = Image.fromarray(noise(*source)).resize(target[::-1], Image.Resampling[name])
            pixels = resized.tobytes().hex()
            quoted = "\n".join(f'     "{pixels[i:i + 108]}"' for i in range(0, len(pixels), 108))
            lines.append(f"    {{{{{source[0]}, {source[1]}}}, {{{target[0]}, {target[1]}}}, "
                         f"v1::INTERPOLATION_{name},\n{quoted}}},\n")
    (pathlib.Path(__file__).parent / "golden.h").write_text(
        "// Made by make_golden.py: Pillow's pixels, row by row, in hexadecimal.\n"
        "#ifndef STOKER_TESTS_UNIT_SERVER_AUGMENT_GOLDEN_H_\n#define STOKER_TESTS_UNIT_SERVER_AUGMENT_GOLDEN_H_\n\n"
        "#include \"common/pipeline/schema.h\"\n#include \"stoker/v1/pipeline.pb.h\"\n\nnamespace stoker {\n\n"
        "struct GoldenResize {\n  ImageSize from, to;\n  v1::Interpolation interpolation;\n  const char* pixels;\n};\n\n"
        "inline constexpr GoldenResize kGoldenResizes[] = {\n" + "".join(lines) + "};\n\n}  // namespace stoker\n\n"
        "#endif  // STOKER_TESTS_UNIT_SERVER_AUGMENT_GOLDEN_H_\n")


if __name__ == "__main__":
    main()
