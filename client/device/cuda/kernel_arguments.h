#ifndef STOKER_CLIENT_DEVICE_CUDA_KERNEL_ARGUMENTS_H_
#define STOKER_CLIENT_DEVICE_CUDA_KERNEL_ARGUMENTS_H_

#include <cstdint>
#include <variant>

#include "common/fields/number.h"
#include "common/pipeline/device_program.h"

namespace stoker {

// The arguments of kernels. Pointers are addresses on the GPU; inputs and outputs do not overlap. There are at most
// kMostSamples samples, of fewer than 2^31 values each. `draws` and other arrays of draws have one element a sample.

inline constexpr int64_t kMostSamples = 65535;  // the largest extent of a grid in y (CUDA C++ programming guide)
inline constexpr int kMostChannels = 64;

// The type of the values that a kernel writes.
enum class Element : int32_t { kUint8, kFloat16, kBfloat16, kFloat32 };

inline constexpr uint8_t kFlipHorizontal = 1, kFlipVertical = 2;

// Flips images, computes x · scale + bias, rounding after each of the two (not for uint8), and changes the layout.
struct TransformArguments {
  const uint8_t* in = nullptr;  // samples × height × width × channels; readable up to the next multiple of 16 bytes
  void* out = nullptr;          // samples × one image in its layout, aligned to an element
  const uint8_t* flips = nullptr;  // each sample's kFlipHorizontal | kFlipVertical; null: no sample is flipped
  int64_t samples = 0;
  int32_t height = 0, width = 0, channels = 0;
  Element element = Element::kUint8;
  bool channels_first = false;
  float scale[kMostChannels] = {}, bias[kMostChannels] = {};
};

// How a sample is mixed with the one before it, the first with the last.
struct MixDraw {
  BatchDraw::Kind kind = BatchDraw::Kind::kNone;
  float own_share = 1, other_share = 0;              // kMixUp: the two samples' weights
  int32_t top = 0, left = 0, height = 0, width = 0;  // kCutMix: the rectangle taken from the other sample
};

// Does what TransformArguments do. Between bias and rounding it also erases rectangles, and mixes each sample with the
// one before it, the first with the last.
struct MixArguments {
  TransformArguments transform;
  const EraseDraw* erases = nullptr;  // one a sample; null: nothing is erased
  float erase_value[kMostChannels] = {};
  const float* quantiles = nullptr;  // NoiseQuantiles(); null: erased values are erase_value alone, without noise
  float erase_scale[kMostChannels] = {};
  MixDraw mix;                     // of all samples
  const MixDraw* mixes = nullptr;  // one a sample, in the place of `mix`; null: all have that
};

// The images that a step reads and writes, H×W×C uint8: in_height × in_width before, height × width after.
struct ImagesArguments {
  const uint8_t* in = nullptr;
  uint8_t* out = nullptr;
  int64_t samples = 0;
  int32_t in_height = 0, in_width = 0, height = 0, width = 0, channels = 0;
};

struct GatherArguments {
  ImagesArguments images;
  const GatherDraw* draws = nullptr;
};

// Adds up the luma that each sample's pixels have just before kContrast.
struct GraySumArguments {
  ImagesArguments images;  // `out` is unused
  const ColorsDraw* draws = nullptr;
  uint64_t* sums = nullptr;  // one sum a sample, which must be 0 before
};

// Makes the table of each sample's change that TakesHistogram, of the levels that its pixels have just before that
// change.
struct LevelTableArguments {
  ImagesArguments images;  // `out` is unused
  const ColorsDraw* draws = nullptr;
  uint8_t* tables = nullptr;  // kTableLevels a sample, written for samples that drew such a change
};

struct ColorArguments {
  ImagesArguments images;
  const ColorsDraw* draws = nullptr;
  const uint64_t* gray_sums = nullptr;  // the sums of GraySumArguments; null if no sample drew kContrast
  const uint8_t* tables = nullptr;      // LevelTableArguments'; null if no sample drew what TakesHistogram
};

struct SharpenArguments {
  ImagesArguments images;
  const SharpenDraw* draws = nullptr;
};

// What a sample is resampled from: a rectangle of its image, in pixels, and how.
struct ResampledBox {
  int32_t top = 0, left = 0, height = 0, width = 0;
  int32_t taps_across = 0, taps_down = 0;
  bool blended = false;
};

// What the three kernels of kResample share: the first writes the weights of all output pixels, the second and the
// third run the two passes of client/device/resample_arithmetic.h.
struct ResampleArguments {
  ImagesArguments images;
  const ResampledBox* boxes = nullptr;

  // For each sample, for each output column and then for each output row: the first tap, and room for the weights of
  // most_across or most_down taps.
  int32_t* weights = nullptr;
  int32_t most_across = 0, most_down = 0;

  // For each sample between_bytes, an even number, for what the first pass makes: uint16 of height × box.width where it
  // blends, uint8 of box.height × width where it convolves.
  uint8_t* between = nullptr;
  uint64_t between_bytes = 0;
  Resampling resampling = Resampling::kTriangle;
};
struct ResampleWeightsArguments {
  ResampleArguments all;
};
struct ResampleFirstArguments {
  ResampleArguments all;
};
struct ResampleSecondArguments {
  ResampleArguments all;
};

// The first pass of a blur: down the columns, to values with 6 fraction bits.
struct BlurDownArguments {
  ImagesArguments images;  // `out` is unused
  uint16_t* out = nullptr;
  const int32_t* weights = nullptr;  // samples × taps: each sample's half kernel, as in BlurDraw
  int32_t taps = 0;
};

// The second pass of a blur: across the rows, to uint8.
struct BlurAcrossArguments {
  ImagesArguments images;  // `in` is unused
  const uint16_t* in = nullptr;
  const int32_t* weights = nullptr;  // samples × taps
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

// Turns each whole number of `in` into `classes` elements. All numbers are below `classes`.
struct OneHotArguments {
  const uint8_t* in = nullptr;
  uint8_t* out = nullptr;
  int64_t samples = 0;
  int32_t numbers = 0;  // whole numbers of one sample
  int32_t classes = 0;
  int32_t in_bytes = 0, out_bytes = 0;  // size of a number and of an element: 1, 2, 4 or 8
  bool mixed = false;                   // whether each sample is mixed with the one before it, the first with the last

  // The bits of an element by whose class it is: [0] nobody's, [1] the sample's own, [2] only the other sample's, [3]
  // both's. `each` has four for each sample, in the place of `elements`; null: all have those.
  uint64_t elements[4] = {};
  const uint64_t* each = nullptr;
};

// Turns bits into bytes of 0 and 1.
struct UnpackArguments {
  const uint8_t* in = nullptr;
  uint8_t* out = nullptr;
  int64_t samples = 0;
  int32_t bits = 0;  // bits of one sample, which begins at a whole byte
  bool least_significant_first = false;
};

// Turns whole numbers into int64.
struct WidenArguments {
  const uint8_t* in = nullptr;
  int64_t* out = nullptr;
  int64_t samples = 0;
  int32_t numbers = 0;   // of one sample
  int32_t in_bytes = 0;  // of a number: 1 of uint8, 2 of int16
};

// Turns each number x into x · scale + bias. Number i of a sample takes scale[i % period]; with a period of 0 it stays
// x.
struct ScaleArguments {
  const uint8_t* in = nullptr;
  uint8_t* out = nullptr;
  const float *scale = nullptr, *bias = nullptr;
  int64_t samples = 0;
  int32_t numbers = 0;  // of one sample
  int32_t period = 0;
  Number from = Number::kUint8, to = Number::kFloat32;
};

// Makes of each sparse sample the array that it stands for.
struct DenseArguments {
  const void* places = nullptr;      // of all samples, int32, or int64 where they are `wide`; they ascend in each
  const int64_t* offsets = nullptr;  // where each sample's places begin, and where the last one's end
  ScaleArguments values;             // at the places; without `in` each is 1, as float32. `out` is unused
  uint8_t* out = nullptr;            // samples × elements
  int64_t samples = 0;
  int32_t elements = 0;   // of one sample
  int32_t out_bytes = 0;  // of an element
  bool wide = false;
  bool scales = false;  // whether values become what ScaleArguments says, with a period of at most 1
};

// Does what ScaleArguments do, then mixes each sample with the one before it, the first with the last, and turns each
// mixed number x into x · scale_after + bias_after. It is rounded last.
struct MixNumbersArguments {
  ScaleArguments scale;
  const float* shares = nullptr;  // two a sample: its own weight and the other's
  float scale_after = 1, bias_after = 0;
};

// Gives each sample of a field whose samples differ in size `rows` rows. Those that it has are copied, or turned into
// x · scale + bias, those beyond are left out, and missing ones have elements with the bits `fill`.
struct PadArguments {
  ScaleArguments scale;              // `numbers` are those of a row
  const int64_t* offsets = nullptr;  // where each sample's rows begin, and where the last one's end
  int32_t rows = 0;
  int32_t element_bytes = 0;  // of what is written
  bool scales = false;        // whether rows are scaled, rather than copied: then `scale.to` is an element's type
  uint64_t fill = 0;
};

using KernelCall = std::variant<TransformArguments, MixArguments, GatherArguments, GraySumArguments,
                                LevelTableArguments, ColorArguments, SharpenArguments, ResampleWeightsArguments,
                                ResampleFirstArguments, ResampleSecondArguments, BlurDownArguments, BlurAcrossArguments,
                                MaskArguments, EraseArguments, OneHotArguments, UnpackArguments, WidenArguments,
                                ScaleArguments, MixNumbersArguments, PadArguments, DenseArguments>;

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_KERNEL_ARGUMENTS_H_
