#ifndef STOKER_CLIENT_DEVICE_CUDA_KERNELS_H_
#define STOKER_CLIENT_DEVICE_CUDA_KERNELS_H_

#include <cuda_runtime_api.h>

#include <vector>

#include "client/device/cuda/kernel_arguments.h"

namespace stoker {

// Queues a kernel.
cudaError_t LaunchKernel(const KernelCall& call, cudaStream_t stream);

// Looks for a kernel that the current GPU can run: all are built for the same ones.
cudaError_t FindKernel();

// The compute capabilities that kernels are built for: 900 is 9.0.
std::vector<int> KernelCapabilities();

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_KERNELS_H_
