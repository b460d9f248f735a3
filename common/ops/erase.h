#ifndef STOKER_COMMON_OPS_ERASE_H_
#define STOKER_COMMON_OPS_ERASE_H_

#include <optional>

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Ops that paint over parts of an image.

template <>
struct Description<v1::RandomErasing> : SameSize<v1::RandomErasing> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnPixels;
  static absl::Status Validate(const v1::RandomErasing& op);
  static void FillDefaults(v1::RandomErasing& op);
  static bool IsDeterministic(const v1::RandomErasing&) { return false; }
  static absl::Status Draw(const v1::RandomErasing& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::RandomErasing& op, ImageSize input);
  static Cost CostOf(const v1::RandomErasing& op, ImageSize input, ImageSize output);
  static absl::Status ValidateOnBytes(const v1::RandomErasing& op);  // `value` must be levels of uint8, not noise.
};

template <>
struct Description<v1::RandomMask> : SameSize<v1::RandomMask> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kOnPixels;
  static absl::Status Validate(const v1::RandomMask& op);
  static void FillDefaults(v1::RandomMask& op);
  static bool IsDeterministic(const v1::RandomMask&) { return false; }
  static absl::Status Draw(const v1::RandomMask& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::RandomMask& op, ImageSize input);
  static Cost CostOf(const v1::RandomMask& op, ImageSize input, ImageSize output);
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_ERASE_H_
