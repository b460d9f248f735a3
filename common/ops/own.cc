#include "common/ops/own.h"

#include "absl/strings/str_cat.h"
#include "common/ops/arguments.h"

namespace stoker {

absl::Status Description<v1::OwnOp>::Validate(const v1::OwnOp& op) {
  if (op.name().empty()) return Invalid(op, "name", "must be given");
  return Invalid(op, "name", absl::StrCat("there is no op '", op.name(), "' here: this version runs no own ops yet"));
}

absl::Status Description<v1::OwnOp>::Draw(const v1::OwnOp& op, Drawing&) { return Validate(op); }

}  // namespace stoker
