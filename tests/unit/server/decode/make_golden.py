#!/usr/bin/env python3
"""Makes the small images that decoders are tested and fuzzed with, and golden.h with Pillow's pixels as hashes.

Needs Pillow, numpy and cjpeg (Debian: libjpeg-turbo-progs). golden.h was made with Pillow 12.0.
"""

import io
import pathlib
import struct
import subprocess
import zlib

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parents[2] / "fuzz" / "corpus"  # A folder a format.
WIDTH, HEIGHT = 37, 21  # Neither is a multiple of a block.


def path_of(name):
    """"bad_png_bomb" lies in the folder "png"."""
    folder = CORPUS / name.removeprefix("bad_").split("_")[0]
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


def picture(channels, dtype=np.uint8):
    """Smooth slopes, a hard edge and some noise."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    planes = [(3 + c) * x + (7 - 2 * c) * y for c in range(channels)]
    pixels = np.stack(planes, axis=-1) + 90 * ((x > 20) & (y > 8))[..., None]
    pixels = pixels + np.random.default_rng(1).integers(0, 25, pixels.shape)
    if dtype == np.uint16:
        return (np.clip(pixels, 0, 255) * 257 - pixels % 200).astype(np.uint16)
    return np.clip(pixels, 0, 255).astype(np.uint8)


def encoded(image, **options):
    file = io.BytesIO()
    image.save(file, **options)
    return file.getvalue()


def jpeg(mode="RGB", **options):
    pixels = picture(len(Image.new(mode, (1, 1)).getbands()))
    return encoded(Image.fromarray(pixels.squeeze(), mode), format="JPEG", **{"quality": 80, "optimize": True, **options})


def cjpeg(*options):
    return subprocess.run(["cjpeg", "-quality", "80", *options], input=encoded(Image.fromarray(picture(3)), format="PPM"),
                          capture_output=True, check=True).stdout


def rotated():
    exif = Image.Exif()
    exif[0x0112] = 6  # Orientation: turn right to view.
    return exif


def ycck():
    """The CMYK file with its first three channels declared, and stored, as YCC."""
    return jpeg("CMYK").replace(b"Adobe\0\x64\0\0\0\0\0", b"Adobe\0\x64\0\0\0\0\x02")


def without(marker, file):
    """`file` without its segments of `marker`."""
    out, at = file[:2], 2
    while file[at + 1] != 0xDA:
        end = at + 2 + struct.unpack_from(">H", file, at + 2)[0]
        if file[at + 1] != marker:
            out += file[at:end]
        at = end
    return out + file[at:]


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PNG_GRAY, PNG_RGB, PNG_PALETTE, PNG_GRAY_ALPHA, PNG_RGBA = 0, 2, 3, 4, 6
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def png_rows(samples, bits):
    """Unfiltered scanlines of samples, H×W×C."""
    rows = b""
    for row in samples:
        row = row.reshape(-1)
        if bits == 16:
            data = row.astype(">u2").tobytes()
        elif bits == 8:
            data = row.astype(np.uint8).tobytes()
        else:
            digits = np.unpackbits(row.astype(np.uint8)[:, None], axis=1)[:, 8 - bits:]
            data = np.packbits(digits.reshape(-1)).tobytes()
        rows += b"\0" + data
    return rows


def png(samples, color_type, bits, interlaced=False, chunks=b""):
    header = struct.pack(">IIBBBBB", samples.shape[1], samples.shape[0], bits, color_type, 0, 0, int(interlaced))
    if interlaced:
        rows = b"".join(png_rows(samples[y::dy, x::dx], bits) for x, y, dx, dy in ADAM7)
    else:
        rows = png_rows(samples, bits)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunks + chunk(b"IDAT", zlib.compress(rows, 9)) +
            chunk(b"IEND", b""))


def palette(entries):
    return chunk(b"PLTE", bytes((i * 37 + c * 91) % 256 for i in range(entries) for c in range(3)))


def webp(mode="RGB", **options):
    return encoded(Image.fromarray(picture(len(mode)), mode), format="WEBP", **options)


def animated_webp():
    frames = [Image.fromarray(picture(3)), Image.fromarray(255 - picture(3))]
    return encoded(frames[0], format="WEBP", save_all=True, append_images=frames[1:], quality=20)


def files():
    gray16 = picture(1, np.uint16)
    gray16[::3] %= 256  # Pillow clips 16-bit gray: let some of it survive.
    return {
        "jpeg_444": jpeg(subsampling=0),
        "jpeg_422": jpeg(subsampling=1),
        "jpeg_420": jpeg(subsampling=2),
        "jpeg_440": cjpeg("-sample", "1x2", "-optimize"),
        "jpeg_411": cjpeg("-sample", "4x1", "-optimize"),
        "jpeg_410": cjpeg("-sample", "4x2", "-optimize"),
        "jpeg_420_progressive": jpeg(subsampling=2, progressive=True),
        "jpeg_420_restarts": jpeg(subsampling=2, restart_marker_blocks=1),
        "jpeg_420_arithmetic": cjpeg("-sample", "2x2", "-arithmetic"),
        "jpeg_rgb": cjpeg("-rgb", "-optimize"),
        "jpeg_exif_rotated": jpeg(subsampling=2, exif=rotated()),
        "jpeg_gray": jpeg("L"),
        "jpeg_gray_progressive": jpeg("L", progressive=True),
        "jpeg_cmyk": jpeg("CMYK"),
        "jpeg_ycck": ycck(),
        "jpeg_no_huffman_tables": without(0xC4, jpeg("L", optimize=False)),
        "png_gray1": png(picture(1) // 128, PNG_GRAY, 1),
        "png_gray2": png(picture(1) // 64, PNG_GRAY, 2),
        "png_gray4": png(picture(1) // 16, PNG_GRAY, 4),
        "png_gray8": png(picture(1), PNG_GRAY, 8),
        "png_gray16": png(gray16, PNG_GRAY, 16),
        "png_gray16_interlaced": png(gray16, PNG_GRAY, 16, interlaced=True),
        "png_gray8_alpha": png(picture(2), PNG_GRAY_ALPHA, 8),
        "png_gray16_alpha": png(picture(2, np.uint16), PNG_GRAY_ALPHA, 16),
        "png_rgb8": encoded(Image.fromarray(picture(3)), format="PNG"),
        "png_rgb8_interlaced": png(picture(3), PNG_RGB, 8, interlaced=True),
        "png_rgb8_transparent_color": png(picture(3), PNG_RGB, 8,
                                          chunks=chunk(b"tRNS", struct.pack(">HHH", *picture(3)[0, 0]))),
        "png_rgb16": png(picture(3, np.uint16), PNG_RGB, 16),
        "png_rgba8": png(picture(4), PNG_RGBA, 8),
        "png_rgba16": png(picture(4, np.uint16), PNG_RGBA, 16),
        "png_palette1": png(picture(1) // 128, PNG_PALETTE, 1, chunks=palette(2)),
        "png_palette2": png(picture(1) // 64, PNG_PALETTE, 2, chunks=palette(4)),
        "png_palette4": png(picture(1) // 16, PNG_PALETTE, 4, chunks=palette(16)),
        "png_palette4_too_short": png(picture(1) // 16, PNG_PALETTE, 4, chunks=palette(5)),
        "png_palette8_transparent": png(picture(1), PNG_PALETTE, 8,
                                        chunks=palette(256) + chunk(b"tRNS", bytes(range(0, 200)))),
        "webp_lossy": webp(quality=60),
        "webp_lossy_alpha": webp("RGBA", quality=60),
        "webp_lossless": webp(lossless=True),
        "webp_lossless_alpha": webp("RGBA", lossless=True, exact=True),
    }


def other_files():
    """Small ones: hardly any of these formats compress."""
    rgb = Image.fromarray(picture(3)[:13, :20])
    return {
        "other_bmp24": encoded(rgb, format="BMP"),
        "other_bmp8_palette": encoded(rgb.quantize(200), format="BMP"),
        "other_ppm": encoded(rgb, format="PPM"),
        "other_pgm": encoded(rgb.convert("L"), format="PPM"),
        "other_tiff": encoded(rgb, format="TIFF"),
        "other_tiff_lzw": encoded(rgb, format="TIFF", compression="tiff_lzw"),
    }


def undecodable_files():
    still = webp(quality=60)
    frame = still.index(b"\x9d\x01\x2a") + 3
    header = struct.pack(">IIBBBBB", 56321, 7789, 8, PNG_RGB, 0, 0, 0)
    baseline = jpeg(subsampling=2)
    start_of_frame = baseline.index(b"\xff\xc0")
    return {
        "bad_jpeg_bomb": baseline[:start_of_frame + 5] + struct.pack(">HH", 7789, 56321) +
                         baseline[start_of_frame + 9:],
        "bad_jpeg_12_bits": baseline[:start_of_frame + 4] + b"\x0c" + baseline[start_of_frame + 5:],
        "bad_jpeg_lossless": baseline.replace(b"\xff\xc0", b"\xff\xc3", 1),
        "bad_png_bomb": b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 99)),
        "bad_webp_bomb": still[:frame] + struct.pack("<HH", 16383, 16383) + still[frame + 4:],
        "bad_webp_animated": animated_webp(),
    }


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def golden(array, files):
    """Writes the files; returns the C++ array that says their pixels."""
    lines = []
    for name, data in files.items():
        path_of(name).write_bytes(data)
        image = Image.open(io.BytesIO(data)).convert("RGB")
        lines.append(f'    {{"{name}", {{{image.height}, {image.width}}}, 0x{fnv1a(image.tobytes()):016x}}},\n')
    return f"inline constexpr Golden {array}[] = {{\n" + "".join(lines) + "};\n\n"


def main():
    arrays = golden("kGolden", files()) + golden("kOtherGolden", other_files())
    for name, data in undecodable_files().items():
        path_of(name).write_bytes(data)
    (HERE / "golden.h").write_text(
        "// Made by make_golden.py. Files of tests/fuzz/corpus, and FNV-1a over Pillow's RGB pixels of each.\n"
        "#ifndef STOKER_TESTS_UNIT_SERVER_DECODE_GOLDEN_H_\n#define STOKER_TESTS_UNIT_SERVER_DECODE_GOLDEN_H_\n\n"
        "#include <cstdint>\n\n#include \"common/fields/schema.h\"\n\nnamespace stoker {\n\n"
        "struct Golden {\n  const char* name;\n  ImageSize size;\n  uint64_t pixels_hash;\n};\n\n"
        "// clang-format off\n" + arrays + "// clang-format on\n\n}  // namespace stoker\n\n"
        "#endif  // STOKER_TESTS_UNIT_SERVER_DECODE_GOLDEN_H_\n")


if __name__ == "__main__":
    main()
