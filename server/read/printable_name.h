#ifndef STOKER_SERVER_READ_PRINTABLE_NAME_H_
#define STOKER_SERVER_READ_PRINTABLE_NAME_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace stoker {

// A file's name, which may hold any bytes, as text that is safe in a log line, a terminal and a protobuf string:
// valid UTF-8 stays as it is, a backslash is doubled, and each byte of what is not UTF-8 or would break or reorder a
// line (control characters, line and paragraph separators, bidirectional controls) becomes \xNN. Different names
// stay different.
std::string PrintableName(std::string_view name);

// PrintableName for an error message: of a name longer than 256 bytes, its first and last 127.
std::string ShortPrintableName(std::string_view name);

// `status` with "NAME: " before its message, by ShortPrintableName.
absl::Status NamedError(std::string_view name, const absl::Status& status);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_PRINTABLE_NAME_H_
