#include "common/ops/own.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/ops/arguments.h"
#include "common/ops/loaded_ops.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// What an own op takes is not known before it ran. This is as much as a blur.
constexpr double kArithmetic = 50;

}  // namespace

absl::Status Description<v1::OwnOp>::Validate(const v1::OwnOp& op) {
  const auto in_name = [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_'; };
  if (op.name().empty()) return Invalid(op, "name", "must be given");
  if (!std::all_of(op.name().begin(), op.name().end(), in_name))
    return Invalid(op, "name", "has other characters than lower case letters, digits and underscores");
  return absl::OkStatus();
}

std::optional<ImageSize> Description<v1::OwnOp>::OutputSize(const v1::OwnOp& op, std::optional<ImageSize> input) {
  const LoadedOp* const loaded = FindLoadedOp(op.name());
  if (loaded == nullptr || !input.has_value()) return std::nullopt;
  if (!loaded->changes_size()) return input;
  const auto values = ValuesOf(op, *loaded);
  if (!values.ok()) return std::nullopt;
  const auto size = loaded->SizeAfter(*values, *input);
  return size.ok() ? std::optional(*size) : std::nullopt;
}

absl::Status Description<v1::OwnOp>::Draw(const v1::OwnOp& op, Drawing& drawing) {
  const LoadedOp* const loaded = FindLoadedOp(op.name());
  if (loaded == nullptr) return Invalid(op, "name", absl::StrCat("there is no op '", op.name(), "' here"));
  STOKER_ASSIGN_OR_RETURN(std::vector<OwnValue> values, ValuesOf(op, *loaded));
  STOKER_ASSIGN_OR_RETURN(drawing.size, loaded->SizeAfter(values, drawing.size));
  drawing.parameters.push_back(OwnParameters{loaded, std::move(values), drawing.key, drawing.size});
  return absl::OkStatus();
}

Cost Description<v1::OwnOp>::CostOf(const v1::OwnOp&, ImageSize input, ImageSize output) {
  return CostOfPixels(Pixels(input) < Pixels(output) ? output : input, kArithmetic);
}

}  // namespace stoker
