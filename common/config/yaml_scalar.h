#ifndef STOKER_COMMON_CONFIG_YAML_SCALAR_H_
#define STOKER_COMMON_CONFIG_YAML_SCALAR_H_

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace stoker {

// These functions convert the values of fields that are not messages. Pure, thread-safe.

// Says for an error what a field expects: "a whole number", "one of text, json".
std::string WantOf(const google::protobuf::FieldDescriptor& field);

// Parses `text` and stores it in a field: sets a singular field, adds an element to a repeated one. InvalidArgument
// says what was expected, but not where: "expected a whole number, found 'abc'".
absl::Status StoreScalar(const std::string& text, const google::protobuf::FieldDescriptor& field,
                         google::protobuf::Message& message);

// Prints element `index` of a repeated field, or a singular field if `index` is −1. StoreScalar reads it back.
std::string PrintScalar(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                        int index);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_YAML_SCALAR_H_
