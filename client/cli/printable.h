#ifndef STOKER_CLIENT_CLI_PRINTABLE_H_
#define STOKER_CLIENT_CLI_PRINTABLE_H_

#include <string>
#include <string_view>

namespace stoker {

// Makes what a server sent safe to print. Control characters, which a terminal might obey, become \xNN; so do all bytes
// beyond ASCII if the text is not UTF-8. A backslash stays, since servers have escaped names already.
std::string Printable(std::string_view text);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_PRINTABLE_H_
