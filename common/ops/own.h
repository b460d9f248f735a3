#ifndef STOKER_COMMON_OPS_OWN_H_
#define STOKER_COMMON_OPS_OWN_H_

#include <optional>

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// An op that an operator brings. What it does is in a LoadedOp, which a server has and a client has not: where there is
// none, nothing is known of the op but its name.
template <>
struct Description<v1::OwnOp> {
  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnPixels;
  static absl::Status Validate(const v1::OwnOp& op);
  static void FillDefaults(v1::OwnOp&) {}
  static bool IsDeterministic(const v1::OwnOp&) { return false; }
  static std::optional<ImageSize> OutputSize(const v1::OwnOp& op, std::optional<ImageSize> input);
  static absl::Status Draw(const v1::OwnOp& op, Drawing& drawing);
  static Cost CostOf(const v1::OwnOp&, ImageSize input, ImageSize output);
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_OWN_H_
