#ifndef STOKER_COMMON_CONFIG_KEY_NAMES_H_
#define STOKER_COMMON_CONFIG_KEY_NAMES_H_

#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"

namespace stoker {

// These functions say how the schema's names are written in YAML. They are pure functions of descriptors, thread-safe.

// Returns the key that a field is written with. This is its name, or its type's name if the field belongs to a oneof
// that is called like the message: `RandomResizedCrop` in Op, whose oneof is `op`.
std::string KeyOf(const google::protobuf::FieldDescriptor& field);

// Returns KeyOf each of a message's fields, in order of declaration.
std::vector<std::string> KeysOf(const google::protobuf::Descriptor& message);

// Returns the field that `key` means, or null. A key is a field's name, or the name of a message field's type if no
// other field has that type.
const google::protobuf::FieldDescriptor* FindField(const google::protobuf::Descriptor& message, const std::string& key);

// Returns how a value is written: in lower case, without the enum's prefix (`uint8` for DTYPE_UINT8).
std::string WordOf(const google::protobuf::EnumValueDescriptor& value);

// Returns WordOf each of an enum's values, in order of declaration, without `unspecified`.
std::vector<std::string> WordsOf(const google::protobuf::EnumDescriptor& type);

// Returns the value that `word` means, in upper or lower case, or null.
const google::protobuf::EnumValueDescriptor* FindValue(const google::protobuf::EnumDescriptor& type,
                                                       const std::string& word);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_KEY_NAMES_H_
