#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "client/device/cuda/kernels.h"
#include "client/device/cuda/step_kernels.h"
#include "client/device/cuda/transform_kernel.h"

namespace stoker {
namespace {

// Arithmetic for kernels that rounds after each operation, as the host does.
struct GpuArithmetic {
  static __device__ __forceinline__ float Affine(uint32_t x, float scale, float bias) {
    return __fadd_rn(__fmul_rn(static_cast<float>(x), scale), bias);
  }
  static __device__ __forceinline__ float Mix(float a, float share, float b, float other_share) {
    return __fadd_rn(__fmul_rn(a, share), __fmul_rn(b, other_share));
  }
  template <typename Out>
  static __device__ __forceinline__ Out Round(float x);
  template <typename Out>
  static __device__ __forceinline__ Out Map(uint32_t x, float scale, float bias) {
    return Round<Out>(Affine(x, scale, bias));
  }
  static __device__ __forceinline__ void Add(uint64_t* sum, uint64_t more) {
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(more));
  }
  static __device__ __forceinline__ void Count(uint32_t* counter) { atomicAdd(counter, 1u); }
};
template <>
__device__ __forceinline__ uint8_t GpuArithmetic::Round(float x) {
  return static_cast<uint8_t>(x);
}
template <>
__device__ __forceinline__ float GpuArithmetic::Round(float x) {
  return x;
}
template <>
__device__ __forceinline__ Half GpuArithmetic::Round(float x) {
  return {__half_as_ushort(__float2half_rn(x))};
}
template <>
__device__ __forceinline__ Bfloat16 GpuArithmetic::Round(float x) {
  return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
}
template <>
__device__ __forceinline__ uint8_t GpuArithmetic::Map(uint32_t x, float, float) {
  return static_cast<uint8_t>(x);
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

// Queues the kernel that Dispatch chose.
struct Launch {
  cudaStream_t stream;
  template <typename Kernel, typename Arguments>
  cudaError_t operator()(const Arguments& arguments) const {
    const Grid grid = Kernel::GridOf(arguments);
    if (grid.blocks_x == 0 || grid.blocks_y == 0) return cudaSuccess;
    cudaGetLastError();  // Drops an error that somebody else left, so that it is not taken for this launch's.
    RunKernel<Kernel><<<dim3(grid.blocks_x, grid.blocks_y), grid.threads, 0, stream>>>(arguments);
    return cudaGetLastError();
  }
};

}  // namespace

cudaError_t FindKernel() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, RunKernel<GatherKernel, GatherArguments>);
}

std::vector<int> KernelCapabilities() { return {__CUDA_ARCH_LIST__}; }

cudaError_t LaunchKernel(const KernelCall& call, cudaStream_t stream) {
  return std::visit([&](const auto& arguments) { return Dispatch<GpuArithmetic>(arguments, Launch{stream}); }, call);
}

}  // namespace stoker
