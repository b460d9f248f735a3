#ifndef STOKER_COMMON_PIPELINE_GAUSSIAN_KERNEL_H_
#define STOKER_COMMON_PIPELINE_GAUSSIAN_KERNEL_H_

#include <cstdint>
#include <vector>

namespace stoker {

// torchvision's Gaussian kernel of `size` (odd) pixels as device_program.h's Blur has its half kernels: the middle
// weight halved, then the others. Server and devices blur with the same. Thread-safe.
std::vector<int32_t> HalfGaussianKernel(int size, double sigma);

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_GAUSSIAN_KERNEL_H_
