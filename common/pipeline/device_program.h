#ifndef STOKER_COMMON_PIPELINE_DEVICE_PROGRAM_H_
#define STOKER_COMMON_PIPELINE_DEVICE_PROGRAM_H_

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "common/fields/image_size.h"
#include "common/ops/batch_draw.h"

namespace stoker {

// What a device does to a batch, as plain values: steps that are the same for every sample, and what each sample drew
// for them. Every device does the same arithmetic, of pixel_arithmetic.h. Without protobuf, for CUDA sources.
//
// A sample goes through: the steps, on an image of H×W×C uint8, each rounded to uint8; flips; y = x · scale + bias in
// float32; an erased rectangle; mixing with another sample; rounding to the output's dtype; its layout.

// A rectangle of the input, in pixels with (0, 0) at the image's top left corner.
struct Window {
  double left = 0, top = 0, right = 0, bottom = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

// Output pixel (x, y), by its center (x + ½, y + ½), shows the input at x' = m[0]·x + m[1]·y + m[2],
// y' = m[3]·x + m[4]·y + m[5]. Positions outside of `window`, which lies in the image, show what `beyond` says; no
// pixel outside of it has a say.
struct GatherDraw {
  enum class Beyond { kFill, kEdge, kReflect, kSymmetric };  // v1::PaddingMode's
  std::array<double, 6> matrix = {1, 0, 0, 0, 1, 0};
  bool bilinear = false;  // or nearest
  Window window;
  Beyond beyond = Beyond::kFill;
  std::array<uint8_t, 3> fill = {0, 0, 0};  // Of other than three channels the first is used.
};

// A new color for each pixel. Images have three channels.
struct ColorChange {
  enum class Kind {
    kBrightness,  // value: factor
    kContrast,    // value: factor; blends with the image's mean gray, as it is when its turn comes
    kSaturation,  // value: factor
    kHue,         // value: 0 to 255, of which 256 would be a turn
    kGrayscale,   //
    kPosterize,   // value: upper bits kept, 0 to 8
    kSolarize,    // value: the first level inverted; 0 inverts all
  };
  Kind kind = Kind::kBrightness;
  float value = 0;
};

// One after the other. At most one is kContrast.
struct ColorsDraw {
  static constexpr int kMost = 8;
  std::array<ColorChange, kMost> changes;
  int count = 0;
};

// Half kernels: weight[i] is that of the pixels i away on either side, and half that of the middle one. They add up to
// kHalfKernelSum. The image is larger than what the kernels reach.
struct BlurDraw {
  std::vector<int32_t> across, down;
};

// Blackens pixels: those whose 16 bits, of Philox words by `key` and `position`, are below `limit` (see MaskBits), and
// with `dilate` their four neighbors.
struct MaskDraw {
  uint32_t limit = 0;  // 0 to 2^16
  bool dilate = true;
  uint64_t key = 0, position = 0;
};

// Paints over a rectangle that lies in the image.
struct EraseDraw {
  int64_t top = 0, left = 0;
  ImageSize size;                            // 0×0: nothing
  std::array<uint8_t, 3> value = {0, 0, 0};  // As GatherDraw's fill. Not of the rectangle erased after ToDtype.
};

struct Flips {
  bool horizontal = false, vertical = false;
};

// One pass over the images of a batch, H×W×C uint8 before and after.
struct DeviceStep {
  enum class Kind { kGather, kColors, kBlur, kMask, kErase };
  Kind kind = Kind::kGather;
  ImageSize in, out;      // Equal but for kGather.
  bool contrast = false;  // kColors: may hold kContrast, hence a mean of each image is needed.
  ImageSize kernel;       // kBlur
  std::vector<int> ops;   // Of the pipeline, by index: for people.
};

// What one sample drew for one step. Of nothing, the image stays as it is; kGather always has a GatherDraw.
using StepDraw = std::variant<std::monostate, GatherDraw, ColorsDraw, BlurDraw, MaskDraw, EraseDraw>;

struct SampleDraw {
  std::vector<StepDraw> steps;
  Flips flips;      // After the steps.
  EraseDraw erase;  // After scale and bias, with the program's erase_value.
};

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_DEVICE_PROGRAM_H_
