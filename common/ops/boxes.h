#ifndef STOKER_COMMON_OPS_BOXES_H_
#define STOKER_COMMON_OPS_BOXES_H_

#include <string>

#include "absl/status/status.h"
#include "common/ops/description.h"
#include "google/protobuf/repeated_field.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// The field of boxes of an op that names none.
inline constexpr char kDefaultBoxes[] = "boxes";

// Checks the fields whose rows go with the boxes in `field`.
using FieldNames = google::protobuf::RepeatedPtrField<std::string>;
absl::Status ValidateBoxLabels(const google::protobuf::Message& op, const std::string& field, const FieldNames& labels);

// An op on the boxes of a sample and the rows that go with them. It changes no image, so that nothing is drawn for one.
template <>
struct Description<v1::SanitizeBoundingBoxes> : SameSize<v1::SanitizeBoundingBoxes> {
  static constexpr Placements kPlacements = kServerOnly;
  static constexpr Acts kActs = Acts::kOnField;
  static absl::Status Validate(const v1::SanitizeBoundingBoxes& op);
  static void FillDefaults(v1::SanitizeBoundingBoxes& op);
  static bool IsDeterministic(const v1::SanitizeBoundingBoxes&) { return true; }
  static absl::Status Draw(const v1::SanitizeBoundingBoxes&, Drawing&) { return absl::OkStatus(); }
  static Cost CostOf(const v1::SanitizeBoundingBoxes& op, ImageSize input, ImageSize output);
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_BOXES_H_
