#include "common/ops/gaussian_kernel.h"

#include <cstddef>

#include "common/identity/elementary.h"

namespace stoker {

// e^(−(i / sigma)² / 2) scaled to a sum of 1. The sums of the first weights are rounded rather than the weights, so
// that all of them add up.
std::vector<int32_t> HalfGaussianKernel(int size, double sigma) {
  std::vector<double> exact(size / 2 + 1);
  double sum = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double distance = static_cast<double>(i) / sigma;
    exact[i] = distance > 30 ? 0 : DeterministicExp(-0.5 * distance * distance);  // e^−450 is nothing.
    if (i == 0) exact[i] *= 0.5;
    sum += exact[i];
  }
  std::vector<int32_t> weights;
  double sum_so_far = 0;
  int32_t given = 0;
  for (double weight : exact) {
    sum_so_far += weight;
    weights.push_back(static_cast<int32_t>(sum_so_far / sum * kHalfKernelSum + 0.5) - given);
    given += weights.back();
  }
  return weights;
}

}  // namespace stoker
