#ifndef STOKER_COMMON_OPS_GAUSSIAN_KERNEL_H_
#define STOKER_COMMON_OPS_GAUSSIAN_KERNEL_H_

#include <cstdint>
#include <vector>

namespace stoker {

// The sum of a half kernel's weights.
inline constexpr int32_t kHalfKernelSum = 1 << 14;

// One side of torchvision's Gaussian kernel of `size` (odd) pixels in whole numbers: weight i belongs to the pixels i
// away on either side; that of the middle is halved, since both sides count it. Server and devices blur with the same
// weights. Thread-safe.
std::vector<int32_t> HalfGaussianKernel(int size, double sigma);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_GAUSSIAN_KERNEL_H_
