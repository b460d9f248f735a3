#include "common/config/key_names.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace stoker {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::OneofDescriptor;

// Turns "RandomCrop" into "random_crop".
std::string SnakeCase(const std::string& name) {
  std::string snake;
  for (size_t i = 0; i < name.size(); ++i) {
    if (i > 0 && absl::ascii_isupper(name[i]) && !absl::ascii_isupper(name[i - 1])) snake += '_';
    snake += absl::ascii_tolower(name[i]);
  }
  return snake;
}

bool IsSingularMessage(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_repeated();
}

}  // namespace

std::string KeyOf(const FieldDescriptor& field) {
  const OneofDescriptor* choice = field.real_containing_oneof();
  const bool is_the_choice = choice != nullptr && choice->name() == SnakeCase(field.containing_type()->name());
  return is_the_choice && IsSingularMessage(field) ? field.message_type()->name() : field.name();
}

std::vector<std::string> KeysOf(const Descriptor& message) {
  std::vector<std::string> keys;
  keys.reserve(message.field_count());
  for (int i = 0; i < message.field_count(); ++i) keys.push_back(KeyOf(*message.field(i)));
  return keys;
}

const FieldDescriptor* FindField(const Descriptor& message, const std::string& key) {
  if (const FieldDescriptor* field = message.FindFieldByName(key)) return field;
  const FieldDescriptor* found = nullptr;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    if (!IsSingularMessage(field) || field.message_type()->name() != key) continue;
    if (found != nullptr) return nullptr;
    found = &field;
  }
  return found;
}

std::string WordOf(const EnumValueDescriptor& value) {
  const std::string prefix = SnakeCase(value.type()->name()) + "_", word = absl::AsciiStrToLower(value.name());
  return absl::StartsWith(word, prefix) ? word.substr(prefix.size()) : word;
}

std::vector<std::string> WordsOf(const EnumDescriptor& type) {
  std::vector<std::string> words;
  for (int i = 0; i < type.value_count(); ++i)
    if (std::string word = WordOf(*type.value(i)); word != "unspecified") words.push_back(std::move(word));
  return words;
}

const EnumValueDescriptor* FindValue(const EnumDescriptor& type, const std::string& word) {
  const std::string wanted = absl::AsciiStrToLower(word);
  for (int i = 0; i < type.value_count(); ++i)
    if (WordOf(*type.value(i)) == wanted) return type.value(i);
  return nullptr;
}

}  // namespace stoker
