#include "client/receive/resolve.h"

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
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

// The most that a list of servers may have. A file that has more is another file.
constexpr size_t kMostListBytes = 1 << 20;
constexpr size_t kMostListed = 4096;

// How much of an entry at fault is shown.
constexpr size_t kShownBytes = 80;

// What a list fails with that `errno` says cannot be read.
absl::Status Unreadable() {
  if (errno == ENOENT || errno == ENOTDIR) return absl::NotFoundError("there is no such file");
  return absl::UnavailableError(absl::StrCat("this list of servers cannot be read: ", std::strerror(errno)));
}

// Closes a file that was opened for reading.
struct FileCloser {
  void operator()(FILE* file) const { fclose(file); }
};

// Opens a file of at most kMostListBytes; never waits for who would write to a pipe.
absl::StatusOr<std::unique_ptr<FILE, FileCloser>> OpenList(const std::string& path) {
  const int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (opened < 0) return Unreadable();
  std::unique_ptr<FILE, FileCloser> file(fdopen(opened, "r"));
  if (file == nullptr) {
    close(opened);
    return Unreadable();
  }
  struct stat status;
  if (fstat(opened, &status) != 0) return Unreadable();
  if (!S_ISREG(status.st_mode)) return absl::UnavailableError("this list of servers is not a file");
  return file;
}

absl::StatusOr<std::string> ReadListText(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const auto file, OpenList(path));
  std::string text(kMostListBytes + 1, '\0');  // It may grow while it is read.
  text.resize(fread(text.data(), 1, text.size(), file.get()));
  if (ferror(file.get()) != 0) return Unreadable();
  if (text.size() > kMostListBytes)
    return absl::UnavailableError(
        absl::StrCat("this list of servers has more than ", kMostListBytes, " bytes; write one server a line"));
  return text;
}

absl::StatusOr<std::vector<std::string>> ReadList(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadListText(path));
  std::set<std::string> addresses;
  size_t listed = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view entry = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (entry.empty()) continue;
    if (++listed > kMostListed)
      return absl::UnavailableError(absl::StrCat("this list names more than ", kMostListed, " servers"));
    const std::string shown(entry.substr(0, kShownBytes));
    const auto name = ParseServerName(std::string(entry));
    if (!name.ok() || name->is_list)
      return absl::UnavailableError(absl::StrCat("'", shown, "' is no server; write host:port"));
    const auto found = Resolve(*name);
    if (!found.ok()) return absl::Status(found.status().code(), absl::StrCat(shown, ": ", found.status().message()));
    addresses.insert(found->begin(), found->end());
  }
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
