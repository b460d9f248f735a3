#ifndef STOKER_CLIENT_DEVICE_CUDA_KERNELS_H_
#define STOKER_CLIENT_DEVICE_CUDA_KERNELS_H_

#include <cuda_runtime_api.h>

#include "client/device/cuda/kernel_arguments.h"

namespace stoker {

// Queues a kernel.
cudaError_t LaunchKernel(const KernelCall& call, cudaStream_t stream);

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_KERNELS_H_
