#ifndef STOKER_COMMON_OPS_NESTED_H_
#define STOKER_COMMON_OPS_NESTED_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/identity/draws.h"
#include "common/ops/description.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Ops that hold others. Where one can run, what it acts on and what it costs follows from these: see ops.cc.

// The ops inside of a RandomApply or RandomChoice; null for others.
const google::protobuf::RepeatedPtrField<v1::Op>* NestedTransforms(const v1::Op& op);
google::protobuf::RepeatedPtrField<v1::Op>* MutableNestedTransforms(v1::Op& op);

// Which of them happen, by the key of the op that they stand in, which is valid.
std::vector<bool> ChosenTransforms(const v1::Op& op, const DrawKey& key);

template <>
struct Description<v1::RandomApply> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kAsNested;
  static absl::Status Validate(const v1::RandomApply& op);
  static void FillDefaults(v1::RandomApply& op);
  static bool IsDeterministic(const v1::RandomApply& op);
  static std::optional<ImageSize> OutputSize(const v1::RandomApply& op, std::optional<ImageSize> input);
  static ImageSize MostSize(const v1::RandomApply& op, ImageSize input);
  static absl::Status Draw(const v1::RandomApply& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::RandomApply&, ImageSize) { return {}; }  // Each op in it has its own.
  static Cost CostOf(const v1::RandomApply& op, ImageSize input, ImageSize output);
};

template <>
struct Description<v1::RandomChoice> {
  static constexpr Placements kPlacements = kAnywhere;
  static constexpr Acts kActs = Acts::kAsNested;
  static absl::Status Validate(const v1::RandomChoice& op);
  static void FillDefaults(v1::RandomChoice& op);
  static bool IsDeterministic(const v1::RandomChoice& op);
  static std::optional<ImageSize> OutputSize(const v1::RandomChoice& op, std::optional<ImageSize> input);
  static ImageSize MostSize(const v1::RandomChoice& op, ImageSize input);
  static absl::Status Draw(const v1::RandomChoice& op, Drawing& drawing);
  static DeviceTraits OnDevice(const v1::RandomChoice&, ImageSize) { return {}; }
  static Cost CostOf(const v1::RandomChoice& op, ImageSize input, ImageSize output);
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_NESTED_H_
