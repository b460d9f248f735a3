#ifndef STOKER_COMMON_PIPELINE_PARAMETERS_H_
#define STOKER_COMMON_PIPELINE_PARAMETERS_H_

#include <array>
#include <cstdint>
#include <variant>

#include "common/pipeline/schema.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// What is left of an op for one sample once its random numbers are drawn. An op becomes none, one or several
// of these: RandomResizedCrop a crop and a resize, a flip that does not happen nothing. Both placements
// receive the same ones. Plain values.

// Takes `size` pixels from (top, left), which may lie outside of the image: there, `fill` (red, green, blue).
struct CropParameters {
  int64_t top = 0, left = 0;
  ImageSize size;
  std::array<uint8_t, 3> fill = {0, 0, 0};
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

using OpParameters = std::variant<CropParameters, ResizeParameters, FlipParameters>;

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_PARAMETERS_H_
