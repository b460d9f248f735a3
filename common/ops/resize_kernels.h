#ifndef STOKER_COMMON_OPS_RESIZE_KERNELS_H_
#define STOKER_COMMON_OPS_RESIZE_KERNELS_H_

#include <cstdint>

namespace stoker {

// How much a pixel at a distance from an output pixel's center weighs in a resize. Servers and devices make their
// weights of these, of + − × ÷ and truncation alone, so that they are the same on every CPU and GPU. One unit of
// distance is one input pixel, or as many as there are to an output pixel where a kernel is widened. CUDA sources
// include this header. Pure functions, thread-safe.

constexpr double AbsOf(double x) { return x < 0 ? -x : x; }

constexpr int64_t FloorOf(double value) {
  const auto truncated = static_cast<int64_t>(value);
  return truncated - (value < static_cast<double>(truncated) ? 1 : 0);
}

struct TriangleKernel {
  static constexpr double kSupport = 1;          // the distance from which on a kernel is 0
  static constexpr bool kRepeatsBorder = false;  // whether the border's pixels stand for those beyond it
  constexpr double operator()(double x) const {
    const double weight = 1 - AbsOf(x);
    return 0.0 < weight ? weight : 0.0;
  }
};

// Keys, "Cubic Convolution Interpolation for Digital Image Processing" (1981), with a = −0.5.
struct CubicKernel {
  static constexpr double kSupport = 2;
  static constexpr bool kRepeatsBorder = false;
  constexpr double operator()(double signed_x) const {
    const double x = AbsOf(signed_x);
    if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
    if (x < 2) return ((-0.5 * x + 2.5) * x - 4) * x + 2;
    return 0;
  }
};

// The same with a = −0.75, as torch's interpolate has it.
struct TorchCubicKernel {
  static constexpr double kSupport = 2;
  static constexpr bool kRepeatsBorder = true;
  constexpr double operator()(double signed_x) const {
    const double x = AbsOf(signed_x);
    if (x < 1) return (1.25 * x - 2.25) * x * x + 1;
    if (x < 2) return ((-0.75 * x + 3.75) * x - 6) * x + 3;
    return 0;
  }
};

// Weights become whole numbers in one of two ways. Where all are positive and few, pixels are blended: weights have 16
// fraction bits and sum to one. Otherwise pixels are convolved, with the weights of Pillow.
inline constexpr int64_t kMostBlendedTaps = 32, kMostConvolvedTaps = 1024;
inline constexpr int kConvolutionBits = 22;  // fraction bits of a convolution's weights

// Rounds to the nearest whole number, halves away from zero.
constexpr int64_t RoundedWeight(double value) { return static_cast<int64_t>(value + (value < 0 ? -0.5 : 0.5)); }

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_RESIZE_KERNELS_H_
