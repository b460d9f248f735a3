#ifndef STOKER_COMMON_CONFIG_YAML_PROTO_H_
#define STOKER_COMMON_CONFIG_YAML_PROTO_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace stoker {

// Reads YAML into a protobuf message by reflection: keys are field names. Pure functions but for the file, thread-safe.
//
// Beside a field's own name a message field answers to its type's name (`RandomResizedCrop:`). Enum values
// are written without their prefix, in any case (`bilinear`). A scalar stands for a list of one
// (`size: 224`), an empty value for an empty message (`- RandomHorizontalFlip:`) or list. Numbers are decimal and
// finite. Quoted or plain, a scalar means the same.
//
// An unknown or repeated key, a value of the wrong type or out of range, and two members of a oneof are
// InvalidArgument: "FILE:LINE:COLUMN: datasets[0].image_foldr: unknown key; did you mean 'image_folder'?".
// Bounded: 1 MiB of text, 32 levels; anchors, aliases, tags and further documents are refused.
//
// What `message` held is lost; after an error it holds a part of the text.
absl::Status ParseYaml(std::string_view text, const std::string& file, google::protobuf::Message& message);

// Reads the file at `path`, whose name errors begin with. A file that cannot be read is NotFound, PermissionDenied
// or what else its errno means.
absl::Status ReadYamlFile(const std::string& path, google::protobuf::Message& message);

// The message as YAML that ParseYaml reads back to an equal one. What it cannot read back is printed as it is: numbers
// that are not finite and enum values that this build does not know.
std::string ToYaml(const google::protobuf::Message& message);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_YAML_PROTO_H_
