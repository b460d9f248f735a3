#ifndef STOKER_SERVER_AUGMENT_RESIZE_WIDE_SUMS_H_
#define STOKER_SERVER_AUGMENT_RESIZE_WIDE_SUMS_H_

#include <algorithm>
#include <cstdint>

#include "server/augment/resize/fixed_weights.h"

namespace stoker {

// Weighted sums of any number of pixels, in 64 bits. They are simple rather than fast, because few images need so many
// taps. Thread-safe.

// One half of a level, which a sum starts from so that it is rounded.
constexpr int64_t kWideHalf = int64_t{1} << (WideWeights::kFractionBits - 1);

// Returns the level of a sum, clamped.
inline uint8_t WidePixel(int64_t sum) {
  return static_cast<uint8_t>(std::clamp<int64_t>(sum >> WideWeights::kFractionBits, 0, 255));
}

// Makes `outputs` pixels of a row. Both rows are RGBX; the fourth byte of a pixel is not written.
inline void SumWideRow(const uint8_t* in, const WideWeights& weights, int64_t outputs, uint8_t* out) {
  for (int64_t x = 0; x < outputs; ++x, out += 4) {
    const uint8_t* pixel = in + int64_t{weights.first[x]} * 4;
    int64_t red = kWideHalf, green = kWideHalf, blue = kWideHalf;
    for (int64_t tap = 0; tap < weights.taps; ++tap, pixel += 4) {
      const int64_t weight = weights.Of(x)[tap];
      red += weight * pixel[0];
      green += weight * pixel[1];
      blue += weight * pixel[2];
    }
    out[0] = WidePixel(red);
    out[1] = WidePixel(green);
    out[2] = WidePixel(blue);
  }
}

// Adds an RGBX row of `width` pixels, times `weight`, to sums of RGB.
inline void AddWideRow(const uint8_t* row, int64_t weight, int64_t width, int64_t* sums) {
  for (int64_t x = 0; x < width; ++x)
    for (int64_t channel = 0; channel < 3; ++channel) sums[x * 3 + channel] += weight * row[x * 4 + channel];
}

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RESIZE_WIDE_SUMS_H_
