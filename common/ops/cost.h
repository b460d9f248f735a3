#ifndef STOKER_COMMON_OPS_COST_H_
#define STOKER_COMMON_OPS_COST_H_

#include <algorithm>
#include <cstdint>

#include "common/fields/image_size.h"

namespace stoker {

// What an op takes for one sample, at most and about: a server weighs requests by it before it makes them. Counted from
// the way that this code does the op, not measured.
struct Cost {
  double arithmetic = 0;  // Additions, multiplications and table look-ups of single values.
  double bytes = 0;       // Memory that is written: the op's output and what it makes on the way.

  // The sum is what one op after another takes.
  friend Cost operator+(const Cost& a, const Cost& b) { return {a.arithmetic + b.arithmetic, a.bytes + b.bytes}; }
  friend Cost operator*(double times, const Cost& cost) { return {times * cost.arithmetic, times * cost.bytes}; }
};

// What covers both.
inline Cost MostOf(const Cost& a, const Cost& b) {
  return {std::max(a.arithmetic, b.arithmetic), std::max(a.bytes, b.bytes)};
}

inline double Pixels(ImageSize size) { return static_cast<double>(size.height) * static_cast<double>(size.width); }

// `arithmetic` for each pixel of an image of `size`, which is written once, with three channels.
inline Cost CostOfPixels(ImageSize size, double arithmetic) { return {arithmetic * Pixels(size), 3 * Pixels(size)}; }

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_COST_H_
