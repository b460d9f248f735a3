#ifndef STOKER_CLIENT_DEVICE_CUDA_KERNEL_ARGUMENTS_H_
#define STOKER_CLIENT_DEVICE_CUDA_KERNEL_ARGUMENTS_H_

#include <cstdint>

namespace stoker {

// What a kernel writes.
enum class Element : int32_t { kUint8, kFloat16, kBfloat16, kFloat32 };

inline constexpr int kMostChannels = 64;
inline constexpr int64_t kMostSamples = 65535;  // A grid's extent in y, by the CUDA C++ programming guide.

// Flip, cast, x · scale + bias (rounded after each of the two; not for uint8), and change the layout. Pointers are a
// GPU's; `in` and `out` do not overlap.
struct TransformArguments {
  const uint8_t* in = nullptr;     // samples × height × width × channels. Readable up to the next multiple of 16.
  void* out = nullptr;             // Aligned to its element.
  const uint8_t* flips = nullptr;  // kFlipHorizontal | kFlipVertical of each sample; null for none.
  int64_t samples = 0;             // At most kMostSamples.
  int32_t height = 0, width = 0, channels = 0;  // Fewer than 2^31 values a sample.
  Element element = Element::kUint8;
  bool channels_first = false;
  float scale[kMostChannels] = {}, bias[kMostChannels] = {};
};
inline constexpr uint8_t kFlipHorizontal = 1, kFlipVertical = 2;

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_KERNEL_ARGUMENTS_H_
