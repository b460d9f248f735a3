#!/usr/bin/env python3
"""Makes self_check_images.h: one small image for each way through the decoders. Needs Pillow and numpy.

Other images give another pixel check: run this only together with a raise of the pixel version.
"""

import io
import pathlib

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 29, 19  # Neither is a multiple of a block.


def picture(mode):
    """Smooth slopes, a hard edge and some noise."""
    channels = len(Image.new(mode, (1, 1)).getbands())
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    pixels = np.stack([(4 + c) * x + (9 - 2 * c) * y for c in range(channels)], axis=-1)
    pixels += 70 * ((x > 15) & (y > 7))[..., None]
    pixels += np.random.default_rng(1).integers(0, 12, pixels.shape)
    data = np.clip(pixels, 0, 255).astype(np.uint8)
    return Image.frombytes(mode, (WIDTH, HEIGHT), data.tobytes())


def encoded(mode, file_format, **options):
    file = io.BytesIO()
    picture(mode).save(file, file_format, **options)
    return file.getvalue()


IMAGES = {
    "JPEG, 4:2:0": encoded("RGB", "JPEG", quality=70, subsampling=2, optimize=True),
    "progressive JPEG, 4:2:2": encoded("RGB", "JPEG", quality=70, subsampling=1, progressive=True),
    "gray JPEG": encoded("L", "JPEG", quality=70, optimize=True),
    "CMYK JPEG": encoded("CMYK", "JPEG", quality=50, optimize=True),
    "PNG": encoded("L", "PNG", optimize=True),
    "lossy WebP": encoded("RGB", "WEBP", quality=60),
    "lossless WebP": encoded("L", "WEBP", lossless=True),
}


def main():
    entries = []
    for name, data in IMAGES.items():
        rows = "\n".join('     "' + data[i:i + 52].hex() + '"' for i in range(0, len(data), 52))
        entries.append(f'    {{"{name}",\n{rows}}},\n')
    (pathlib.Path(__file__).parent / "self_check_images.h").write_text(
        "// Made by make_self_check_images.py.\n"
        "#ifndef STOKER_SERVER_AUGMENT_SELF_CHECK_IMAGES_H_\n#define STOKER_SERVER_AUGMENT_SELF_CHECK_IMAGES_H_\n\n"
        "namespace stoker {\n\nstruct SelfCheckImage {\n  const char* name;\n  const char* file;  // in hexadecimal\n};\n\n"
        "inline constexpr SelfCheckImage kSelfCheckImages[] = {\n" + "".join(entries) +
        "};\n\n}  // namespace stoker\n\n#endif  // STOKER_SERVER_AUGMENT_SELF_CHECK_IMAGES_H_\n")


if __name__ == "__main__":
    main()
