#include "server/augment/resize/axis_filter.h"

#include <algorithm>

#include "common/check.h"
#include "common/identity/elementary.h"
#include "common/ops/resize_kernels.h"

namespace stoker {
namespace {

// Takes a distance as the kernels of resize_kernels.h do.
struct Lanczos {
  static constexpr double kSupport = 3;
  static constexpr bool kRepeatsBorder = false;
  // Returns sinc(x) * sinc(x / 3). It computes sin(pi * x) from sin(pi * x / 3), by sin(3a) = 3 sin(a) - 4 sin(a)^3.
  double operator()(double x) const {
    constexpr double kPi = 3.14159265358979323846;
    if (x == 0) return 1;
    if (AbsOf(x) >= 3) return 0;
    const double sine = DeterministicSinDegrees(x * 60), square = sine * sine;
    return 3 * square * (3 - 4 * square) / (kPi * kPi * x * x);
  }
};

}  // namespace

template <typename Kernel>
void AxisFilter::Fill(const AxisMapping& mapping, double width, Kernel kernel) {
  const double scale = mapping.length / static_cast<double>(mapping.outputs);
  const double reach = Kernel::kSupport * width, shrink = 1 / width;
  // At most so many whole numbers lie strictly between two numbers that are 2 * reach apart.
  const int64_t reached = -FloorOf(-2 * reach);
  taps_ = std::min(pixels_, reached);
  first_.resize(mapping.outputs);
  sums_.resize(mapping.outputs);
  weights_.resize(mapping.outputs * taps_);
  for (int64_t i = 0; i < mapping.outputs; ++i) {
    const double center = mapping.start + (static_cast<double>(i) + 0.5) * scale;
    const int64_t from = FloorOf(center - reach - 0.5) + 1;
    const int64_t first = std::clamp<int64_t>(from, 0, pixels_ - taps_);
    const int64_t slot = mapping.mirrored ? mapping.outputs - 1 - i : i;
    double* weights = &weights_[slot * taps_];
    const int64_t begin = Kernel::kRepeatsBorder ? from : first;
    const int64_t end = Kernel::kRepeatsBorder ? from + reached : first + taps_;
    if (Kernel::kRepeatsBorder) std::fill_n(weights, taps_, 0.0);
    double sum = 0, position = static_cast<double>(begin);
    for (int64_t x = begin; x < end; ++x, ++position) {
      const double weight = kernel((position - center + 0.5) * shrink);
      if (Kernel::kRepeatsBorder) {
        weights[std::clamp<int64_t>(x - first, 0, taps_ - 1)] += weight;
      } else {
        weights[x - first] = weight;
      }
      sum += weight;
    }
    first_[slot] = first;
    sums_[slot] = sum;
  }
}

void AxisFilter::Make(const AxisMapping& mapping, v1::Interpolation interpolation, bool antialias) {
  STOKER_CHECK(mapping.pixels > 0 && mapping.outputs > 0);
  pixels_ = mapping.pixels;
  const double width = antialias ? std::max(mapping.length / static_cast<double>(mapping.outputs), 1.0) : 1.0;
  switch (interpolation) {
    case v1::INTERPOLATION_BILINEAR: return Fill(mapping, width, TriangleKernel());
    case v1::INTERPOLATION_BICUBIC:
      return antialias ? Fill(mapping, width, CubicKernel()) : Fill(mapping, width, TorchCubicKernel());
    case v1::INTERPOLATION_LANCZOS: return Fill(mapping, width, Lanczos());
    default: STOKER_CHECK(false);
  }
}

}  // namespace stoker
