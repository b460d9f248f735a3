#include "client/receive/resolve.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/receive/look_up.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr char kDefaultPort[] = "7077";

absl::Status Malformed(const std::string& text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "servers: '", text,
      "' is no server; write host:port, dns:///name:port for all addresses of a name, file:/path for those "
      "that a file lists, or unix:/path"));
}

bool IsPort(const std::string& text) {
  int port = 0;
  return absl::SimpleAtoi(text, &port) && port >= 1 && port <= 65535;
}

}  // namespace

absl::StatusOr<ServerName> ParseServerName(const std::string& text) {
  ServerName name;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "unix:")) {
    name.path = std::string(rest);
    if (name.path.empty()) return Malformed(text);
    return name;
  }
  if (absl::ConsumePrefix(&rest, "file:")) {
    absl::ConsumePrefix(&rest, "//");
    name.is_list = true;
    name.path = std::string(rest);
    if (name.path.empty()) return Malformed(text);
    return name;
  }
  name.all_addresses = absl::ConsumePrefix(&rest, "dns:///");
  const size_t bracket = rest.rfind(']'), colon = rest.rfind(':');
  const bool has_port = colon != rest.npos && (bracket == rest.npos || colon > bracket);
  name.host = std::string(has_port ? rest.substr(0, colon) : rest);
  name.port = has_port ? std::string(rest.substr(colon + 1)) : kDefaultPort;
  const bool clean = name.host.find_first_of("/ \t\n,") == std::string::npos &&
                     (name.host.find(':') == std::string::npos || name.host.front() == '[');
  if (name.host.empty() || !clean || !IsPort(name.port)) return Malformed(text);
  return name;
}

namespace {

// What a list that cannot be read fails with.
absl::Status Unreadable(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 && errno == ENOENT) return absl::NotFoundError("there is no such file");
  return absl::UnavailableError("this list of servers cannot be read");
}

absl::StatusOr<std::vector<std::string>> ReadList(const std::string& path) {
  std::ifstream file(path);
  std::set<std::string> addresses;
  for (std::string line; std::getline(file, line);) {
    const absl::string_view entry = absl::StripAsciiWhitespace(absl::string_view(line).substr(0, line.find('#')));
    if (entry.empty()) continue;
    const auto name = ParseServerName(std::string(entry));
    if (!name.ok() || name->is_list)
      return absl::UnavailableError(absl::StrCat("'", entry, "' is no server; write host:port"));
    const auto found = Resolve(*name);
    if (!found.ok()) return absl::Status(found.status().code(), absl::StrCat(entry, ": ", found.status().message()));
    addresses.insert(found->begin(), found->end());
  }
  if (!file.eof()) return Unreadable(path);
  return std::vector<std::string>(addresses.begin(), addresses.end());
}

}  // namespace

absl::StatusOr<std::vector<std::string>> Resolve(const ServerName& name) {
  if (name.is_list) return ReadList(name.path);
  if (!name.path.empty()) return std::vector<std::string>{"unix:" + name.path};
  if (!name.all_addresses) return std::vector<std::string>{absl::StrCat(name.host, ":", name.port)};
  STOKER_ASSIGN_OR_RETURN(const HostAddresses found, LookUp(name.host, name.port));
  std::set<std::string> addresses;
  for (const addrinfo* entry = found.get(); entry != nullptr; entry = entry->ai_next) {
    char host[NI_MAXHOST];
    if (getnameinfo(entry->ai_addr, entry->ai_addrlen, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    addresses.insert(entry->ai_family == AF_INET6 ? absl::StrCat("[", host, "]:", name.port)
                                                  : absl::StrCat(host, ":", name.port));
  }
  return std::vector<std::string>(addresses.begin(), addresses.end());
}

}  // namespace stoker
