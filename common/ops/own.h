#ifndef STOKER_COMMON_OPS_OWN_H_
#define STOKER_COMMON_OPS_OWN_H_

#include <optional>

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// An op that an operator brings. Its place is reserved: no server runs one yet, so that none is valid.
template <>
struct Description<v1::OwnOp> {
  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnPixels;
  static absl::Status Validate(const v1::OwnOp& op);
  static void FillDefaults(v1::OwnOp&) {}
  static bool IsDeterministic(const v1::OwnOp&) { return false; }
  static std::optional<ImageSize> OutputSize(const v1::OwnOp&, std::optional<ImageSize>) { return std::nullopt; }
  static absl::Status Draw(const v1::OwnOp& op, Drawing& drawing);
  static Cost CostOf(const v1::OwnOp&, ImageSize, ImageSize) { return {}; }
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_OWN_H_
