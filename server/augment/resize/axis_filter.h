#ifndef STOKER_SERVER_AUGMENT_RESIZE_AXIS_FILTER_H_
#define STOKER_SERVER_AUGMENT_RESIZE_AXIS_FILTER_H_

#include <cstdint>
#include <vector>

#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// A box along one axis, and how many pixels it becomes.
struct AxisMapping {
  int64_t pixels;        // That may have a say; numbered from 0.
  double start, length;  // The box in them, fractions allowed.
  int64_t outputs;
  bool mirrored = false;  // Output pixels are numbered from the box's end.
};

// Along one axis, the input pixels that each output pixel is made of, and their weights: as many for each output
// pixel, zeros among them.
//
// A kernel stands at the center of each output pixel in the input (half-pixel centers); it is cut at the first and
// the last pixel and what is left is scaled to a sum of 1. Kernels: the triangle; the cubic of Keys, "Cubic
// Convolution Interpolation for Digital Image Processing" (1981), with a = -0.5; Lanczos' windowed sinc of three lobes.
// With antialias they are widened by the scale where that is above 1, as Pillow's are. Without, the cubic is that of
// torch's interpolate: a = -0.75, and the border's pixels repeated instead of the kernel cut.
//
// Weights are made with + - * / and truncation alone: the same on every CPU. One thread at a time; keeps its memory
// from image to image.
class AxisFilter {
 public:
  // `interpolation` is BILINEAR, BICUBIC or LANCZOS; counts are at least 1, the box lies inside of the pixels.
  void Make(const AxisMapping& mapping, v1::Interpolation interpolation, bool antialias);

  int64_t pixels() const { return pixels_; }
  int64_t outputs() const { return static_cast<int64_t>(first_.size()); }
  int64_t taps() const { return taps_; }

  // The first input pixel of output pixel `i`; First(i) + taps() <= pixels().
  int64_t First(int64_t i) const { return first_[i]; }

  // The taps() weights of First(i) and those after it; they sum to Sum(i).
  const double* Weights(int64_t i) const { return &weights_[i * taps_]; }
  double Sum(int64_t i) const { return sums_[i]; }

 private:
  template <typename Kernel>
  void Fill(const AxisMapping& mapping, double width, Kernel kernel);

  int64_t pixels_ = 0, taps_ = 0;
  std::vector<int64_t> first_;
  std::vector<double> weights_, sums_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RESIZE_AXIS_FILTER_H_
