#ifndef STOKER_TESTS_UNIT_SERVER_DECODE_MADE_JPEG_H_
#define STOKER_TESTS_UNIT_SERVER_DECODE_MADE_JPEG_H_

#include <cstdint>
#include <span>
#include <vector>

#include "common/fields/schema.h"

namespace stoker {

// How a test's JPEG is coded.
struct JpegRecipe {
  ImageSize size = {64, 64};
  int components = 3;                // 1 for gray, 3 for YCbCr, 4 for CMYK
  int horizontal = 2, vertical = 2;  // luma's sampling factors
  int quality = 85;
  bool progressive = false;
  bool optimize = false;     // whether it has Huffman tables of its own
  int restart_interval = 0;  // in MCUs
};

// Makes a JPEG of smooth shapes and noise, drawn by `seed`, by libjpeg.
std::vector<uint8_t> MakeJpeg(const JpegRecipe& recipe, uint32_t seed);

// Decodes the whole `file` by libjpeg alone, at `eighths` eighths of its size. Returns packed RGB, or CMYK as it is
// stored, and sets `size`.
std::vector<uint8_t> DecodeByLibjpeg(std::span<const uint8_t> file, int eighths, ImageSize& size);

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_DECODE_MADE_JPEG_H_
