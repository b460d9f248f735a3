#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "client/device/cuda/kernels.h"
#include "client/device/cuda/transform_kernel.h"

namespace stoker {
namespace {

// Rounds after each step, as the host does.
struct GpuArithmetic {
  static __device__ __forceinline__ float Affine(uint32_t x, float scale, float bias) {
    return __fadd_rn(__fmul_rn(static_cast<float>(x), scale), bias);
  }
  template <typename Out>
  static __device__ __forceinline__ Out Map(uint32_t x, float scale, float bias);
};
template <>
__device__ __forceinline__ uint8_t GpuArithmetic::Map(uint32_t x, float, float) {
  return static_cast<uint8_t>(x);
}
template <>
__device__ __forceinline__ float GpuArithmetic::Map(uint32_t x, float scale, float bias) {
  return Affine(x, scale, bias);
}
template <>
__device__ __forceinline__ Half GpuArithmetic::Map(uint32_t x, float scale, float bias) {
  return {__half_as_ushort(__float2half_rn(Affine(x, scale, bias)))};
}
template <>
__device__ __forceinline__ Bfloat16 GpuArithmetic::Map(uint32_t x, float scale, float bias) {
  return {__bfloat16_as_ushort(__float2bfloat16_rn(Affine(x, scale, bias)))};
}

template <typename Kernel, typename Arguments>
__global__ void __launch_bounds__(Kernel::kThreads) RunKernel(const __grid_constant__ Arguments arguments) {
  __shared__ typename Kernel::Shared shared;
  const Place place = {blockIdx.x, blockIdx.y, threadIdx.x};
  for (int phase = 0; phase < Kernel::kPhases; ++phase) {
    if (phase > 0) __syncthreads();
    Kernel::Run(phase, arguments, place, shared);
  }
}

// Queues Kernel.
struct Launch {
  cudaStream_t stream;
  template <typename Kernel, typename Arguments>
  cudaError_t operator()(const Arguments& arguments) const {
    const Grid grid = Kernel::GridOf(arguments);
    if (grid.blocks_x == 0 || grid.blocks_y == 0) return cudaSuccess;
    RunKernel<Kernel><<<dim3(grid.blocks_x, grid.blocks_y), grid.threads, 0, stream>>>(arguments);
    return cudaGetLastError();
  }
};

}  // namespace

cudaError_t LaunchKernel(const TransformArguments& arguments, cudaStream_t stream) {
  return Dispatch<GpuArithmetic>(arguments, Launch{stream});
}

}  // namespace stoker
