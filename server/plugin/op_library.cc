#include "server/plugin/op_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/config/key_names.h"
#include "common/config/nearest_word.h"
#include "common/config/text.h"
#include "common/status_macros.h"
#include "server/plugin/op_name.h"
#include "server/plugin/python_ops.h"
#include "server/plugin/stoker_op.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr size_t kMostArguments = 64;
constexpr size_t kWhyBytes = 1024;
constexpr uint64_t kMostExampleBytes = uint64_t{64} << 10;

// The random numbers of one call, as C sees them.
struct DrawsForC {
  explicit DrawsForC(const DrawKey& key) : draws(key) {}

  static Draws& Of(stoker_op_draws* c) { return reinterpret_cast<DrawsForC*>(c)->draws; }

  stoker_op_draws c = {
      .bits = [](stoker_op_draws* self) { return Of(self).Bits(); },
      // Bounds may follow from what a client gave as arguments, so that none ends the server.
      .uniform = [](stoker_op_draws* self, double low,
                    double high) { return low <= high ? Of(self).Uniform(low, high) : low; },
      .below = [](stoker_op_draws* self, uint64_t bound) { return bound == 0 ? 0 : Of(self).Below(bound); },
      .fill =
          [](stoker_op_draws* self, uint32_t* words, size_t count) {
            Of(self).Fill({words, count});
          },
  };
  Draws draws;
};

// Values as C sees them; they point into the values that they were made of, which must outlive them.
class ForC {
 public:
  explicit ForC(const std::vector<OwnValue>& values) : values_(values.size()) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (const auto* number = std::get_if<double>(&values[i])) values_[i].number = *number;
      if (const auto* integer = std::get_if<int64_t>(&values[i])) values_[i].integer = *integer;
      if (const auto* boolean = std::get_if<bool>(&values[i])) values_[i].integer = *boolean ? 1 : 0;
      if (const auto* text = std::get_if<std::string>(&values[i])) values_[i].text = text->c_str();
      if (const auto* field = std::get_if<OwnField>(&values[i])) values_[i].field = Add(*field);
    }
  }
  ForC(const ForC&) = delete;
  ForC& operator=(const ForC&) = delete;

  const stoker_op_value* data() const { return values_.data(); }

 private:
  const stoker_op_field* Add(const OwnField& field) {
    return &fields_.emplace_back(
        stoker_op_field{field.dtype, field.shape.size(), field.shape.data(), field.bytes->data()});
  }

  std::vector<stoker_op_value> values_;
  std::deque<stoker_op_field> fields_;
};

static_assert(static_cast<int>(STOKER_OP_UINT8) == v1::DTYPE_UINT8 &&
              static_cast<int>(STOKER_OP_INT16) == v1::DTYPE_INT16 &&
              static_cast<int>(STOKER_OP_INT32) == v1::DTYPE_INT32 &&
              static_cast<int>(STOKER_OP_INT64) == v1::DTYPE_INT64 &&
              static_cast<int>(STOKER_OP_FLOAT16) == v1::DTYPE_FLOAT16 &&
              static_cast<int>(STOKER_OP_BFLOAT16) == v1::DTYPE_BFLOAT16 &&
              static_cast<int>(STOKER_OP_FLOAT32) == v1::DTYPE_FLOAT32 &&
              static_cast<int>(STOKER_OP_FLOAT64) == v1::DTYPE_FLOAT64);

// Returns the example of a field; none where it is none that may be.
std::optional<OwnValue> ExampleOf(const stoker_op_field* field) {
  if (field == nullptr || field->dtype < STOKER_OP_UINT8 || field->dtype > STOKER_OP_FLOAT64 ||
      field->dimensions > kMostDimensions || (field->dimensions > 0 && field->shape == nullptr))
    return std::nullopt;
  OwnField example = {.dtype = static_cast<v1::Dtype>(field->dtype)};
  uint64_t bytes = ByteSize(example.dtype);
  for (const int64_t extent : std::span(field->shape, field->dimensions)) {
    if (extent < 0 || static_cast<uint64_t>(extent) > kMostExampleBytes) return std::nullopt;
    bytes *= static_cast<uint64_t>(extent);
    if (bytes > kMostExampleBytes) return std::nullopt;
    example.shape.push_back(extent);
  }
  if (bytes > 0 && field->data == nullptr) return std::nullopt;
  const auto* const data = static_cast<const uint8_t*>(field->data);
  example.bytes = std::make_shared<const std::vector<uint8_t>>(data, data + bytes);
  return example;
}

// Returns the value of `argument` where none is given; none where its type or the value is none that may be.
std::optional<OwnValue> OtherwiseOf(const stoker_op_argument& argument) {
  switch (argument.type) {
    case STOKER_OP_NUMBER:
      if (!std::isfinite(argument.otherwise.number)) return std::nullopt;
      return argument.otherwise.number;
    case STOKER_OP_INTEGER: return argument.otherwise.integer;
    case STOKER_OP_BOOLEAN: return argument.otherwise.integer != 0;
    case STOKER_OP_TEXT:
      if (argument.otherwise.text == nullptr || !IsUtf8(argument.otherwise.text)) return std::nullopt;
      return std::string(argument.otherwise.text);
    case STOKER_OP_FIELD: return ExampleOf(argument.otherwise.field);
    default: return std::nullopt;
  }
}

bool IsName(const char* name) { return name != nullptr && IsOpName(name); }

// An op of a library in C.
class LibraryOp : public LoadedOp {
 public:
  LibraryOp(const stoker_op& op, std::vector<Argument> arguments)
      : op_(op),
        name_(op.name),
        summary_(PrintableName(op.summary == nullptr ? "" : op.summary)),
        arguments_(std::move(arguments)) {}

  const std::string& name() const override { return name_; }
  uint32_t version() const override { return op_.version; }
  const std::string& summary() const override { return summary_; }
  const std::vector<Argument>& arguments() const override { return arguments_; }
  bool changes_size() const override { return op_.size != nullptr; }

  absl::Status Check(const std::vector<OwnValue>& values) const override {
    const char* const wrong = op_.check == nullptr ? nullptr : op_.check(ForC(values).data());
    return wrong == nullptr ? absl::OkStatus() : absl::InvalidArgumentError(PrintableName(wrong));
  }

  absl::StatusOr<ImageSize> SizeAfter(const std::vector<OwnValue>& values, ImageSize size) const override {
    if (op_.size == nullptr) return size;
    ImageSize after = size;
    op_.size(ForC(values).data(), &after.height, &after.width);
    STOKER_RETURN_IF_ERROR(CheckSizeAfter(*this, size, after));
    return after;
  }

  absl::Status Apply(const std::vector<OwnValue>& values, const DrawKey& key, const uint8_t* in, ImageSize size,
                     uint8_t* out, ImageSize size_after) const override {
    DrawsForC draws(key);
    const stoker_op_image from = {size.height, size.width, const_cast<uint8_t*>(in)};
    stoker_op_image to = {size_after.height, size_after.width, out};
    char why[kWhyBytes] = "";
    const int32_t result = op_.apply(ForC(values).data(), &draws.c, &from, &to, why, sizeof why);
    if (result == STOKER_OP_OK) return absl::OkStatus();
    why[sizeof why - 1] = 0;
    const std::string message =
        absl::StrCat("own op '", name_, "': ", *why == 0 ? "it does not say why" : PrintableName(why));
    return result == STOKER_OP_BAD_SAMPLE ? absl::DataLossError(message) : absl::InternalError(message);
  }

 private:
  const stoker_op& op_;
  const std::string name_, summary_;
  const std::vector<Argument> arguments_;
};

absl::StatusOr<std::unique_ptr<LoadedOp>> Load(const stoker_op& op) {
  if (!IsName(op.name))
    return absl::InvalidArgumentError(absl::StrCat("an op is called '", op.name == nullptr ? "" : op.name,
                                                   "'; names have lower case letters, digits and underscores, and "
                                                   "begin with a letter"));
  const auto wrong = [&](const auto&... what) {
    return absl::InvalidArgumentError(absl::StrCat("op '", op.name, "': ", what...));
  };
  if (op.version == 0) return wrong("its version is 0; versions begin with 1");
  if (op.apply == nullptr) return wrong("has no function `apply`");
  if (op.argument_count > kMostArguments)
    return wrong("has ", op.argument_count, " arguments, at most ", kMostArguments);
  std::vector<LoadedOp::Argument> arguments;
  for (const stoker_op_argument& argument : std::span(op.arguments, op.argument_count)) {
    if (!IsName(argument.name)) return wrong("the name of argument ", arguments.size(), " is no name");
    const auto otherwise = OtherwiseOf(argument);
    if (!otherwise.has_value()) return wrong("argument '", argument.name, "' has a type or default that is none");
    for (const LoadedOp::Argument& other : arguments)
      if (other.name == argument.name) return wrong("two arguments are called '", argument.name, "'");
    arguments.push_back({argument.name, *otherwise, argument.required != 0});
  }
  return std::make_unique<LibraryOp>(op, std::move(arguments));
}

// Tries `op`, and adds it to `ops`.
absl::Status Add(std::unique_ptr<LoadedOp> op, LoadedOps& ops) {
  std::vector<std::string> ours = KeysOf(*v1::Op::descriptor());
  for (int i = 0; i < v1::Op::descriptor()->field_count(); ++i) ours.push_back(v1::Op::descriptor()->field(i)->name());
  if (FindField(*v1::Op::descriptor(), op->name()) != nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat("op '", op->name(), "': Stoker has an op of that name; choose another"));
  // Pipelines take such a name for a mistake.
  if (const std::string hint = DidYouMean(op->name(), ours); !hint.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("op '", op->name(), "' is called almost as one of Stoker's", hint, "; choose another name"));
  for (const auto& other : ops)
    if (other->name() == op->name())
      return absl::InvalidArgumentError(absl::StrCat("op '", op->name(), "' was loaded before"));
  STOKER_ASSIGN_OR_RETURN(const uint64_t check, CheckOp(*op));
  op->set_check(check);
  ops.push_back(std::move(op));
  return absl::OkStatus();
}

absl::Status In(const std::string& file, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("ops: '", file, "': ", status.message()));
}

absl::Status LoadFile(const std::string& file, LoadedOps& ops) {
  // A name without a slash would be looked for in the system's folders.
  void* const library =
      dlopen(absl::StrCat(file.find('/') == std::string::npos ? "./" : "", file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return absl::InvalidArgumentError(dlerror());
  const auto list = reinterpret_cast<decltype(&stoker_op_library)>(dlsym(library, "stoker_op_library"));
  if (list == nullptr)
    return absl::InvalidArgumentError("is no library of ops: it has no function stoker_op_library (see stoker_op.h)");
  const stoker_op_table* const table = list();
  if (table == nullptr || table->abi != STOKER_OP_ABI)
    return absl::InvalidArgumentError(absl::StrCat("was made for version ", table == nullptr ? 0 : table->abi,
                                                   " of stoker_op.h, and this server has ", STOKER_OP_ABI,
                                                   "; compile it with this server's stoker_op.h"));
  if (table->op_count == 0) return absl::InvalidArgumentError("has no ops");
  for (const stoker_op& op : std::span(table->ops, table->op_count)) {
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<LoadedOp> loaded, Load(op));
    STOKER_RETURN_IF_ERROR(Add(std::move(loaded), ops));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LoadedOps> LoadOps(const std::vector<std::string>& files, const PythonOptions& python) {
  LoadedOps ops;
  std::vector<std::string> of_python;
  for (const std::string& file : files) {
    if (file.ends_with(".py")) {
      of_python.push_back(file);
    } else if (const absl::Status status = LoadFile(file, ops); !status.ok()) {
      return In(file, status);
    }
  }
  absl::StatusOr<LoadedOps> loaded = LoadPythonOps(of_python, python);
  if (!loaded.ok()) return absl::Status(loaded.status().code(), absl::StrCat("ops: ", loaded.status().message()));
  for (auto& op : *loaded)
    if (const absl::Status status = Add(std::move(op), ops); !status.ok())
      return absl::Status(status.code(), absl::StrCat("ops: ", status.message()));
  return ops;
}

}  // namespace stoker
