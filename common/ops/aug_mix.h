#ifndef STOKER_COMMON_OPS_AUG_MIX_H_
#define STOKER_COMMON_OPS_AUG_MIX_H_

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// It moves pixels, but not by one move that other fields could follow: as torchvision's, it acts on images alone.
template <>
struct Description<v1::AugMix> : SameSize<v1::AugMix> {
  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnPixels;
  static absl::Status Validate(const v1::AugMix& op);
  static void FillDefaults(v1::AugMix& op);
  static bool IsDeterministic(const v1::AugMix&) { return false; }
  static absl::Status Draw(const v1::AugMix& op, Drawing& drawing);
  static Cost CostOf(const v1::AugMix& op, ImageSize input, ImageSize output);
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_AUG_MIX_H_
