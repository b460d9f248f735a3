// Made by make_golden.py. Files of tests/fuzz/corpus, and FNV-1a over Pillow's RGB pixels of each.
#ifndef STOKER_TESTS_UNIT_SERVER_DECODE_GOLDEN_H_
#define STOKER_TESTS_UNIT_SERVER_DECODE_GOLDEN_H_

#include <cstdint>

#include "common/fields/schema.h"

namespace stoker {

struct Golden {
  const char* name;
  ImageSize size;
  uint64_t pixels_hash;
};

// clang-format off
inline constexpr Golden kGolden[] = {
    {"jpeg_444", {21, 37}, 0x29b8c73eb2b6edad},
    {"jpeg_422", {21, 37}, 0xd6a2fe3fc156e40d},
    {"jpeg_420", {21, 37}, 0x16d76c06cc7b5a89},
    {"jpeg_440", {21, 37}, 0x85c0ee9aa7b7a58b},
    {"jpeg_411", {21, 37}, 0xae25bfe19dc20322},
    {"jpeg_410", {21, 37}, 0xc9dfe5790e2baaef},
    {"jpeg_420_progressive", {21, 37}, 0x16d76c06cc7b5a89},
    {"jpeg_420_restarts", {21, 37}, 0x16d76c06cc7b5a89},
    {"jpeg_420_arithmetic", {21, 37}, 0x16d76c06cc7b5a89},
    {"jpeg_rgb", {21, 37}, 0x335787658b66ea8e},
    {"jpeg_exif_rotated", {21, 37}, 0x16d76c06cc7b5a89},
    {"jpeg_gray", {21, 37}, 0xbbec7cf41547f6c4},
    {"jpeg_gray_progressive", {21, 37}, 0xbbec7cf41547f6c4},
    {"jpeg_cmyk", {21, 37}, 0xf33b858c53b5b213},
    {"jpeg_ycck", {21, 37}, 0x71f0c0cb91a4ccbd},
    {"jpeg_no_huffman_tables", {21, 37}, 0xbbec7cf41547f6c4},
    {"png_gray1", {21, 37}, 0x78c57339da57bb5b},
    {"png_gray2", {21, 37}, 0x9939e73194b50179},
    {"png_gray4", {21, 37}, 0x949141feb77ca1e1},
    {"png_gray8", {21, 37}, 0x002f26066bcd6d88},
    {"png_gray16", {21, 37}, 0x7c771d8045758c26},
    {"png_gray16_interlaced", {21, 37}, 0x7c771d8045758c26},
    {"png_gray8_alpha", {21, 37}, 0x6e9778ece9bc640e},
    {"png_gray16_alpha", {21, 37}, 0x6e9778ece9bc640e},
    {"png_rgb8", {21, 37}, 0x8e25d57393cfb508},
    {"png_rgb8_interlaced", {21, 37}, 0x8e25d57393cfb508},
    {"png_rgb8_transparent_color", {21, 37}, 0x8e25d57393cfb508},
    {"png_rgb16", {21, 37}, 0x8e25d57393cfb508},
    {"png_rgba8", {21, 37}, 0x36efdc08cab2956a},
    {"png_rgba16", {21, 37}, 0x36efdc08cab2956a},
    {"png_palette1", {21, 37}, 0x2d36aa48affd4ad2},
    {"png_palette2", {21, 37}, 0x9ee9220ff6d8d208},
    {"png_palette4", {21, 37}, 0x6c32425fdfac9e0c},
    {"png_palette4_too_short", {21, 37}, 0xb2dabe4cab95c4c8},
    {"png_palette8_transparent", {21, 37}, 0x69bdb7bfeb411ce7},
    {"webp_lossy", {21, 37}, 0x611c675053a0c8cf},
    {"webp_lossy_alpha", {21, 37}, 0x9a7232df89e3278c},
    {"webp_lossless", {21, 37}, 0x8e25d57393cfb508},
    {"webp_lossless_alpha", {21, 37}, 0x36efdc08cab2956a},
};

inline constexpr Golden kOtherGolden[] = {
    {"other_bmp24", {13, 20}, 0xfff0eb9f27725990},
    {"other_bmp8_palette", {13, 20}, 0x99aaf01e1e1b9151},
    {"other_ppm", {13, 20}, 0xfff0eb9f27725990},
    {"other_pgm", {13, 20}, 0x6effad2762a83fce},
    {"other_tiff", {13, 20}, 0xfff0eb9f27725990},
    {"other_tiff_lzw", {13, 20}, 0xfff0eb9f27725990},
};

// clang-format on

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_DECODE_GOLDEN_H_
