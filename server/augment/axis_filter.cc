#include "server/augment/axis_filter.h"

#include <algorithm>

#include "common/check.h"

namespace stoker {
namespace {

struct Kernel {
  double support;          // It is 0 from here on.
  double (*at)(double x);  // Requires x ≥ 0.
};

double Triangle(double x) { return x < 1 ? 1 - x : 0; }

double Cubic(double x) {
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  if (x < 2) return ((-0.5 * x + 2.5) * x - 4) * x + 2;
  return 0;
}

Kernel KernelOf(v1::Interpolation interpolation) {
  if (interpolation == v1::INTERPOLATION_BICUBIC) return {2, Cubic};
  STOKER_CHECK(interpolation == v1::INTERPOLATION_BILINEAR);
  return {1, Triangle};
}

// Rounds halves away from zero.
int32_t ToFixed(double weight) {
  constexpr double kOne = 1 << AxisFilter::kFractionBits;
  return static_cast<int32_t>(weight * kOne + (weight < 0 ? -0.5 : 0.5));
}

}  // namespace

void AxisFilter::Make(int64_t in, int64_t out, v1::Interpolation interpolation, bool antialias) {
  const Kernel kernel = KernelOf(interpolation);
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double width = antialias ? std::max(scale, 1.0) : 1.0;
  const double support = kernel.support * width, shrink = 1 / width;
  runs_.clear();
  weights_.clear();
  for (int64_t i = 0; i < out; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const int64_t first = std::max<int64_t>(0, static_cast<int64_t>(center - support + 0.5));
    const int64_t end = std::min<int64_t>(in, static_cast<int64_t>(center + support + 0.5));
    exact_.clear();
    double sum = 0;
    for (int64_t x = first; x < end; ++x) {
      const double distance = (static_cast<double>(x) - center + 0.5) * shrink;
      exact_.push_back(kernel.at(distance < 0 ? -distance : distance));
      sum += exact_.back();
    }
    runs_.push_back({first, weights_.size(), exact_.size()});
    for (double weight : exact_) weights_.push_back(ToFixed(weight / sum));
  }
}

}  // namespace stoker
