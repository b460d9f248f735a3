#ifndef STOKER_SERVER_READ_PRINTABLE_NAME_H_
#define STOKER_SERVER_READ_PRINTABLE_NAME_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace stoker {

// Functions that make names fit for people to read. All are pure.

// Turns a file's name, which may hold any bytes, into text that is safe in a log line, a terminal and a protobuf
// string. Different names stay different.
//
// Valid UTF-8 stays as it is, and a backslash is doubled. A byte becomes \xNN where it is not UTF-8, and so does each
// byte of a character that would break or reorder a line: control characters, line and paragraph separators,
// bidirectional controls.
std::string PrintableName(std::string_view name);

// Does the same for an error message. A name longer than 256 bytes is cut to its first and last 127.
std::string ShortPrintableName(std::string_view name);

// Returns `status` with "NAME: " before its message, where NAME is ShortPrintableName(name).
absl::Status NamedError(std::string_view name, const absl::Status& status);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_PRINTABLE_NAME_H_
