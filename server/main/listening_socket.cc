#include "server/main/listening_socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr char kUnixPrefix[] = "unix:", kAnyIpv4[] = "0.0.0.0", kAnyIpv6[] = "::";
constexpr int kWaiting = 4096;  // Connections that wait to be accepted; the system's own bound is somaxconn.

absl::Status Refused(int error, const std::string& address) {
  return absl::UnavailableError(absl::StrCat("listen: cannot listen on ", address, ": ", std::strerror(error),
                                             "; is the address this machine's, and the port free?"));
}

void SetFlag(int socket, int level, int option, int value) { setsockopt(socket, level, option, &value, sizeof value); }

// A socket that listens on `address`, or -1 with errno.
OwnedFd ListenOn(const sockaddr* address, socklen_t size) {
  OwnedFd made(socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (made.get() < 0) return made;
  if (address->sa_family != AF_UNIX) {
    SetFlag(made.get(), SOL_SOCKET, SO_REUSEADDR, 1);  // A restart need not wait for the last connections' ends.
    SetFlag(made.get(), IPPROTO_TCP, TCP_NODELAY, 1);  // Connections inherit it.
  }
  if (address->sa_family == AF_INET6) SetFlag(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (bind(made.get(), address, size) == 0 && listen(made.get(), kWaiting) == 0) return made;
  const int error = errno;
  made = OwnedFd();
  errno = error;
  return made;
}

int PortOf(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_UNIX) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// The addresses that `host` stands for; all zeros are those of both families.
absl::StatusOr<Addresses> AddressesOf(const std::string& host, int port) {
  std::string name(absl::StripSuffix(absl::StripPrefix(host, "["), "]"));
  if (name == kAnyIpv4) name = kAnyIpv6;
  addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0)
    return absl::UnavailableError(
        absl::StrCat("listen: ", host, " is no address of this machine: ", gai_strerror(error)));
  return Addresses(found, &freeaddrinfo);
}

// An address without its port, as `listen` has it: "127.0.0.1", "[::1]" or "unix:/path".
std::string HostOf(const sockaddr* address, socklen_t size) {
  if (address->sa_family == AF_UNIX) {
    const char* const path = reinterpret_cast<const sockaddr_un*>(address)->sun_path;
    return absl::StrCat(kUnixPrefix, std::string(path, strnlen(path, size - offsetof(sockaddr_un, sun_path))));
  }
  char host[NI_MAXHOST];
  if (getnameinfo(address, size, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0) return "another kind of address";
  return address->sa_family == AF_INET6 ? absl::StrCat("[", host, "]") : host;
}

// Those that a socket may listen on, if the configuration says `host`.
absl::StatusOr<std::vector<std::string>> HostsOf(const std::string& host) {
  if (absl::StartsWith(host, kUnixPrefix)) return std::vector<std::string>{host};
  STOKER_ASSIGN_OR_RETURN(const Addresses found, AddressesOf(host, 0));
  std::vector<std::string> hosts;
  for (const addrinfo* address = found.get(); address != nullptr; address = address->ai_next)
    hosts.push_back(HostOf(address->ai_addr, address->ai_addrlen));
  if (absl::c_linear_search(hosts, absl::StrCat("[", kAnyIpv6, "]"))) hosts.push_back(kAnyIpv4);
  return hosts;
}

std::string Written(const std::string& host, int port) {
  return absl::StartsWith(host, kUnixPrefix) ? host : absl::StrCat(host, ":", port);
}

bool Listens(int socket) {
  int type = 0, listens = 0;
  socklen_t size = sizeof(int);
  return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM &&
         getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

}  // namespace

OwnedFd::~OwnedFd() {
  if (number_ >= 0) close(number_);
}

ListeningSockets::~ListeningSockets() {
  if (!sockets_.empty() && !path_.empty()) unlink(path_.c_str());
}

absl::StatusOr<ListeningSockets> ListeningSockets::Listen(const std::string& host, int port) {
  ListeningSockets sockets;
  absl::string_view path = host;
  STOKER_RETURN_IF_ERROR(absl::ConsumePrefix(&path, kUnixPrefix) ? sockets.ListenOnPath(std::string(path))
                                                                 : sockets.ListenOnHost(host, port));
  sockets.address_ = Written(host, sockets.port_);
  return sockets;
}

absl::StatusOr<ListeningSockets> ListeningSockets::TakeOver(std::vector<OwnedFd> passed, const std::string& host,
                                                            int port) {
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> hosts, HostsOf(host));
  ListeningSockets sockets;
  sockets.port_ = port;
  for (const OwnedFd& socket : passed) {
    if (!Listens(socket.get()))
      return absl::InvalidArgumentError(
          absl::StrCat("listen: the service manager passed descriptor ", socket.get(),
                       ", which is no stream socket that listens; its socket unit needs ListenStream= and Accept=no"));
    sockaddr_storage address = {};
    socklen_t size = sizeof address;
    getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
    const std::string its_host = HostOf(reinterpret_cast<const sockaddr*>(&address), size);
    const int its_port = PortOf(socket.get());
    if (sockets.port_ == 0) sockets.port_ = its_port;
    if (!absl::c_linear_search(hosts, its_host) || its_port != sockets.port_)
      return absl::InvalidArgumentError(
          absl::StrCat("listen: the service manager passed a socket of ", Written(its_host, its_port),
                       ", and the configuration says ", Written(host, sockets.port_),
                       "; ListenStream= of its socket unit must be the address that `listen` is"));
    fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
    if (address.ss_family != AF_UNIX) SetFlag(socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  }
  sockets.sockets_ = std::move(passed);
  sockets.address_ = Written(host, sockets.port_);
  return sockets;
}

absl::Status ListeningSockets::ListenOnPath(const std::string& path) {
  sockaddr_un address = {.sun_family = AF_UNIX};
  if (path.size() >= sizeof address.sun_path)
    return absl::InvalidArgumentError(
        absl::StrCat("listen: ", path, " is longer than the ", sizeof address.sun_path - 1, " bytes of such a path"));
  path.copy(address.sun_path, path.size());
  // A server that was killed leaves its socket behind.
  struct stat status = {};
  if (lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) unlink(path.c_str());
  OwnedFd made = ListenOn(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (made.get() < 0) return Refused(errno, absl::StrCat(kUnixPrefix, path));
  sockets_.push_back(std::move(made));
  path_ = path;
  return absl::OkStatus();
}

absl::Status ListeningSockets::ListenOnHost(const std::string& host, int port) {
  const std::string asked = absl::StrCat(host, ":", port);
  STOKER_ASSIGN_OR_RETURN(const Addresses found, AddressesOf(host, port));
  int error = 0;
  for (const addrinfo* address = found.get(); address != nullptr; address = address->ai_next) {
    // The first one takes a free port where 0 was asked for; the others take the same.
    if (port_ != 0) reinterpret_cast<sockaddr_in*>(address->ai_addr)->sin_port = htons(static_cast<uint16_t>(port_));
    OwnedFd made = ListenOn(address->ai_addr, address->ai_addrlen);
    if (made.get() < 0) {
      error = errno;
      continue;
    }
    port_ = PortOf(made.get());
    sockets_.push_back(std::move(made));
  }
  if (sockets_.empty() && host == kAnyIpv4) {  // A system without IPv6.
    sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
    OwnedFd made = ListenOn(reinterpret_cast<const sockaddr*>(&any), sizeof any);
    if (made.get() < 0) return Refused(errno, asked);
    port_ = PortOf(made.get());
    sockets_.push_back(std::move(made));
  }
  if (sockets_.empty()) return Refused(error, asked);
  return absl::OkStatus();
}

}  // namespace stoker
