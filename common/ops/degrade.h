#ifndef STOKER_COMMON_OPS_DEGRADE_H_
#define STOKER_COMMON_OPS_DEGRADE_H_

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Ops that make an image worse as cameras and codecs do.

template <>
struct Description<v1::GaussianNoise> : SameSize<v1::GaussianNoise> {
  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnPixels;
  static absl::Status Validate(const v1::GaussianNoise& op);
  static void FillDefaults(v1::GaussianNoise& op);
  static bool IsDeterministic(const v1::GaussianNoise& op);
  static absl::Status Draw(const v1::GaussianNoise& op, Drawing& drawing);
  static Cost CostOf(const v1::GaussianNoise& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::JPEG> : SameSize<v1::JPEG> {
  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnPixels;
  static absl::Status Validate(const v1::JPEG& op);
  static void FillDefaults(v1::JPEG& op);
  static bool IsDeterministic(const v1::JPEG& op);
  static absl::Status Draw(const v1::JPEG& op, Drawing& drawing);  // FailedPrecondition above kMaxJpegExtent.
  static Cost CostOf(const v1::JPEG& op, ImageSize input, ImageSize output);
};

inline constexpr int64_t kMaxJpegExtent = 65500;  // pixels of a side; libjpeg's JPEG_MAX_DIMENSION

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_DEGRADE_H_
