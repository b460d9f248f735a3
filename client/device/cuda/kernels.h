#ifndef STOKER_CLIENT_DEVICE_CUDA_KERNELS_H_
#define STOKER_CLIENT_DEVICE_CUDA_KERNELS_H_

#include <cuda_runtime_api.h>

#include <vector>

#include "client/device/cuda/kernel_arguments.h"

namespace stoker {

// Queues a kernel on `stream` of the current GPU.
cudaError_t LaunchKernel(const KernelCall& call, cudaStream_t stream);

// Checks that the kernels can run on the current GPU. All are built for the same GPUs, so it tries one.
cudaError_t FindKernel();

// Returns the compute capabilities that kernels are built for; 900 is 9.0.
std::vector<int> KernelCapabilities();

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_KERNELS_H_
