#ifndef STOKER_COMMON_CONFIG_KEY_NAMES_H_
#define STOKER_COMMON_CONFIG_KEY_NAMES_H_

#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"

namespace stoker {

// How the schema's names are written in YAML. Pure functions of descriptors, thread-safe.

// The key that a field is written with: its name; its type's name where the message is a choice of the field's
// kind, as Op is of `oneof op` (`RandomResizedCrop`).
std::string KeyOf(const google::protobuf::FieldDescriptor& field);

// The keys of a message, in order of declaration, as KeyOf gives them.
std::vector<std::string> KeysOf(const google::protobuf::Descriptor& message);

// The field that `key` means: its name, or the type's name of a message field if no other field has that type.
// Null if there is none.
const google::protobuf::FieldDescriptor* FindField(const google::protobuf::Descriptor& message, const std::string& key);

// A value as written: lower case, without the enum's prefix (DTYPE_UINT8 is `uint8`).
std::string WordOf(const google::protobuf::EnumValueDescriptor& value);

// The words of an enum, in order of declaration, without `unspecified`.
std::vector<std::string> WordsOf(const google::protobuf::EnumDescriptor& type);

// The value that `word` means, in any case. Null if there is none.
const google::protobuf::EnumValueDescriptor* FindValue(const google::protobuf::EnumDescriptor& type,
                                                       const std::string& word);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_KEY_NAMES_H_
