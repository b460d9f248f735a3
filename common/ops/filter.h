#ifndef STOKER_COMMON_OPS_FILTER_H_
#define STOKER_COMMON_OPS_FILTER_H_

#include <optional>

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Ops that make a pixel of those around it.

template <>
struct Description<v1::GaussianBlur> : SameSize<v1::GaussianBlur> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnPixels;
  static absl::Status Validate(const v1::GaussianBlur& op);
  static void FillDefaults(v1::GaussianBlur& op);
  static bool IsDeterministic(const v1::GaussianBlur& op);
  static absl::Status Draw(const v1::GaussianBlur& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::GaussianBlur& op, ImageSize input);
  static Cost CostOf(const v1::GaussianBlur& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::RandomAdjustSharpness> : SameSize<v1::RandomAdjustSharpness> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnPixels;
  static absl::Status Validate(const v1::RandomAdjustSharpness& op);
  static bool IsDeterministic(const v1::RandomAdjustSharpness&) { return true; }
  static absl::Status Draw(const v1::RandomAdjustSharpness& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::RandomAdjustSharpness& op, ImageSize input);
  static Cost CostOf(const v1::RandomAdjustSharpness& op, ImageSize input, ImageSize output);
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_FILTER_H_
