#include "server/plugin/python_offer.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/config/text.h"
#include "nlohmann/json.hpp"
#include "server/plugin/op_name.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr int kProtocol = 3;  // _PROTOCOL of _op_worker.py
constexpr size_t kMostOffered = 64;

absl::Status Strange(const std::string& what) {
  return absl::FailedPreconditionError(
      absl::StrCat("it describes its ops in a way that this server does not know: ", what));
}

// Returns the example of a field, whose bytes are `value` in hexadecimal; none where it is none.
std::optional<OwnValue> FieldOf(const Json& argument, const Json& value) {
  OwnField field;
  const std::string dtype = argument.at("dtype").get<std::string>(), hex = value.get<std::string>();
  for (int i = v1::DTYPE_UINT8; i <= v1::DTYPE_FLOAT64; ++i)
    if (DtypeName(static_cast<v1::Dtype>(i)) == dtype) field.dtype = static_cast<v1::Dtype>(i);
  field.shape = argument.at("shape").get<std::vector<int64_t>>();
  const bool is_hex = std::all_of(hex.begin(), hex.end(), [](char c) { return absl::ascii_isxdigit(c); });
  if (field.dtype == v1::DTYPE_UNSPECIFIED || field.shape.size() > kMostDimensions || !is_hex || hex.size() % 2 != 0)
    return std::nullopt;
  uint64_t bytes = ByteSize(field.dtype);
  for (const int64_t extent : field.shape) {
    if (extent < 0 || static_cast<uint64_t>(extent) > hex.size()) return std::nullopt;
    bytes *= static_cast<uint64_t>(extent);
    if (bytes > hex.size()) return std::nullopt;
  }
  if (bytes != hex.size() / 2) return std::nullopt;
  const std::string data = absl::HexStringToBytes(hex);
  field.bytes = std::make_shared<const std::vector<uint8_t>>(data.begin(), data.end());
  return field;
}

// Returns the value of `argument` where none is given; none where it is not of its type.
std::optional<OwnValue> ValueOf(const Json& argument) {
  const std::string type = argument.at("type").get<std::string>();
  const Json& value = argument.at("default");
  if (type == "float" && value.is_number() && std::isfinite(value.get<double>())) return value.get<double>();
  if (type == "int" && value.is_number_integer()) return value.get<int64_t>();
  if (type == "bool" && value.is_boolean()) return value.get<bool>();
  if (type == "field") return FieldOf(argument, value);
  if (type == "str" && value.is_string() && IsUtf8(value.get<std::string>())) return value.get<std::string>();
  return std::nullopt;
}

absl::StatusOr<PythonOffer> OfferOf(const Json& op) {
  PythonOffer offer;
  offer.name = op.at("name").get<std::string>();
  if (!IsOpName(offer.name)) return Strange(absl::StrCat("'", PrintableName(offer.name), "' is no name"));
  offer.file = op.at("file").get<std::string>();
  offer.summary = PrintableName(op.at("summary").get<std::string>());
  offer.made_of = PrintableName(op.at("made_of").get<std::string>());
  const auto version = op.at("version").get<int64_t>();
  if (version < 1 || version > UINT32_MAX) return Strange(absl::StrCat("version ", version, " of '", offer.name, "'"));
  offer.version = static_cast<uint32_t>(version);
  offer.changes_size = op.at("changes_size").get<bool>();
  for (const Json& argument : op.at("arguments")) {
    const std::string name = argument.at("name").get<std::string>();
    const std::optional<OwnValue> value = ValueOf(argument);
    if (name.empty() || !value.has_value() || offer.arguments.size() == kMostOffered)
      return Strange(absl::StrCat("argument '", PrintableName(name), "' of '", offer.name, "'"));
    offer.arguments.push_back({name, *value, argument.at("required").get<bool>()});
  }
  return offer;
}

}  // namespace

absl::StatusOr<std::vector<PythonOffer>> ParseOffer(std::string_view text) try {
  const Json said = Json::parse(text);
  if (said.contains("error")) return absl::InvalidArgumentError(said["error"].get<std::string>());
  if (said.at("protocol").get<int64_t>() != kProtocol)
    return absl::FailedPreconditionError("its package stoker is of another version than this server");
  std::vector<PythonOffer> offers;
  for (const Json& op : said.at("ops")) {
    auto offer = OfferOf(op);
    if (!offer.ok()) return offer.status();
    offers.push_back(*std::move(offer));
  }
  return offers;
} catch (const Json::exception& error) {
  return Strange(PrintableName(error.what()));
}

}  // namespace stoker
