#ifndef STOKER_COMMON_CONFIG_TEXT_H_
#define STOKER_COMMON_CONFIG_TEXT_H_

#include <string>
#include <string_view>

namespace stoker {

// True if `text` is well-formed UTF-8 (The Unicode Standard 15.0, table 3-7), as protobuf demands of a string.
bool IsUtf8(std::string_view text);

// Prepares what somebody wrote for an error message: on one line, escaped as in C, cut after 64 bytes.
std::string Shown(std::string_view text);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_TEXT_H_
