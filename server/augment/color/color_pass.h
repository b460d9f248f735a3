#ifndef STOKER_SERVER_AUGMENT_COLOR_COLOR_PASS_H_
#define STOKER_SERVER_AUGMENT_COLOR_COLOR_PASS_H_

#include <cstdint>
#include <span>

#include "server/augment/color/color_table.h"

namespace stoker {

// A new color for each pixel from its own color alone.
struct ColorStep {
  enum class Kind { kTable, kSaturation, kHue, kGrayscale, kYCbCr };
  Kind kind = Kind::kTable;
  float factor = 1;       // kSaturation: 0 is gray, 1 changes nothing.
  int shift = 0;          // kHue: added to a hue of 8 bits; from 0 to 255.
  ColorTable table = {};  // kTable
};

// Figures of a whole image.
enum class Figures { kNone, kLumaSum, kHistogram };
struct ImageFigures {
  uint64_t luma_sum = 0;  // Of all pixels' gray, as ITU-R 601-2 has it.
  Histogram histogram = {};
};

// Takes `pixels`, `count` of them, packed RGB, through all `steps` in one pass, in place, and returns the figures asked
// for of what came out; the others are 0. Thread-safe. The same bytes on every CPU.
ImageFigures RunColorPass(std::span<const ColorStep> steps, Figures figures, int64_t count, uint8_t* pixels);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_COLOR_COLOR_PASS_H_
