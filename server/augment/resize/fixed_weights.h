#ifndef STOKER_SERVER_AUGMENT_RESIZE_FIXED_WEIGHTS_H_
#define STOKER_SERVER_AUGMENT_RESIZE_FIXED_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "common/ops/resize_kernels.h"
#include "server/augment/resize/axis_filter.h"

namespace stoker {

// The weights of an AxisFilter in whole numbers, in the forms that Resizer's kernels need. Each form is used by one
// thread at a time and keeps its memory from image to image. `first` is the input pixel of each output pixel's first
// tap.

// Weights from 0 to 1 with 16 fraction bits, for Blend. The weights of an output pixel sum to one: where one is rounded
// down, the next is rounded up.
struct BlendWeights {
  // The most taps that Blend is used for. A weight of one is stored as 65535 and products are truncated, so that a
  // blend loses up to one unit for each tap, where a level has 256 units. With this many taps the loss is below a tenth
  // of a level once its mean is given back.
  static constexpr int64_t kMaxTaps = kMostBlendedTaps;

  // Output pixels that there are at least; those beyond the filter's have weights of 0.
  static constexpr int64_t kMinOutputs = 4;

  void Make(const AxisFilter& filter);

  int64_t taps = 0;
  std::vector<int32_t> first;
  std::vector<uint32_t> weights;  // `taps` for each output pixel; each weight stands in both halves of its 32 bits
};

// Weights from -2 to 2 with 22 fraction bits, rounded as Pillow rounds them, for the convolutions. They are stored in
// pairs of taps, because processors multiply and add pairs of 16-bit numbers. Each weight is high * 256 + low, where
// high is signed and low is not.
struct PairWeights {
  // The most taps that this form is used for. With more taps, weights are too small for 22 bits.
  static constexpr int64_t kMaxTaps = kMostConvolvedTaps;
  static constexpr int kFractionBits = kConvolutionBits, kLowBits = 8;

  // The weights of two taps. Both numbers hold the first tap's part in the lower 16 bits:
  //
  //   31              16 15               0
  //  +------------------+------------------+
  //  | tap 1            | tap 0            |
  //  +------------------+------------------+
  struct Pair {
    uint32_t high = 0, low = 0;

    void Set(int64_t tap, int64_t weight) {
      high |= (static_cast<uint32_t>(weight >> kLowBits) & 0xffff) << 16 * tap;
      low |= (static_cast<uint32_t>(weight) & ((1 << kLowBits) - 1)) << 16 * tap;
    }
    int32_t Get(int64_t tap) const {
      const auto signed_high = static_cast<int16_t>(high >> 16 * tap);
      return signed_high * (1 << kLowBits) + static_cast<int32_t>(low >> 16 * tap & 0xffff);
    }
  };

  // Takes the weights of `filter`. With `aligned`, pairs begin at even pixels. Weights of 0 fill up the pairs.
  void Make(const AxisFilter& filter, bool aligned);

  // Returns the pair_count pairs of an output pixel.
  const Pair* Of(int64_t output) const { return &pairs[output * pair_count]; }

  int64_t pair_count = 0;      // pairs of each output pixel
  std::vector<int32_t> first;  // the input pixel where each output pixel's first pair begins
  std::vector<Pair> pairs;
};

// Weights with 32 fraction bits, for any number of taps. The weights of an output pixel sum to one.
struct WideWeights {
  static constexpr int kFractionBits = 32;

  void Make(const AxisFilter& filter);

  // Returns the `taps` weights of an output pixel.
  const int64_t* Of(int64_t output) const { return &weights[output * taps]; }

  int64_t taps = 0;
  std::vector<int32_t> first;
  std::vector<int64_t> weights;
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RESIZE_FIXED_WEIGHTS_H_
