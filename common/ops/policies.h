#ifndef STOKER_COMMON_OPS_POLICIES_H_
#define STOKER_COMMON_OPS_POLICIES_H_

#include <optional>

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Ops that choose among many others, with the spaces of torchvision's classes of the same names.

template <>
struct Description<v1::RandAugment> : SameSize<v1::RandAugment> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::RandAugment& op);
  static void FillDefaults(v1::RandAugment& op);
  static bool IsDeterministic(const v1::RandAugment& op);
  static absl::Status Draw(const v1::RandAugment& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::RandAugment& op, ImageSize input);
  static Cost CostOf(const v1::RandAugment& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::TrivialAugmentWide> : SameSize<v1::TrivialAugmentWide> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::TrivialAugmentWide& op);
  static void FillDefaults(v1::TrivialAugmentWide& op);
  static bool IsDeterministic(const v1::TrivialAugmentWide&) { return false; }
  static absl::Status Draw(const v1::TrivialAugmentWide& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::TrivialAugmentWide& op, ImageSize input);
  static Cost CostOf(const v1::TrivialAugmentWide& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::AutoAugment> : SameSize<v1::AutoAugment> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnGeometry;
  static absl::Status Validate(const v1::AutoAugment& op);
  static void FillDefaults(v1::AutoAugment& op);
  static bool IsDeterministic(const v1::AutoAugment&) { return false; }
  static absl::Status Draw(const v1::AutoAugment& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::AutoAugment& op, ImageSize input);
  static Cost CostOf(const v1::AutoAugment& op, ImageSize input, ImageSize output);
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_POLICIES_H_
