#include "server/augment/resize/axis_filter.h"

#include <algorithm>

#include "common/check.h"
#include "common/identity/elementary.h"

namespace stoker {
namespace {

// The kernels below take a distance from their center. One unit is `width` input pixels: 1, or the scale where a kernel
// is widened.

double Abs(double x) { return x < 0 ? -x : x; }

struct Triangle {
  static constexpr double kSupport = 1;  // the distance from which on a kernel is 0
  static constexpr bool kRepeatsBorder = false;
  double operator()(double x) const { return std::max(0.0, 1 - Abs(x)); }
};

struct Cubic {
  static constexpr double kSupport = 2;
  static constexpr bool kRepeatsBorder = false;
  double operator()(double signed_x) const {
    const double x = Abs(signed_x);
    if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
    if (x < 2) return ((-0.5 * x + 2.5) * x - 4) * x + 2;
    return 0;
  }
};

struct TorchCubic {
  static constexpr double kSupport = 2;
  static constexpr bool kRepeatsBorder = true;
  double operator()(double signed_x) const {
    const double x = Abs(signed_x);
    if (x < 1) return (1.25 * x - 2.25) * x * x + 1;
    if (x < 2) return ((-0.75 * x + 3.75) * x - 6) * x + 3;
    return 0;
  }
};

struct Lanczos {
  static constexpr double kSupport = 3;
  static constexpr bool kRepeatsBorder = false;
  // Returns sinc(x) * sinc(x / 3). It computes sin(pi * x) from sin(pi * x / 3), by sin(3a) = 3 sin(a) - 4 sin(a)^3.
  double operator()(double x) const {
    constexpr double kPi = 3.14159265358979323846;
    if (x == 0) return 1;
    if (Abs(x) >= 3) return 0;
    const double sine = DeterministicSinDegrees(x * 60), square = sine * sine;
    return 3 * square * (3 - 4 * square) / (kPi * kPi * x * x);
  }
};

int64_t Floor(double value) {
  const int64_t truncated = static_cast<int64_t>(value);
  return truncated - (value < static_cast<double>(truncated) ? 1 : 0);
}

}  // namespace

template <typename Kernel>
void AxisFilter::Fill(const AxisMapping& mapping, double width, Kernel kernel) {
  const double scale = mapping.length / static_cast<double>(mapping.outputs);
  const double reach = Kernel::kSupport * width, shrink = 1 / width;
  // At most so many whole numbers lie strictly between two numbers that are 2 * reach apart.
  const int64_t reached = -Floor(-2 * reach);
  taps_ = std::min(pixels_, reached);
  first_.resize(mapping.outputs);
  sums_.resize(mapping.outputs);
  weights_.resize(mapping.outputs * taps_);
  for (int64_t i = 0; i < mapping.outputs; ++i) {
    const double center = mapping.start + (static_cast<double>(i) + 0.5) * scale;
    const int64_t from = Floor(center - reach - 0.5) + 1;
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
    case v1::INTERPOLATION_BILINEAR: return Fill(mapping, width, Triangle());
    case v1::INTERPOLATION_BICUBIC:
      return antialias ? Fill(mapping, width, Cubic()) : Fill(mapping, width, TorchCubic());
    case v1::INTERPOLATION_LANCZOS: return Fill(mapping, width, Lanczos());
    default: STOKER_CHECK(false);
  }
}

}  // namespace stoker
