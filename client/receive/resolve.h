#ifndef STOKER_CLIENT_RECEIVE_RESOLVE_H_
#define STOKER_CLIENT_RECEIVE_RESOLVE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// A server as a user writes it, told apart.
struct ServerName {
  bool all_addresses = false;  // dns:///name:port: every address of the name is a server
  std::string host;
  std::string port;
  std::string path;      // unix:/path or file:/path; then host and port are empty
  bool is_list = false;  // file:/path: a file that names a server a line, read again every few seconds
};

// "host:port", "host", "[v6]:port", "unix:/path", "dns:///name:port", "file:/path". InvalidArgument shows what can be
// written.
absl::StatusOr<ServerName> ParseServerName(const std::string& text);

// The addresses that gRPC connects to, sorted. Looks dns names up, which may block for seconds, and reads lists, of
// which blank lines and what follows a # count for nothing; others stand for themselves. Unavailable if a name has no
// address now, or a list cannot be read or has a line that is no server.
absl::StatusOr<std::vector<std::string>> Resolve(const ServerName& name);

}  // namespace stoker

#endif  // STOKER_CLIENT_RECEIVE_RESOLVE_H_
