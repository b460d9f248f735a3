#ifndef STOKER_COMMON_OPS_PARAMETERS_H_
#define STOKER_COMMON_OPS_PARAMETERS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "common/fields/schema.h"
#include "common/identity/draws.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// What is left of an op for one sample once its random numbers are drawn. An op becomes none, one or several
// of these: RandomResizedCrop a crop and a resize, a flip that does not happen nothing. Both placements
// receive the same ones. Plain values.

using Color = std::array<uint8_t, 3>;  // red, green, blue

// Takes `size` pixels from (top, left), which may lie outside of the image: there, what `padding` says.
// `padding` is never UNSPECIFIED. REFLECT and SYMMETRIC reach at most one image beyond each border.
struct CropParameters {
  int64_t top = 0, left = 0;
  ImageSize size;
  Color fill = {0, 0, 0};
  v1::PaddingMode padding = v1::PADDING_MODE_CONSTANT;
  int32_t map_fill = 0;           // of label maps
  bool leaves_out_boxes = false;  // whether boxes whose centers lie outside are left out: RandomIoUCrop's
  friend bool operator==(const CropParameters&, const CropParameters&) = default;
};

// Resamples the whole image to `size`. `interpolation` is never UNSPECIFIED.
struct ResizeParameters {
  ImageSize size;
  v1::Interpolation interpolation = v1::INTERPOLATION_BILINEAR;
  bool antialias = true;
  friend bool operator==(const ResizeParameters&, const ResizeParameters&) = default;
};

struct FlipParameters {
  enum class Axis { kHorizontal, kVertical };  // left with right, top with bottom
  Axis axis = Axis::kHorizontal;
  friend bool operator==(const FlipParameters&, const FlipParameters&) = default;
};

// A new color for each pixel, from its own color and, for some, from figures of the whole image.
struct ColorParameters {
  enum class Kind {
    kBrightness,    // blend with black; value: factor ≥ 0
    kContrast,      // blend with the image's mean gray; value: factor ≥ 0
    kSaturation,    // blend with the pixel's gray; value: factor ≥ 0
    kHue,           // value: −0.5 to 0.5 of a turn
    kGrayscale,     // three equal channels
    kYCbCr,         // JFIF's, full range
    kPosterize,     // value: upper bits kept, 0 to 8
    kSolarize,      // value: the first one inverted, 0 to 256
    kInvert,        //
    kAutocontrast,  // each channel stretched to 0…255
    kEqualize,      // each channel's histogram flattened
  };
  Kind kind = Kind::kBrightness;
  double value = 0;
  friend bool operator==(const ColorParameters&, const ColorParameters&) = default;
};

// Blends with the image smoothed by 3×3, but for its border: factor 0 is smooth, 1 the image itself.
struct SharpnessParameters {
  double factor = 1;
  friend bool operator==(const SharpnessParameters&, const SharpnessParameters&) = default;
};

// A Gaussian of `sigma` pixels cut to `kernel_width` × `kernel_height`, both odd; borders are reflected.
struct BlurParameters {
  int kernel_width = 3, kernel_height = 3;
  double sigma = 1;
  friend bool operator==(const BlurParameters&, const BlurParameters&) = default;
};

// Output pixel (x, y), by its center, shows the input at x' = m[0]·x + m[1]·y + m[2], y' = m[3]·x + m[4]·y + m[5],
// in pixels with (0, 0) at the image's top left corner. The image keeps its size; `fill` shows where the input ends.
struct AffineParameters {
  std::array<double, 6> matrix = {1, 0, 0, 0, 1, 0};
  v1::Interpolation interpolation = v1::INTERPOLATION_NEAREST;  // or BILINEAR
  Color fill = {0, 0, 0};
  int32_t map_fill = 0;  // of label maps
  friend bool operator==(const AffineParameters&, const AffineParameters&) = default;
};

// Output pixel (x, y), by its center, shows the input at x' = (c[0]·x + c[1]·y + c[2]) / w, y' = (c[3]·x + c[4]·y +
// c[5]) / w with w = c[6]·x + c[7]·y + 1, in pixels as for AffineParameters. The image keeps its size.
struct PerspectiveParameters {
  std::array<double, 8> coefficients = {1, 0, 0, 0, 1, 0, 0, 0};
  v1::Interpolation interpolation = v1::INTERPOLATION_BILINEAR;  // or NEAREST
  Color fill = {0, 0, 0};
  int32_t map_fill = 0;  // of label maps
  friend bool operator==(const PerspectiveParameters&, const PerspectiveParameters&) = default;
};

// Each output pixel shows the input where a field of displacements leads from its center: noise from −1 to 1 drawn by
// `key`, smoothed by Gaussians, times these lengths. server/augment/elastic.h says how. The image keeps its size.
struct ElasticParameters {
  double length_across = 0, length_down = 0;  // in pixels
  double sigma_across = 0, sigma_down = 0;    // the Gaussian's standard deviations in pixels, for either displacement
  v1::Interpolation interpolation = v1::INTERPOLATION_BILINEAR;  // or NEAREST
  Color fill = {0, 0, 0};
  int32_t map_fill = 0;  // of label maps
  DrawKey key;
  friend bool operator==(const ElasticParameters&, const ElasticParameters&) = default;
};

// Paints over a rectangle that lies inside of the image.
struct EraseParameters {
  int64_t top = 0, left = 0;
  ImageSize size;
  Color value = {0, 0, 0};
  friend bool operator==(const EraseParameters&, const EraseParameters&) = default;
};

// Blackens pixels drawn with probability `ratio`, by `key`, and with `dilate` their four neighbors.
struct MaskParameters {
  double ratio = 0;
  bool dilate = true;
  DrawKey key;
  friend bool operator==(const MaskParameters&, const MaskParameters&) = default;
};

// Adds to each value a number drawn by `key` from a normal distribution, in units of 255 levels.
struct NoiseParameters {
  double mean = 0, deviation = 0;
  DrawKey key;
  friend bool operator==(const NoiseParameters&, const NoiseParameters&) = default;
};

// Compresses the image as a JPEG of `quality`, 1 to 100, and decodes it.
struct RecompressParameters {
  int quality = 75;
  friend bool operator==(const RecompressParameters&, const RecompressParameters&) = default;
};

// Mixes the image with what each of `chains` makes of it, where one change follows another. `weights` are the image's
// own, then each chain's, not negative; their sum is kMixedWhole.
struct MixedChainsParameters {
  using Change = std::variant<CropParameters, ColorParameters, SharpnessParameters, AffineParameters>;
  std::vector<std::vector<Change>> chains;
  std::vector<int32_t> weights;
  friend bool operator==(const MixedChainsParameters&, const MixedChainsParameters&) = default;
};
inline constexpr int32_t kMixedWhole = 1 << 14;

class LoadedOp;

// A field of the sample in hand, as the dataset has it: numbers of `dtype`, little-endian, of `shape`. Where samples
// differ in size, the first of the shape is the number of rows.
struct OwnField {
  v1::Dtype dtype = v1::DTYPE_UNSPECIFIED;
  std::vector<int64_t> shape;
  std::shared_ptr<const std::vector<uint8_t>> bytes;  // all that was planned for a sample shares them
  friend bool operator==(const OwnField& a, const OwnField& b) {
    return a.dtype == b.dtype && a.shape == b.shape && *a.bytes == *b.bytes;
  }
};

// The value of an own op's argument.
using OwnValue = std::variant<double, int64_t, bool, std::string, OwnField>;

// What an operator's own op does. It draws when it runs, by `key`.
struct OwnParameters {
  const LoadedOp* op = nullptr;
  std::vector<OwnValue> values;  // of all its arguments; fields are as in the op's trial until a sample is there
  DrawKey key;
  ImageSize size;  // of the result
  friend bool operator==(const OwnParameters&, const OwnParameters&) = default;
};

using OpParameters =
    std::variant<CropParameters, ResizeParameters, FlipParameters, ColorParameters, SharpnessParameters, BlurParameters,
                 AffineParameters, PerspectiveParameters, ElasticParameters, EraseParameters, MaskParameters,
                 NoiseParameters, RecompressParameters, MixedChainsParameters, OwnParameters>;

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_PARAMETERS_H_
