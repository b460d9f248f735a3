#ifndef STOKER_SERVER_AUGMENT_RESIZE_AXIS_FILTER_H_
#define STOKER_SERVER_AUGMENT_RESIZE_AXIS_FILTER_H_

#include <cstdint>
#include <vector>

#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// How a box along one axis becomes a number of pixels.
struct AxisMapping {
  int64_t pixels;        // the input pixels that may be used, numbered from 0
  double start, length;  // the box, in these pixels; it may begin and end within one
  int64_t outputs;
  bool mirrored = false;  // whether output pixels are numbered from the box's end
};

// The input pixels that each output pixel along one axis is made of, and their weights (taps). Every output pixel has
// the same number of taps; some weights may be 0.
//
// A kernel is centered on each output pixel's center in the input (half-pixel centers). It is cut at the first and the
// last pixel, and what is left is scaled to a sum of 1. The kernels are the triangle; the cubic of Keys, "Cubic
// Convolution Interpolation for Digital Image Processing" (1981), with a = -0.5; and Lanczos' windowed sinc of three
// lobes. With antialias they are widened by the scale where that is above 1, as Pillow's are. Without antialias the
// cubic is that of torch's interpolate: a = -0.75, and the border's pixels are repeated where the kernel would be cut.
//
// Weights are made with + - * / and truncation alone, so that they are the same on every CPU. A filter is used by one
// thread at a time and keeps its memory from image to image.
class AxisFilter {
 public:
  // Makes the taps of `mapping`. `interpolation` is BILINEAR, BICUBIC or LANCZOS. Requires that counts are at least 1
  // and the box lies inside the pixels.
  void Make(const AxisMapping& mapping, v1::Interpolation interpolation, bool antialias);

  int64_t pixels() const { return pixels_; }
  int64_t outputs() const { return static_cast<int64_t>(first_.size()); }
  int64_t taps() const { return taps_; }

  // Returns the first input pixel of output pixel `i`. First(i) + taps() <= pixels().
  int64_t First(int64_t i) const { return first_[i]; }

  // Returns the taps() weights of the input pixels from First(i) on. They sum to Sum(i).
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
