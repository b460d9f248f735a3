#ifndef STOKER_SERVER_AUGMENT_RESIZE_FIXED_WEIGHTS_H_
#define STOKER_SERVER_AUGMENT_RESIZE_FIXED_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "server/augment/resize/axis_filter.h"

namespace stoker {

// An AxisFilter in whole numbers, in the forms that the kernels of Resizer want. Each keeps its memory from image to
// image and is used by one thread at a time.

// For weights from 0 to 1, with 16 fraction bits. What rounds one down rounds the next up: they sum to one.
struct BlendWeights {
  // A weight of one is 65535 and products are truncated: blends lose up to a unit a tap, of 256 to a level. Up to
  // this many taps that is below a tenth of a level once its mean is given back.
  static constexpr int64_t kMaxTaps = 32;

  // Zeros fill up where there are fewer.
  static constexpr int64_t kMinOutputs = 4;

  void Make(const AxisFilter& filter);

  int64_t taps = 0;
  std::vector<int32_t> first;
  std::vector<uint32_t> weights;  // Each twice in its 32 bits.
};

// For weights from -2 to 2 with 22 fraction bits, rounded as Pillow rounds them. In pairs of taps, because processors
// multiply and add pairs of 16 bits: each weight is high * 256 + low, where high is signed and low is not.
struct PairWeights {
  // More taps have weights too small for 22 bits.
  static constexpr int64_t kMaxTaps = 1024;
  static constexpr int kFractionBits = 22, kLowBits = 8;

  struct Pair {
    uint32_t high = 0, low = 0;  // Each of two taps, the first in the lower 16 bits.

    void Set(int64_t tap, int64_t weight) {
      high |= (static_cast<uint32_t>(weight >> kLowBits) & 0xffff) << 16 * tap;
      low |= (static_cast<uint32_t>(weight) & ((1 << kLowBits) - 1)) << 16 * tap;
    }
    int32_t Get(int64_t tap) const {
      const auto signed_high = static_cast<int16_t>(high >> 16 * tap);
      return signed_high * (1 << kLowBits) + static_cast<int32_t>(low >> 16 * tap & 0xffff);
    }
  };

  // With `aligned`, pairs begin at even pixels, and zeros fill up.
  void Make(const AxisFilter& filter, bool aligned);

  const Pair* Of(int64_t output) const { return &pairs[output * pair_count]; }

  int64_t pair_count = 0;      // Of each output pixel.
  std::vector<int32_t> first;  // The pixel where the first pair begins.
  std::vector<Pair> pairs;
};

// For any number of taps; with 32 fraction bits that sum to one.
struct WideWeights {
  static constexpr int kFractionBits = 32;

  void Make(const AxisFilter& filter);

  const int64_t* Of(int64_t output) const { return &weights[output * taps]; }

  int64_t taps = 0;
  std::vector<int32_t> first;
  std::vector<int64_t> weights;
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RESIZE_FIXED_WEIGHTS_H_
