#ifndef STOKER_COMMON_PIPELINE_DEVICE_PROGRAM_H_
#define STOKER_COMMON_PIPELINE_DEVICE_PROGRAM_H_

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "common/fields/image_size.h"
#include "common/ops/batch_draw.h"

namespace stoker {

// What a device does to a batch, as plain values: steps, which are the same for every sample, and what each sample drew
// for them. Every device does the same arithmetic, that of client/device/pixel_arithmetic.h. This header has no
// protobuf, since CUDA sources include it.
//
// A sample goes through, in this order:
//   1. the steps, on an image of H×W×C uint8; each rounds to uint8
//   2. flips
//   3. y = x · scale + bias in float32
//   4. an erased rectangle
//   5. mixing with another sample of the batch
//   6. rounding to the output's dtype, and its layout

// A rectangle of the input, in pixels; (0, 0) is the image's top left corner.
struct Window {
  double left = 0, top = 0, right = 0, bottom = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

// Makes each output pixel from a position of the input. The pixel whose center is (x, y) = (column + ½, row + ½) shows
// the input at
//
//   x' = matrix[0]·x + matrix[1]·y + matrix[2]
//   y' = matrix[3]·x + matrix[4]·y + matrix[5]
//
// A position outside of `window`, which lies in the image, shows what `beyond` says. No pixel outside of the window has
// any influence.
struct GatherDraw {
  enum class Beyond { kFill, kEdge, kReflect, kSymmetric };  // the values of v1::PaddingMode
  std::array<double, 6> matrix = {1, 0, 0, 0, 1, 0};
  bool bilinear = false;  // bilinear interpolation instead of nearest
  Window window;
  Beyond beyond = Beyond::kFill;
  std::array<uint8_t, 3> fill = {0, 0, 0};  // the fill color; unless there are three channels, fill[0] is used for all

  // With `is_fixed`, which is of nearest only, positions are found in 1/2^16 pixel: see FixedAffineMap in
  // common/ops/affine_matrix.h. They round otherwise than `matrix` does.
  bool is_fixed = false;
  std::array<int64_t, 6> fixed = {};
};

// Gives each pixel a new color. Images have three channels.
struct ColorChange {
  enum class Kind {
    kBrightness,    // value: factor
    kContrast,      // value: factor; blends with the mean gray that the image has after the changes before this one
    kSaturation,    // value: factor
    kHue,           // value: 0 to 255; 256 would be a whole turn
    kGrayscale,     // value: unused
    kPosterize,     // value: upper bits kept, 0 to 8
    kSolarize,      // value: the lowest level that is inverted; 0 inverts all
    kAutocontrast,  // value: unused; stretches the levels that each channel has after the changes before this one
    kEqualize,      // value: unused; flattens the histogram that each channel has after the changes before this one
  };
  Kind kind = Kind::kBrightness;
  float value = 0;
};

// Whether a change needs the histograms of the image's channels.
constexpr bool TakesHistogram(ColorChange::Kind kind) {
  return kind == ColorChange::Kind::kAutocontrast || kind == ColorChange::Kind::kEqualize;
}

// The first `count` of `changes`, applied in order. At most one needs a figure of the whole image: kContrast,
// kAutocontrast or kEqualize.
struct ColorsDraw {
  static constexpr int kMost = 8;
  std::array<ColorChange, kMost> changes;
  int count = 0;
};

// Blends with the image smoothed by 3×3, but for its border.
struct SharpenDraw {
  float factor = 1;  // 0 is smooth, 1 the image itself
};

// Resizes a rectangle of the image, in pixels, to the size of the step's output. Pixels outside of it have no
// influence.
struct ResampleDraw {
  int64_t top = 0, left = 0;
  ImageSize size;
};

// How much the pixels around an output pixel's place weigh in kResample: see common/ops/resize_kernels.h.
enum class Resampling {
  kTriangle,    // widened where it reduces
  kCubic,       // widened where it reduces
  kTorchCubic,  // never widened
};

// Blurs with a symmetric kernel in each direction. Of each kernel only a half is stored: weight[i] belongs to the two
// pixels that are i away, and weight[0] is half the middle pixel's. A half adds up to kHalfKernelSum. The image is
// larger than what the kernels reach.
struct BlurDraw {
  std::vector<int32_t> across, down;
};

// Blackens a random part of the pixels. Each pixel has 16 random bits of Philox's words for `key` and `position` (see
// RandomBits); the pixel turns black if they are below `limit`. With `dilate` its four neighbors turn black too.
struct MaskDraw {
  uint32_t limit = 0;  // 0 to 2^16
  bool dilate = true;
  uint64_t key = 0, position = 0;
};

// Paints over a rectangle that lies in the image.
struct EraseDraw {
  int64_t top = 0, left = 0;                 // pixels
  ImageSize size;                            // 0×0: nothing is erased
  std::array<uint8_t, 3> value = {0, 0, 0};  // color, as GatherDraw::fill; unused in SampleDraw::erase
  uint64_t key = 0, position = 0;            // of noise, in SampleDraw::erase: by what its values are drawn
};

struct Flips {
  bool horizontal = false, vertical = false;
};

// One pass over the images of a batch, which are H×W×C uint8 before and after.
struct DeviceStep {
  enum class Kind { kGather, kColors, kBlur, kMask, kErase, kResample, kSharpen };
  Kind kind = Kind::kGather;
  ImageSize in, out;       // sizes before and after; only kGather and kResample change them
  bool contrast = false;   // kColors: whether it may hold kContrast, so that a mean of each image is needed
  bool histogram = false;  // kColors: whether it may hold what TakesHistogram
  ImageSize kernel;        // kBlur: pixels of the whole kernel
  Resampling resampling = Resampling::kTriangle;  // kResample
  std::vector<int> ops;                           // indexes of the ops that it came from, for people
};

// What one sample drew for one step. With monostate the step leaves the image as it is; then `in` and `out` are equal.
using StepDraw =
    std::variant<std::monostate, GatherDraw, ColorsDraw, BlurDraw, MaskDraw, EraseDraw, ResampleDraw, SharpenDraw>;

// What one sample drew for a whole program.
struct SampleDraw {
  std::vector<StepDraw> steps;
  Flips flips;      // applied after the steps
  EraseDraw erase;  // applied after scale and bias, with ImageProgram::erase_value

  // What the steps and flips do to label maps and binary maps that lie on the image, in order: one for each of
  // ImageProgram::map_moves. Each takes the nearest value. fill[0] and fill[1] are the lower and the upper 8 bits of
  // what comes from beyond the map.
  std::vector<GatherDraw> map_moves;
};

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_DEVICE_PROGRAM_H_
