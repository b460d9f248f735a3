#ifndef STOKER_CLIENT_DEVICE_CUDA_KERNEL_CODE_H_
#define STOKER_CLIENT_DEVICE_CUDA_KERNEL_CODE_H_

#include <cstdint>

// What a kernel's threads run, written so that nvcc compiles it for a GPU and a C++ compiler for tests, which run the
// same index arithmetic thread by thread.
#ifdef __CUDACC__
#define STOKER_KERNEL_CODE __device__ __forceinline__
#else
#define STOKER_KERNEL_CODE inline
#endif

namespace stoker {

// float16 and bfloat16 as their bits.
struct Half {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

// Vectors that are loaded and stored at once.
template <typename T>
struct alignas(4 * sizeof(T)) Four {
  T values[4];
};

// Where a thread is in its grid.
struct Place {
  uint32_t block_x, block_y, thread;
};

struct Grid {
  uint32_t blocks_x = 0, blocks_y = 0, threads = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_KERNEL_CODE_H_
