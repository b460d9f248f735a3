#ifndef STOKER_CLIENT_DEVICE_CUDA_KERNEL_CODE_H_
#define STOKER_CLIENT_DEVICE_CUDA_KERNEL_CODE_H_

#include <cstdint>

// Marks a function that a kernel's threads run. nvcc compiles it for the GPU; a C++ compiler compiles it for tests,
// which run the same index arithmetic thread by thread.
#ifdef __CUDACC__
#define STOKER_KERNEL_CODE __device__ __forceinline__
#else
#define STOKER_KERNEL_CODE inline
#endif

namespace stoker {

// The bits of a float16 and of a bfloat16.
struct Half {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

// Four values that one instruction loads or stores.
template <typename T>
struct alignas(4 * sizeof(T)) Four {
  T values[4];
};

// A thread's place in its grid.
struct Place {
  uint32_t block_x, block_y, thread;
};

// How many blocks a kernel is launched with, and how many threads a block has.
struct Grid {
  uint32_t blocks_x = 0, blocks_y = 0, threads = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_KERNEL_CODE_H_
