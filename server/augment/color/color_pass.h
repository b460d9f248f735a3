#ifndef STOKER_SERVER_AUGMENT_COLOR_COLOR_PASS_H_
#define STOKER_SERVER_AUGMENT_COLOR_COLOR_PASS_H_

#include <cstdint>
#include <span>

#include "server/augment/color/color_table.h"

namespace stoker {

// A change of each pixel's color that depends on that color alone.
struct ColorStep {
  enum class Kind { kTable, kSaturation, kHue, kGrayscale, kYCbCr };
  Kind kind = Kind::kTable;
  float factor = 1;       // for kSaturation: 0 makes gray, 1 changes nothing
  int shift = 0;          // for kHue: from 0 to 255, added to a hue of 8 bits
  ColorTable table = {};  // for kTable
};

// What can be measured of a whole image.
enum class Figures { kNone, kLumaSum, kHistogram };
struct ImageFigures {
  uint64_t luma_sum = 0;  // the sum of all pixels' luma (ITU-R 601-2)
  Histogram histogram = {};
};

// Takes `count` packed RGB pixels through all `steps` in one pass, in place. Returns the figures that `figures` asks
// for, measured after the steps; the others are 0. The function is thread-safe and writes the same bytes on every CPU.
ImageFigures RunColorPass(std::span<const ColorStep> steps, Figures figures, int64_t count, uint8_t* pixels);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_COLOR_COLOR_PASS_H_
