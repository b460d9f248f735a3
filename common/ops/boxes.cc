#include "common/ops/boxes.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/ops/arguments.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr double kDefaultLeast = 1;  // of a size and an area, torchvision's
constexpr int kMaxLabels = 64;

// What a sample has, about: a box takes four numbers, and each of them a few comparisons.
constexpr double kBoxes = 64;

}  // namespace

absl::Status ValidateBoxLabels(const google::protobuf::Message& op, const std::string& field,
                               const FieldNames& labels) {
  if (labels.size() > kMaxLabels)
    return Invalid(op, "labels", absl::StrCat(labels.size(), " fields, at most ", kMaxLabels));
  const std::string boxes = field.empty() ? kDefaultBoxes : field;
  for (const std::string& name : labels) {
    if (name.empty()) return Invalid(op, "labels", "a field needs a name");
    if (name == boxes)
      return Invalid(op, "labels", absl::StrCat("'", name, "' are the boxes themselves; leave it out"));
    if (std::count(labels.begin(), labels.end(), name) > 1)
      return Invalid(op, "labels", absl::StrCat("'", name, "' stands twice"));
  }
  return absl::OkStatus();
}

absl::Status Description<v1::SanitizeBoundingBoxes>::Validate(const v1::SanitizeBoundingBoxes& op) {
  STOKER_RETURN_IF_ERROR(ValidateWithin(op, "min_size", op.min_size(), 0, kMaxExtent));
  STOKER_RETURN_IF_ERROR(ValidateWithin(op, "min_area", op.min_area(), 0, double{kMaxExtent} * kMaxExtent));
  return ValidateBoxLabels(op, op.field(), op.labels());
}

void Description<v1::SanitizeBoundingBoxes>::FillDefaults(v1::SanitizeBoundingBoxes& op) {
  if (!op.has_min_size()) op.set_min_size(kDefaultLeast);
  if (!op.has_min_area()) op.set_min_area(kDefaultLeast);
  if (op.field().empty()) op.set_field(kDefaultBoxes);
}

Cost Description<v1::SanitizeBoundingBoxes>::CostOf(const v1::SanitizeBoundingBoxes&, ImageSize, ImageSize) {
  return {.arithmetic = 16 * kBoxes, .bytes = 16 * kBoxes, .passes = 0};
}

}  // namespace stoker
