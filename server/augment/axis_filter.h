#ifndef STOKER_SERVER_AUGMENT_AXIS_FILTER_H_
#define STOKER_SERVER_AUGMENT_AXIS_FILTER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Along one axis, the input pixels that each output pixel is made of, and their weights.
//
// A kernel stands at the center of each output pixel in the input (half-pixel centers); it is cut at the
// image's border and what is left is scaled to a sum of 1. Kernels: the triangle, and the cubic of Keys,
// "Cubic Convolution Interpolation for Digital Image Processing" (1981), with a = -0.5. Weights are made with
// + - * / and truncation alone: the same on every CPU.
class AxisFilter {
 public:
  // Weights are fixed-point with this many fraction bits, as Pillow's. Sums of weight × pixel fit 32 bits.
  static constexpr int kFractionBits = 22;

  // From `in` pixels to `out`; both are at least 1. `interpolation` is BILINEAR or BICUBIC. With `antialias`
  // the kernel is widened by the scale where out < in.
  void Make(int64_t in, int64_t out, v1::Interpolation interpolation, bool antialias);

  // The first input pixel of output pixel `i`. Requires i < out.
  int64_t First(int64_t i) const { return runs_[i].first; }

  // The weights of First(i) and those after it: one or more.
  std::span<const int32_t> Weights(int64_t i) const { return {&weights_[runs_[i].begin], runs_[i].count}; }

 private:
  struct Run {
    int64_t first;
    size_t begin, count;  // In weights_.
  };

  std::vector<Run> runs_;
  std::vector<int32_t> weights_;
  std::vector<double> exact_;  // Of one output pixel.
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_AXIS_FILTER_H_
