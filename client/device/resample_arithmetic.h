#ifndef STOKER_CLIENT_DEVICE_RESAMPLE_ARITHMETIC_H_
#define STOKER_CLIENT_DEVICE_RESAMPLE_ARITHMETIC_H_

#include <cstdint>

#include "client/device/pixel_arithmetic.h"
#include "common/ops/resize_kernels.h"
#include "common/pipeline/device_program.h"

namespace stoker {

// These functions define what kResample does, by the server's arithmetic (server/augment/resize), so that it makes the
// server's bytes. Each output pixel along an axis is made of several input pixels (taps), whose weights are whole
// numbers. There are two passes, one an axis:
//
//   blended     first down the columns, to values with 8 fraction bits, then across
//   convolved   first across the rows, to levels, then down
//
// The first way is taken where all weights are positive and no axis has more than kMostBlendedTaps.

// Calls f(kernel, antialias) with the kernel of `resampling`.
template <typename F>
constexpr auto WithResizeKernel(Resampling resampling, F f) {
  switch (resampling) {
    case Resampling::kCubic: return f(CubicKernel(), true);
    case Resampling::kTorchCubic: return f(TorchCubicKernel(), false);
    case Resampling::kTriangle: break;
  }
  return f(TriangleKernel(), true);
}

// How `pixels` along an axis, counted from 0, become `outputs`.
struct ResampledAxis {
  int64_t pixels = 1, outputs = 1;
  constexpr double scale() const { return static_cast<double>(pixels) / static_cast<double>(outputs); }
};

// Returns how many input pixels the kernel reaches at most. Fewer are taken where the axis has fewer.
template <typename Kernel>
constexpr int64_t Reached(Kernel, const ResampledAxis& axis, bool antialias) {
  const double width = antialias && axis.scale() > 1.0 ? axis.scale() : 1.0;
  return -FloorOf(-2 * (Kernel::kSupport * width));
}

// Returns the number of taps of each output pixel.
constexpr int64_t TapCount(Resampling resampling, const ResampledAxis& axis) {
  const int64_t reached =
      WithResizeKernel(resampling, [&axis](auto kernel, bool antialias) { return Reached(kernel, axis, antialias); });
  return reached < axis.pixels ? reached : axis.pixels;
}

// Returns whether an image is blended rather than convolved, given the taps of both axes.
constexpr bool IsBlended(Resampling resampling, int64_t taps_across, int64_t taps_down) {
  return resampling == Resampling::kTriangle && taps_across <= kMostBlendedTaps && taps_down <= kMostBlendedTaps;
}

// The taps of one output pixel, before their weights are whole numbers.
template <typename Kernel>
class OutputTaps {
 public:
  constexpr OutputTaps(const ResampledAxis& axis, bool antialias, int64_t output) {
    const double scale = axis.scale(), width = antialias && scale > 1.0 ? scale : 1.0;
    const double reach = Kernel::kSupport * width;
    shrink_ = 1 / width;
    reached_ = -FloorOf(-2 * reach);
    taps_ = reached_ < axis.pixels ? reached_ : axis.pixels;
    center_ = (static_cast<double>(output) + 0.5) * scale;
    from_ = FloorOf(center_ - reach - 0.5) + 1;
    first_ = Within<int64_t>(from_, 0, axis.pixels - taps_);
  }

  constexpr int64_t first() const { return first_; }
  constexpr int64_t taps() const { return taps_; }

  // Where pixels are repeated beyond the border, the border's pixel has all their weights.
  constexpr double Weight(int64_t tap) const {
    int64_t begin = first_ + tap, end = begin + 1;
    if (Kernel::kRepeatsBorder && tap == 0) begin = from_;
    if (Kernel::kRepeatsBorder && tap == taps_ - 1) end = from_ + reached_;
    return SumOf(begin, end);
  }

  constexpr double Sum() const {
    return Kernel::kRepeatsBorder ? SumOf(from_, from_ + reached_) : SumOf(first_, first_ + taps_);
  }

 private:
  constexpr double SumOf(int64_t begin, int64_t end) const {
    double sum = 0;
    for (int64_t x = begin; x < end; ++x) sum += Kernel()((static_cast<double>(x) - center_ + 0.5) * shrink_);
    return sum;
  }

  double center_ = 0, shrink_ = 1;
  int64_t from_ = 0, reached_ = 0, first_ = 0, taps_ = 0;
};

// Writes the weights of an output pixel's taps, and returns its first tap.
template <typename Kernel>
constexpr int32_t WriteWeights(const OutputTaps<Kernel>& output, bool blended, int32_t* weights) {
  const double all = output.Sum(), factor = 0x1p16 / all;
  double sum = 0;
  int64_t before = 0;
  for (int64_t tap = 0; tap < output.taps(); ++tap) {
    const double weight = output.Weight(tap);
    sum += weight;
    const int64_t until = RoundedWeight(sum * factor);
    weights[tap] = static_cast<int32_t>(blended ? Within<int64_t>(until - before, 0, 0xffff)
                                                : RoundedWeight(weight / all * (1 << kConvolutionBits)));
    before = until;
  }
  return static_cast<int32_t>(output.first());
}

constexpr int32_t WriteWeights(Resampling resampling, bool blended, const ResampledAxis& axis, int64_t output,
                               int32_t* weights) {
  return WithResizeKernel(resampling, [&](auto kernel, bool antialias) {
    return WriteWeights(OutputTaps<decltype(kernel)>(axis, antialias, output), blended, weights);
  });
}

// The sums of blended pixels. They begin with these, and every tap adds Blended(value, weight): in the first pass of a
// level times 256, in the second one of what the first made.
constexpr uint32_t FirstBlendStart(int64_t taps) { return static_cast<uint32_t>(taps / 2); }
constexpr uint32_t SecondBlendStart(int64_t taps) { return static_cast<uint32_t>(128 + taps / 2); }
constexpr uint32_t Blended(uint32_t value, int32_t weight) { return value * static_cast<uint32_t>(weight) >> 16; }

// The sums of convolved pixels, of either pass. They begin with this, and every tap adds level · weight.
inline constexpr int32_t kConvolutionStart = 1 << (kConvolutionBits - 1);
constexpr uint8_t ConvolvedLevel(int32_t sum) {
  return static_cast<uint8_t>(Within<int32_t>(sum >> kConvolutionBits, 0, 255));
}

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_RESAMPLE_ARITHMETIC_H_
