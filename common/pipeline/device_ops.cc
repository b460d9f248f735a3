#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/pipeline/op_kinds.h"

namespace stoker {

absl::Status ValidateArguments(const v1::ToDtype& op) {
  if (op.dtype() != v1::DTYPE_FLOAT32 && op.dtype() != v1::DTYPE_UINT8)
    return Invalid(op, "dtype", "must be float32 or uint8");
  if (op.scale() && op.dtype() != v1::DTYPE_FLOAT32) return Invalid(op, "scale", "needs dtype float32");
  return absl::OkStatus();
}

absl::Status ValidateArguments(const v1::Normalize& op) {
  for (auto [name, values] : {std::pair("mean", &op.mean()), std::pair("std", &op.std())}) {
    if (values->size() != 1 && values->size() != 3)
      return Invalid(op, name, absl::StrCat("give one number or one a channel (3); found ", values->size()));
    for (double value : *values)
      if (!std::isfinite(value)) return Invalid(op, name, "must be finite");
  }
  for (double value : op.std())
    if (!(value > 0)) return Invalid(op, "std", absl::StrCat(value, " is not above 0"));
  return absl::OkStatus();
}

absl::Status ValidateArguments(const v1::ToMemoryFormat& op) {
  if (!v1::MemoryFormat_IsValid(op.memory_format()))
    return Invalid(op, "memory_format", absl::StrCat("unknown value ", op.memory_format()));
  return absl::OkStatus();
}

void FillDefaults(v1::ToMemoryFormat& op) {
  if (op.memory_format() == v1::MEMORY_FORMAT_UNSPECIFIED) op.set_memory_format(v1::MEMORY_FORMAT_CHANNELS_FIRST);
}

absl::Status DrawArguments(const v1::ToDtype&, Drawing&) {
  STOKER_CHECK(false);
  return absl::OkStatus();
}

absl::Status DrawArguments(const v1::Normalize&, Drawing&) {
  STOKER_CHECK(false);
  return absl::OkStatus();
}

absl::Status DrawArguments(const v1::ToMemoryFormat&, Drawing&) {
  STOKER_CHECK(false);
  return absl::OkStatus();
}

}  // namespace stoker
