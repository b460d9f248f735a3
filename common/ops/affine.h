#ifndef STOKER_COMMON_OPS_AFFINE_H_
#define STOKER_COMMON_OPS_AFFINE_H_

#include <optional>

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Ops that turn, shift, scale and shear an image, which keeps its size.

template <>
struct Description<v1::RandomRotation> : SameSize<v1::RandomRotation> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::RandomRotation& op);
  static void FillDefaults(v1::RandomRotation& op);
  static bool IsDeterministic(const v1::RandomRotation& op);
  static absl::Status Draw(const v1::RandomRotation& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::RandomRotation& op, ImageSize input);
  static Cost CostOf(const v1::RandomRotation& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::RandomAffine> : SameSize<v1::RandomAffine> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::RandomAffine& op);
  static void FillDefaults(v1::RandomAffine& op);
  static bool IsDeterministic(const v1::RandomAffine& op);
  static absl::Status Draw(const v1::RandomAffine& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::RandomAffine& op, ImageSize input);
  static Cost CostOf(const v1::RandomAffine& op, ImageSize input, ImageSize output);
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_AFFINE_H_
