#include <algorithm>
#include <map>
#include <vector>

#include "common/config/key_names.h"
#include "common/config/yaml_proto.h"
#include "common/config/yaml_scalar.h"
#include "google/protobuf/descriptor.h"
#include "yaml-cpp/emitter.h"

namespace stoker {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

void WriteMessage(const Message& message, YAML::Emitter& out);

// Returns the fields that are set, in order of declaration, but the member of a choice first: `- Resize: {…}` comes
// before `placement:`.
std::vector<const FieldDescriptor*> FieldsOf(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  std::stable_partition(fields.begin(), fields.end(),
                        [](const FieldDescriptor* field) { return KeyOf(*field) != field->name(); });
  return fields;
}

bool IsMessage(const FieldDescriptor* field) { return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE; }

// Writes a text. yaml-cpp quotes all texts that need it, but those with a carriage return.
void WriteText(const std::string& text, YAML::Emitter& out) {
  if (text.find('\r') != text.npos) out << YAML::DoubleQuoted;
  out << text;
}

void WriteMap(const Message& message, const FieldDescriptor& field, YAML::Emitter& out) {
  const FieldDescriptor &key = *field.message_type()->map_key(), &value = *field.message_type()->map_value();
  const Reflection& reflection = *message.GetReflection();
  std::map<std::string, const Message*> entries;  // Sorted, so that equal messages print alike.
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    entries[PrintScalar(entry, key, -1)] = &entry;
  }
  out << YAML::BeginMap;
  for (const auto& [name, entry] : entries) {
    out << YAML::Key;
    WriteText(name, out);
    out << YAML::Value;
    if (IsMessage(&value)) {
      WriteMessage(entry->GetReflection()->GetMessage(*entry, &value), out);
    } else {
      WriteText(PrintScalar(*entry, value, -1), out);
    }
  }
  out << YAML::EndMap;
}

void WriteList(const Message& message, const FieldDescriptor& field, YAML::Emitter& out) {
  const Reflection& reflection = *message.GetReflection();
  if (!IsMessage(&field)) out << YAML::Flow;
  out << YAML::BeginSeq;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    if (IsMessage(&field)) {
      WriteMessage(reflection.GetRepeatedMessage(message, &field, i), out);
    } else {
      WriteText(PrintScalar(message, field, i), out);
    }
  }
  out << YAML::EndSeq;
}

void WriteField(const Message& message, const FieldDescriptor& field, YAML::Emitter& out) {
  if (field.is_map()) return WriteMap(message, field, out);
  if (field.is_repeated()) return WriteList(message, field, out);
  if (IsMessage(&field)) return WriteMessage(message.GetReflection()->GetMessage(message, &field), out);
  WriteText(PrintScalar(message, field, -1), out);
}

void WriteFields(const Message& message, const std::vector<const FieldDescriptor*>& fields, YAML::Emitter& out) {
  out << YAML::BeginMap;
  for (const FieldDescriptor* field : fields) {
    out << YAML::Key << KeyOf(*field) << YAML::Value;
    WriteField(message, *field, out);
  }
  out << YAML::EndMap;
}

// Writes a message, in braces on one line if it holds no other message.
void WriteMessage(const Message& message, YAML::Emitter& out) {
  const std::vector<const FieldDescriptor*> fields = FieldsOf(message);
  if (std::none_of(fields.begin(), fields.end(), IsMessage)) out << YAML::Flow;
  WriteFields(message, fields, out);
}

}  // namespace

std::string ToYaml(const Message& message) {
  YAML::Emitter out;
  WriteFields(message, FieldsOf(message), out);
  return out.c_str() + std::string("\n");
}

}  // namespace stoker
