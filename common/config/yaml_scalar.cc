#include "common/config/yaml_scalar.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/check.h"
#include "common/config/key_names.h"
#include "common/config/nearest_word.h"
#include "common/config/text.h"
#include "google/protobuf/descriptor.h"

namespace stoker {
namespace {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

absl::Status Expected(const std::string& want, const std::string& text) {
  return absl::InvalidArgumentError(absl::StrCat("expected ", want, ", found '", Shown(text), "'"));
}

template <typename T>
absl::StatusOr<T> ParseInteger(const std::string& text) {
  const size_t sign = !text.empty() && text[0] == '-' ? 1 : 0;
  if (text.size() == sign || text.find_first_not_of("0123456789", sign) != text.npos)
    return Expected("a whole number", text);
  T value = 0;
  if (absl::SimpleAtoi(text, &value)) return value;
  using Limits = std::numeric_limits<T>;
  return Expected(absl::StrCat("a whole number from ", Limits::min(), " to ", Limits::max()), text);
}

template <typename T>
absl::StatusOr<T> ParseReal(const std::string& text) {
  double value = 0;
  // SimpleAtod would also accept "inf" and "nan", and space around the number.
  if (text.find_first_not_of("0123456789.eE+-") != text.npos || !absl::SimpleAtod(text, &value))
    return Expected("a number", text);
  if (!(std::abs(value) <= std::numeric_limits<T>::max())) return Expected("a finite number", text);
  return static_cast<T>(value);
}

absl::StatusOr<bool> ParseBool(const std::string& text) {
  const std::string word = absl::AsciiStrToLower(text);
  if (word != "true" && word != "false") return Expected("true or false", text);
  return word == "true";
}

absl::StatusOr<int> ParseEnum(const std::string& text, const FieldDescriptor& field) {
  if (const EnumValueDescriptor* value = FindValue(*field.enum_type(), text)) return value->number();
  const std::string error(Expected(WantOf(field), text).message());
  return absl::InvalidArgumentError(error + DidYouMean(text, WordsOf(*field.enum_type())));
}

template <typename Real>
std::string PrintReal(Real value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  char digits[32];
  // to_chars prints the fewest digits that read back as `value`.
  return {digits, std::to_chars(digits, std::end(digits), value).ptr};
}

std::string PrintEnum(int number, const FieldDescriptor& field) {
  const EnumValueDescriptor* value = field.enum_type()->FindValueByNumber(number);
  return value == nullptr ? absl::StrCat(number) : WordOf(*value);
}

// Stores `value` with Reflection's `set` for a singular field or `add` for a repeated one. If `value` is an error,
// returns it.
template <typename Value, typename Setter>
absl::Status Store(absl::StatusOr<Value> value, Setter set, Setter add, const FieldDescriptor& field,
                   Message& message) {
  if (!value.ok()) return value.status();
  const Reflection& reflection = *message.GetReflection();
  (reflection.*(field.is_repeated() ? add : set))(&message, &field, *std::move(value));
  return absl::OkStatus();
}

}  // namespace

std::string WantOf(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_DOUBLE: return "a number";
    case FieldDescriptor::CPPTYPE_BOOL: return "true or false";
    case FieldDescriptor::CPPTYPE_STRING: return "text";
    case FieldDescriptor::CPPTYPE_ENUM: return "one of " + absl::StrJoin(WordsOf(*field.enum_type()), ", ");
    default: return "a whole number";
  }
}

absl::Status StoreScalar(const std::string& text, const FieldDescriptor& field, Message& message) {
  using R = Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return Store(ParseInteger<int32_t>(text), &R::SetInt32, &R::AddInt32, field, message);
    case FieldDescriptor::CPPTYPE_INT64:
      return Store(ParseInteger<int64_t>(text), &R::SetInt64, &R::AddInt64, field, message);
    case FieldDescriptor::CPPTYPE_UINT32:
      return Store(ParseInteger<uint32_t>(text), &R::SetUInt32, &R::AddUInt32, field, message);
    case FieldDescriptor::CPPTYPE_UINT64:
      return Store(ParseInteger<uint64_t>(text), &R::SetUInt64, &R::AddUInt64, field, message);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Store(ParseReal<float>(text), &R::SetFloat, &R::AddFloat, field, message);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Store(ParseReal<double>(text), &R::SetDouble, &R::AddDouble, field, message);
    case FieldDescriptor::CPPTYPE_BOOL: return Store(ParseBool(text), &R::SetBool, &R::AddBool, field, message);
    case FieldDescriptor::CPPTYPE_ENUM:
      return Store(ParseEnum(text, field), &R::SetEnumValue, &R::AddEnumValue, field, message);
    case FieldDescriptor::CPPTYPE_STRING:
      return Store(absl::StatusOr<std::string>(text), &R::SetString, &R::AddString, field, message);
    case FieldDescriptor::CPPTYPE_MESSAGE: break;
  }
  STOKER_CHECK(false);
  return absl::OkStatus();
}

std::string PrintScalar(const Message& message, const FieldDescriptor& field, int index) {
  const Reflection& reflection = *message.GetReflection();
  const auto get = [&](auto singular, auto repeated) {
    return index < 0 ? (reflection.*singular)(message, &field) : (reflection.*repeated)(message, &field, index);
  };
  using R = Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: return absl::StrCat(get(&R::GetInt32, &R::GetRepeatedInt32));
    case FieldDescriptor::CPPTYPE_INT64: return absl::StrCat(get(&R::GetInt64, &R::GetRepeatedInt64));
    case FieldDescriptor::CPPTYPE_UINT32: return absl::StrCat(get(&R::GetUInt32, &R::GetRepeatedUInt32));
    case FieldDescriptor::CPPTYPE_UINT64: return absl::StrCat(get(&R::GetUInt64, &R::GetRepeatedUInt64));
    case FieldDescriptor::CPPTYPE_FLOAT: return PrintReal(get(&R::GetFloat, &R::GetRepeatedFloat));
    case FieldDescriptor::CPPTYPE_DOUBLE: return PrintReal(get(&R::GetDouble, &R::GetRepeatedDouble));
    case FieldDescriptor::CPPTYPE_BOOL: return get(&R::GetBool, &R::GetRepeatedBool) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_ENUM: return PrintEnum(get(&R::GetEnumValue, &R::GetRepeatedEnumValue), field);
    case FieldDescriptor::CPPTYPE_STRING: return get(&R::GetString, &R::GetRepeatedString);
    case FieldDescriptor::CPPTYPE_MESSAGE: break;
  }
  STOKER_CHECK(false);
  return "";
}

}  // namespace stoker
