#ifndef STOKER_COMMON_CONFIG_YAML_SCALAR_H_
#define STOKER_COMMON_CONFIG_YAML_SCALAR_H_

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace stoker {

// What a field that is no message wants, for errors: "a whole number", "one of text, json".
std::string WantOf(const google::protobuf::FieldDescriptor& field);

// Puts what `text` means into a field that is no message: sets it, or adds to it where it is repeated.
// InvalidArgument without a place: "expected a whole number, found 'abc'".
absl::Status StoreScalar(const std::string& text, const google::protobuf::FieldDescriptor& field,
                         google::protobuf::Message& message);

// Element `index` of a repeated field, or a singular field if `index` is −1, as StoreScalar reads it back.
std::string PrintScalar(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                        int index);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_YAML_SCALAR_H_
