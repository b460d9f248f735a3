#ifndef STOKER_CLIENT_DEVICE_CUDA_KERNEL_ARGUMENTS_H_
#define STOKER_CLIENT_DEVICE_CUDA_KERNEL_ARGUMENTS_H_

#include <cstdint>
#include <variant>

#include "common/pipeline/device_program.h"

namespace stoker {

// What kernels are called with. Pointers are a GPU's, of which inputs and outputs do not overlap. At most kMostSamples
// samples, and fewer than 2^31 values a sample.
inline constexpr int64_t kMostSamples = 65535;  // A grid's extent in y, by the CUDA C++ programming guide.
inline constexpr int kMostChannels = 64;

// What a kernel writes.
enum class Element : int32_t { kUint8, kFloat16, kBfloat16, kFloat32 };

inline constexpr uint8_t kFlipHorizontal = 1, kFlipVertical = 2;

// Flip, cast, x · scale + bias (rounded after each of the two; not for uint8), and change the layout.
struct TransformArguments {
  const uint8_t* in = nullptr;     // samples × height × width × channels. Readable up to the next multiple of 16.
  void* out = nullptr;             // Aligned to its element.
  const uint8_t* flips = nullptr;  // kFlipHorizontal | kFlipVertical of each sample; null for none.
  int64_t samples = 0;
  int32_t height = 0, width = 0, channels = 0;
  Element element = Element::kUint8;
  bool channels_first = false;
  float scale[kMostChannels] = {}, bias[kMostChannels] = {};
};

// The same, and between bias and rounding: rectangles erased, and samples mixed with the one before, the first with the
// last.
struct MixArguments {
  TransformArguments transform;
  const EraseDraw* erases = nullptr;  // Of each sample; null for none.
  float erase_value[kMostChannels] = {};
  BatchDraw::Kind mix = BatchDraw::Kind::kNone;
  float own_share = 1, other_share = 0;                          // kMixUp
  int32_t top = 0, left = 0, mixed_height = 0, mixed_width = 0;  // kCutMix
};

// Images of one size to images of another, H×W×C uint8.
struct ImagesArguments {
  const uint8_t* in = nullptr;
  uint8_t* out = nullptr;
  int64_t samples = 0;
  int32_t in_height = 0, in_width = 0, height = 0, width = 0, channels = 0;
};

// Draws are of each sample.
struct GatherArguments {
  ImagesArguments images;
  const GatherDraw* draws = nullptr;
};

// Adds up the luma that pixels have before kContrast.
struct GraySumArguments {
  ImagesArguments images;  // Without `out`.
  const ColorsDraw* draws = nullptr;
  uint64_t* sums = nullptr;  // Of each sample; 0 before.
};

struct ColorArguments {
  ImagesArguments images;
  const ColorsDraw* draws = nullptr;
  const uint64_t* gray_sums = nullptr;  // Null if nobody draws kContrast.
};

// One pass: down to 6 fraction bits, or across.
struct BlurDownArguments {
  ImagesArguments images;  // Without `out`.
  uint16_t* out = nullptr;
  const int32_t* weights = nullptr;  // samples × taps
  int32_t taps = 0;
};
struct BlurAcrossArguments {
  ImagesArguments images;  // Without `in`.
  const uint16_t* in = nullptr;
  const int32_t* weights = nullptr;
  int32_t taps = 0;
};

struct MaskArguments {
  ImagesArguments images;
  const MaskDraw* draws = nullptr;
};

struct EraseArguments {
  ImagesArguments images;
  const EraseDraw* draws = nullptr;
};

// Each whole number of `in`, which are all below `classes`, as so many elements.
struct OneHotArguments {
  const uint8_t* in = nullptr;
  uint8_t* out = nullptr;
  int64_t samples = 0;
  int32_t numbers = 0;  // of a sample
  int32_t classes = 0;
  int32_t in_bytes = 0, out_bytes = 0;  // Of a number, an element: 1, 2, 4 or 8.
  bool mixed = false;                   // With the sample before, the first with the last.
  uint64_t elements[4] = {};            // Of a class that is: none, its own, only the other's, both.
};

// Bits to bytes of 0 and 1.
struct UnpackArguments {
  const uint8_t* in = nullptr;
  uint8_t* out = nullptr;
  int64_t samples = 0;
  int32_t bits = 0;  // Of a sample, which begins with a whole byte.
  bool least_significant_first = false;
};

using KernelCall =
    std::variant<TransformArguments, MixArguments, GatherArguments, GraySumArguments, ColorArguments, BlurDownArguments,
                 BlurAcrossArguments, MaskArguments, EraseArguments, OneHotArguments, UnpackArguments>;

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_KERNEL_ARGUMENTS_H_
