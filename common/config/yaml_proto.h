#ifndef STOKER_COMMON_CONFIG_YAML_PROTO_H_
#define STOKER_COMMON_CONFIG_YAML_PROTO_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace stoker {

// These functions turn YAML into protobuf messages and back, by reflection. All are thread-safe.

// Reads YAML into `message`, replacing what it held. `file` is a name for errors. After an error `message` holds a part
// of the text.
//
// Keys are field names; a message field may also be called by its type's name (`RandomResizedCrop:`). Enum values are
// written without their prefix, in upper or lower case (`bilinear`). A scalar may stand for a list of one (`size:
// 224`) or for a message's field `from` (`image: jpg`), a list for its field `parts`, and an empty value for an empty
// message (`- RandomHorizontalFlip:`) or list. Numbers are decimal and finite. A scalar means the same with and without
// quotes.
//
// InvalidArgument for an unknown or repeated key, a value of the wrong type or out of range, and two members of a
// oneof: "FILE:LINE:COLUMN: datasets[0].image_foldr: unknown key; did you mean 'image_folder'?". The text may have 1
// MiB and 32 levels. Anchors, aliases, tags and further documents are refused.
absl::Status ParseYaml(std::string_view text, const std::string& file, google::protobuf::Message& message);

// Reads the file at `path` as ParseYaml does. If the file cannot be read, the code is what its errno means: NotFound,
// PermissionDenied and so on.
absl::Status ReadYamlFile(const std::string& path, google::protobuf::Message& message);

// Writes `message` as YAML that ParseYaml reads back to an equal message. Two things it prints but cannot read back:
// numbers that are not finite, and enum values that this build does not know.
std::string ToYaml(const google::protobuf::Message& message);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_YAML_PROTO_H_
