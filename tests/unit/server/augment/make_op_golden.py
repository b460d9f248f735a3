#!/usr/bin/env python3
"""Makes op_golden.h: what torchvision (0.14) makes of noise held as a PIL image (Pillow 9.4), and sums over what it
makes of every color. Needs both and numpy."""

import math
import pathlib

import numpy as np
import torchvision.transforms.functional as F
from PIL import Image

from make_golden import noise

COLORS = {  # Name in ColorParameters::Kind: the function and its values.
    "kBrightness": (F.adjust_brightness, (0, 0.4, 1, 1.7, 2.5)),
    "kContrast": (F.adjust_contrast, (0, 0.4, 1, 1.7, 2.5)),
    "kSaturation": (F.adjust_saturation, (0, 0.4, 1, 1.7, 2.5)),
    "kHue": (F.adjust_hue, (-0.5, -0.1, 0, 0.27, 0.5)),
    "kGrayscale": (lambda image, _: F.to_grayscale(image, 3), (0,)),
    "kYCbCr": (lambda image, _: image.convert("YCbCr"), (0,)),
    "kPosterize": (lambda image, bits: F.posterize(image, int(bits)), (0, 1, 5, 8)),
    "kSolarize": (F.solarize, (0, 100.5, 128, 256)),
    "kInvert": (lambda image, _: F.invert(image), (0,)),
    "kAutocontrast": (lambda image, _: F.autocontrast(image), (0,)),
    "kEqualize": (lambda image, _: F.equalize(image), (0,)),
}
CHAINS = [
    [("kBrightness", 1.3), ("kContrast", 0.7), ("kSaturation", 1.4), ("kHue", 0.08)],
    [("kHue", -0.3), ("kSaturation", 0.2), ("kContrast", 1.6), ("kBrightness", 0.9)],
    [("kPosterize", 3), ("kInvert", 0), ("kSolarize", 90), ("kBrightness", 1.1)],
    [("kSaturation", 1.8), ("kAutocontrast", 0), ("kPosterize", 6), ("kEqualize", 0), ("kYCbCr", 0)],
]
EVERY_COLOR = [("kSaturation", 0.6), ("kSaturation", 1.4), ("kHue", 0.1), ("kGrayscale", 0), ("kYCbCr", 0)]
BLURS = [((3, 3), (3, 3), 0.8), ((9, 31), (5, 5), 1.1), ((9, 31), (7, 3), 2.0), ((13, 17), (23, 23), 2.0),
         ((12, 12), (23, 23), 9.0), ((4, 50), (1, 7), 0.05), ((1, 6), (5, 1), 1.5), ((1, 1), (1, 1), 1.0)]
SIZES = [(9, 14), (7, 40), (1, 1)]


def shown(image):
    pixels = image.tobytes().hex()
    return "\n".join(f'     "{pixels[i:i + 108]}"' for i in range(0, len(pixels), 108))


def size_of(size):
    return f"{{{size[0]}, {size[1]}}}"


def apply(image, ops):
    for name, value in ops:
        image = COLORS[name][0](image, value)
    return Image.merge("RGB", image.split())  # YCbCr's bytes as they are.


def ops_of(ops):
    return "{" + ", ".join(f"{{ColorParameters::Kind::{name}, {value}}}" for name, value in ops) + "}"


def colors():
    for size in ((5, 7), (1, 1)):
        for name, (_, values) in COLORS.items():
            for value in values if size != (1, 1) else values[:1]:
                yield size, [(name, value)]
    yield (23, 19), [("kEqualize", 0)]
    for chain in CHAINS:
        yield (11, 37), chain


def digest(ops):
    """Sums what comes out of all colors, in their order, each value times an odd number of its own."""
    low = np.stack(np.meshgrid(np.arange(256), np.arange(256), indexing="ij"), -1).astype(np.uint8)
    total = 0
    for red in range(256):
        image = np.concatenate([np.full((256, 256, 1), red, np.uint8), low], -1)
        out = np.asarray(apply(Image.fromarray(image), ops)).reshape(-1).astype(np.uint64)
        place = np.arange(out.size, dtype=np.uint64) + np.uint64(red * out.size)
        total += int((out * (np.uint64(2) * place + np.uint64(1))).sum(dtype=np.uint64))
    return total % 2**64


def matrices(height, width):
    def around_center(a, b, c, d):
        x, y = width / 2, height / 2
        return (a, b, x - a * x - b * y, c, d, y - c * x - d * y)

    sine, cosine = math.sin(math.radians(37)), math.cos(math.radians(37))
    return [
        (1, 0, 0, 0, 1, 0),
        (1, 0, 2.3, 0, 1, -1.7),
        (-0.8, 0, width, 0, 1.3, 0.2),
        around_center(cosine, sine, -sine, cosine),
        around_center(-2 * sine, cosine, -cosine, -0.5 * sine),
        around_center(0, 1, -1, 0),
        (1, 0.3, 0, 0, 1, 0),
        (1, 0, 0, -0.4, 1, 0),
        (1, 0, 100, 0.1, 1, 0),
        (1, -9000, 45000.3, 0.01, 1, 0),  # Too far out for PIL's fixed point.
    ]


def main():
    out = []
    out.append("inline const GoldenColors kGoldenColors[] = {\n")
    for size, ops in colors():
        image = apply(Image.fromarray(noise(*size)), ops)
        out.append(f"    {{{size_of(size)}, {ops_of(ops)},\n{shown(image)}}},\n")
    out.append("};\n\ninline const GoldenDigest kGoldenDigests[] = {\n")
    for op in EVERY_COLOR:
        out.append(f"    {{{ops_of([op])[1:-1]}, {digest([op])}u}},\n")
    out.append("};\n\ninline const GoldenSharpness kGoldenSharpness[] = {\n")
    for size in SIZES + [(2, 5), (3, 3)]:
        for factor in (0, 0.3, 1, 2.5):
            image = F.adjust_sharpness(Image.fromarray(noise(*size)), factor)
            out.append(f"    {{{size_of(size)}, {{{factor}}},\n{shown(image)}}},\n")
    out.append("};\n\ninline const GoldenBlur kGoldenBlurs[] = {\n")
    for size, kernel, sigma in BLURS:
        image = F.gaussian_blur(Image.fromarray(noise(*size)), list(kernel), [sigma, sigma])
        out.append(f"    {{{size_of(size)}, {{{kernel[0]}, {kernel[1]}, {sigma}}},\n{shown(image)}}},\n")
    out.append("};\n\ninline const GoldenWarp kGoldenWarps[] = {\n")
    for size in SIZES:
        for matrix in matrices(*size):
            for name in ("NEAREST", "BILINEAR"):
                image = Image.fromarray(noise(*size)).transform(
                    size[::-1], Image.Transform.AFFINE, matrix, Image.Resampling[name], fillcolor=(10, 200, 30))
                numbers = ", ".join(repr(float(value)) for value in matrix)
                out.append(f"    {{{size_of(size)}, {{{{{numbers}}}, v1::INTERPOLATION_{name}, {{10, 200, 30}}}},\n"
                           f"{shown(image)}}},\n")
    out.append("};\n")
    (pathlib.Path(__file__).parent / "op_golden.h").write_text(
        "// Made by make_op_golden.py: torchvision's and Pillow's pixels, row by row, in hexadecimal.\n"
        "#ifndef STOKER_TESTS_UNIT_SERVER_AUGMENT_OP_GOLDEN_H_\n"
        "#define STOKER_TESTS_UNIT_SERVER_AUGMENT_OP_GOLDEN_H_\n\n"
        "#include <cstdint>\n#include <vector>\n\n#include \"common/ops/parameters.h\"\n\nnamespace stoker {\n\n"
        "struct GoldenColors {\n  ImageSize size;\n  std::vector<ColorParameters> ops;\n  const char* pixels;\n};\n\n"
        "// The sum over all colors in their order, red first, of each value times 2 · its index + 1.\n"
        "struct GoldenDigest {\n  ColorParameters op;\n  uint64_t sum;\n};\n\n"
        "struct GoldenSharpness {\n  ImageSize size;\n  SharpnessParameters sharpness;\n  const char* pixels;\n};\n\n"
        "struct GoldenBlur {\n  ImageSize size;\n  BlurParameters blur;\n  const char* pixels;\n};\n\n"
        "struct GoldenWarp {\n  ImageSize size;\n  WarpParameters warp;\n  const char* pixels;\n};\n\n"
        + "".join(out) + "\n}  // namespace stoker\n\n#endif  // STOKER_TESTS_UNIT_SERVER_AUGMENT_OP_GOLDEN_H_\n")


if __name__ == "__main__":
    main()
