#include "common/ops/loaded_ops.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/ops/arguments.h"
#include "common/ops/nested.h"
#include "common/ops/ops.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

LoadedOps& Ops() {
  static LoadedOps ops;
  return ops;
}

absl::Status WrongArgument(const v1::OwnOp& op, const std::string& argument, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(op.name(), ".", argument, ": ", what));
}

struct TypeName {
  const char* operator()(double) const { return "a number"; }
  const char* operator()(int64_t) const { return "a whole number"; }
  const char* operator()(bool) const { return "true or false"; }
  const char* operator()(const std::string&) const { return "a text"; }
  const char* operator()(const OwnField&) const { return "nothing"; }
};

// Reads `text` as a value of the type that it is called with.
struct Read {
  const std::string& text;

  std::optional<OwnValue> operator()(double) const {
    double value = 0;
    if (!absl::SimpleAtod(text, &value) || !std::isfinite(value)) return std::nullopt;
    return value;
  }
  std::optional<OwnValue> operator()(int64_t) const {
    int64_t value = 0;
    if (!absl::SimpleAtoi(text, &value)) return std::nullopt;
    return value;
  }
  std::optional<OwnValue> operator()(bool) const {
    if (text != "true" && text != "false") return std::nullopt;
    return text == "true";
  }
  std::optional<OwnValue> operator()(const std::string&) const { return text; }
  std::optional<OwnValue> operator()(const OwnField&) const { return std::nullopt; }
};

// Writes a value so that equal values are equal texts.
struct Write {
  std::string operator()(double value) const {
    for (int digits = 1; digits < 17; ++digits) {
      const std::string text = absl::StrFormat("%.*g", digits, value);
      double read = 0;
      if (absl::SimpleAtod(text, &read) && read == value) return text;
    }
    return absl::StrFormat("%.17g", value);
  }
  std::string operator()(int64_t value) const { return absl::StrCat(value); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const OwnField&) const { return ""; }
};

absl::Status Unknown(const std::string& name) {
  std::vector<std::string> offered;
  for (const auto& op : Ops()) offered.push_back(op->name());
  if (offered.empty())
    return absl::InvalidArgumentError(absl::StrCat("there is no op '", name, "', and this server has no own ops"));
  return absl::InvalidArgumentError(
      absl::StrCat("there is no op '", name, "'; this server's own ops are ", absl::StrJoin(offered, ", ")));
}

absl::Status Resolve(v1::OwnOp& op) {
  const LoadedOp* const loaded = FindLoadedOp(op.name());
  if (loaded == nullptr) return Unknown(op.name());
  if (op.version() != 0 && op.version() != loaded->version())
    return absl::InvalidArgumentError(absl::StrCat("this server has version ", loaded->version(), " of '", op.name(),
                                                   "', where version ", op.version(),
                                                   " is asked for; all servers of a job need the same one"));
  if (op.check() != 0 && op.made_of() != loaded->made_of())
    return absl::InvalidArgumentError(absl::StrCat("this server's '", op.name(), "' is made of ", loaded->made_of(),
                                                   ", and that of the server that was asked first of ", op.made_of(),
                                                   "; give them the same"));
  if (op.check() != 0 && op.check() != loaded->check())
    return absl::InvalidArgumentError(absl::StrCat(
        "this server's '", op.name(), "' makes other pixels of the images of its self-check (",
        absl::Hex(loaded->check(), absl::kZeroPad16), ") than the one of the server that was asked first (",
        absl::Hex(op.check(), absl::kZeroPad16), "), although both have version ", loaded->version(),
        "; give them the same file, and raise its version when it changes"));
  STOKER_ASSIGN_OR_RETURN(const std::vector<OwnValue> values, ValuesOf(op, *loaded));
  const absl::Status status = loaded->Check(values);
  if (!status.ok()) return {status.code(), absl::StrCat(op.name(), ": ", status.message())};
  op.set_version(loaded->version());
  op.set_made_of(loaded->made_of());
  op.set_check(loaded->check());
  op.clear_arguments();
  for (size_t i = 0; i < values.size(); ++i) {
    if (loaded->arguments()[i].is_field()) continue;
    v1::OwnOp::Argument& argument = *op.add_arguments();
    argument.set_name(loaded->arguments()[i].name);
    argument.set_value(std::visit(Write{}, values[i]));
  }
  return absl::OkStatus();
}

void AddOwnOps(const google::protobuf::RepeatedPtrField<v1::Op>& ops, std::vector<const LoadedOp*>& found) {
  for (const v1::Op& op : ops) {
    const LoadedOp* const loaded = op.has_own_op() ? FindLoadedOp(op.own_op().name()) : nullptr;
    if (loaded != nullptr) found.push_back(loaded);
    if (const auto* transforms = NestedTransforms(op)) AddOwnOps(*transforms, found);
  }
}

// How many own ops a pipeline may hold: each is tried with its arguments when a job begins.
constexpr int kMostOwnOps = 64;

absl::Status ResolveAll(google::protobuf::RepeatedPtrField<v1::Op>& ops, const std::string& path, int& left) {
  for (int i = 0; i < ops.size(); ++i) {
    v1::Op& op = ops[i];
    const std::string here = absl::StrCat(path, "[", i, "]");
    if (op.has_own_op()) {
      if (left-- == 0)
        return absl::InvalidArgumentError(absl::StrCat(here, ": a pipeline holds at most ", kMostOwnOps, " own ops"));
      const absl::Status status = Resolve(*op.mutable_own_op());
      if (!status.ok()) return absl::Status(status.code(), absl::StrCat(here, ": ", status.message()));
    }
    if (auto* transforms = MutableNestedTransforms(op))
      STOKER_RETURN_IF_ERROR(ResolveAll(*transforms, absl::StrCat(here, ".transforms"), left));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSizeAfter(const LoadedOp& op, ImageSize from, ImageSize to) {
  if (to.height >= 1 && to.width >= 1 && to.height <= kMaxExtent && to.width <= kMaxExtent) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("own op '", op.name(), "' makes ", to.width, "×", to.height,
                                                    " pixels of ", from.width, "×", from.height, "; sides have 1 to ",
                                                    kMaxExtent, " pixels"));
}

void SetLoadedOps(LoadedOps ops) { Ops() = std::move(ops); }

const LoadedOps& GetLoadedOps() { return Ops(); }

const LoadedOp* FindLoadedOp(const std::string& name) {
  for (const auto& op : Ops())
    if (op->name() == name) return op.get();
  return nullptr;
}

absl::StatusOr<std::vector<OwnValue>> ValuesOf(const v1::OwnOp& op, const LoadedOp& loaded) {
  std::vector<OwnValue> values;
  std::vector<bool> given(loaded.arguments().size());
  for (const LoadedOp::Argument& argument : loaded.arguments()) values.push_back(argument.otherwise);
  for (const v1::OwnOp::Argument& argument : op.arguments()) {
    const auto known = std::find_if(loaded.arguments().begin(), loaded.arguments().end(),
                                    [&](const LoadedOp::Argument& a) { return a.name == argument.name(); });
    if (known == loaded.arguments().end()) {
      std::vector<std::string> names;
      for (const LoadedOp::Argument& a : loaded.arguments())
        if (!a.is_field()) names.push_back(a.name);
      return WrongArgument(op, argument.name(),
                           names.empty() ? "unknown argument; the op has none"
                                         : absl::StrCat("unknown argument; known are ", absl::StrJoin(names, ", ")));
    }
    if (known->is_field())
      return WrongArgument(op, argument.name(), "is a field of the sample, which the op sees by itself; leave it out");
    const size_t place = known - loaded.arguments().begin();
    if (given[place]) return WrongArgument(op, argument.name(), "stands twice");
    given[place] = true;
    const auto value = std::visit(Read{argument.value()}, known->otherwise);
    if (!value.has_value())
      return WrongArgument(
          op, argument.name(),
          absl::StrCat("expected ", std::visit(TypeName{}, known->otherwise), ", found '", argument.value(), "'"));
    values[place] = *value;
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (loaded.arguments()[i].required && !given[i])
      return WrongArgument(op, loaded.arguments()[i].name, "must be given");
  return values;
}

const LoadedOp* SizeChangingOp(const v1::Op& op) {
  if (op.has_own_op()) {
    const LoadedOp* const loaded = FindLoadedOp(op.own_op().name());
    return loaded != nullptr && loaded->changes_size() ? loaded : nullptr;
  }
  if (const auto* transforms = NestedTransforms(op))
    for (const v1::Op& inner : *transforms)
      if (const LoadedOp* const changing = SizeChangingOp(inner)) return changing;
  return nullptr;
}

std::vector<const LoadedOp*> OwnOpsOf(const v1::Pipeline& pipeline) {
  std::vector<const LoadedOp*> found;
  AddOwnOps(pipeline.ops(), found);
  for (const v1::Views& view : pipeline.views()) AddOwnOps(view.ops(), found);
  return found;
}

v1::OwnOpInfo InfoOf(const LoadedOp& op) {
  v1::OwnOpInfo info;
  info.set_name(op.name());
  info.set_version(op.version());
  info.set_summary(op.summary());
  info.set_check(op.check());
  info.set_made_of(op.made_of());
  std::vector<std::string> fields;
  for (const LoadedOp::Argument& argument : op.arguments()) {
    if (argument.is_field()) {
      fields.push_back(argument.name);
      continue;
    }
    v1::OwnOp::Argument& told = *info.add_arguments();
    told.set_name(argument.name);
    if (!argument.required) told.set_value(std::visit(Write{}, argument.otherwise));
  }
  if (!fields.empty())
    info.set_summary(absl::StrCat(op.summary(), op.summary().empty() ? "" : " ", "(sees the field",
                                  fields.size() > 1 ? "s " : " ", absl::StrJoin(fields, ", "), ")"));
  return info;
}

absl::Status ResolveOwnOps(v1::Pipeline& pipeline) {
  int left = kMostOwnOps;
  STOKER_RETURN_IF_ERROR(ResolveAll(*pipeline.mutable_ops(), "pipeline.ops", left));
  for (int i = 0; i < pipeline.views_size(); ++i)
    STOKER_RETURN_IF_ERROR(
        ResolveAll(*pipeline.mutable_views(i)->mutable_ops(), absl::StrCat("pipeline.views[", i, "].ops"), left));
  return absl::OkStatus();
}

}  // namespace stoker
