#ifndef STOKER_COMMON_OPS_COST_H_
#define STOKER_COMMON_OPS_COST_H_

#include <algorithm>
#include <cstdint>

#include "common/fields/image_size.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// What an op takes for one sample, at most and about: a server weighs requests by it before it makes them. Counted from
// the way that this code does the op, not measured.
struct Cost {
  double arithmetic = 0;  // Additions, multiplications and table look-ups of single values.
  double bytes = 0;       // Memory that is written: the op's output and what it makes on the way.
  double passes = 1;      // Changes of an image that are drawn and planned one by one, however small the image is.

  // The sum is what one op after another takes.
  friend Cost operator+(const Cost& a, const Cost& b) {
    return {a.arithmetic + b.arithmetic, a.bytes + b.bytes, a.passes + b.passes};
  }
  friend Cost operator*(double times, const Cost& cost) {
    return {times * cost.arithmetic, times * cost.bytes, times * cost.passes};
  }
};

inline constexpr Cost kNoCost = {.passes = 0};

// What covers both.
inline Cost MostOf(const Cost& a, const Cost& b) {
  return {std::max(a.arithmetic, b.arithmetic), std::max(a.bytes, b.bytes), std::max(a.passes, b.passes)};
}

// About how long one core of a usual server takes for it. Measured with AVX-512 (`bench-engine`), ops take from an
// eighth of this, a large blur, to as much as this, a decoding or a bilinear rotation.
inline double Seconds(const Cost& cost) { return cost.arithmetic / 12e9 + cost.bytes / 4e9 + cost.passes * 1e-6; }

inline double Pixels(ImageSize size) { return static_cast<double>(size.height) * static_cast<double>(size.width); }

// `arithmetic` for each pixel of an image of `size`, which is written once, with three channels.
inline Cost CostOfPixels(ImageSize size, double arithmetic) { return {arithmetic * Pixels(size), 3 * Pixels(size)}; }

// Returns what resampling along rows, then along columns takes: a filter covers a few pixels of the smaller of its two
// grids to either side. `interpolation` is never UNSPECIFIED.
Cost CostOfResize(v1::Interpolation interpolation, ImageSize input, ImageSize output);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_COST_H_
