#ifndef STOKER_CLIENT_CLI_PRINTABLE_H_
#define STOKER_CLIENT_CLI_PRINTABLE_H_

#include <string>
#include <string_view>

namespace stoker {

// What a server sent, safe to print: control characters, which a terminal might obey, and bytes that are not UTF-8
// become \xNN. A backslash stays: servers have escaped their names once.
std::string Printable(std::string_view text);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_PRINTABLE_H_
