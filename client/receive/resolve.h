#ifndef STOKER_CLIENT_RECEIVE_RESOLVE_H_
#define STOKER_CLIENT_RECEIVE_RESOLVE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// The parts of a server's name as a user writes it. A value.
struct ServerName {
  bool all_addresses = false;  // It was dns:///name:port: every address of the name is a server.
  std::string host;
  std::string port;
  std::string path;      // The path of unix:/path or file:/path; host and port are empty then.
  bool is_list = false;  // It was file:/path: a file that names servers, one a line.
};

// Parses "host:port", "host" (port 7077), "[v6]:port", "unix:/path", "dns:///name:port" or "file:/path".
// InvalidArgument shows what can be written.
absl::StatusOr<ServerName> ParseServerName(const std::string& text);

// The addresses that gRPC connects to, sorted. A dns:/// name is looked up, which may block for seconds, and a list is
// read, without its blank lines and what follows a #; any other name is its own address. NotFound if there is no such
// name or list; Unavailable if a name cannot be looked up now, or a list cannot be read, has a line that names no
// server, or has more than 1 MiB or 4096 servers.
absl::StatusOr<std::vector<std::string>> Resolve(const ServerName& name);

}  // namespace stoker

#endif  // STOKER_CLIENT_RECEIVE_RESOLVE_H_
