#ifndef STOKER_SERVER_MAIN_LISTENING_SOCKET_H_
#define STOKER_SERVER_MAIN_LISTENING_SOCKET_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// A file descriptor. Owns it.
class OwnedFd {
 public:
  explicit OwnedFd(int number = -1) : number_(number) {}
  OwnedFd(OwnedFd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~OwnedFd();

  int get() const { return number_; }

 private:
  int number_;
};

// Sockets that listen on one address: a name may stand for several. They do not block. The file of a Unix socket that
// was made here is removed with it.
class ListeningSockets {
 public:
  // Listens on `host`, a name, an IPv4 address, an IPv6 address in brackets or "unix:/path", and `port`, which means
  // nothing for a path. Port 0 takes a free one, the same for all addresses of the host. A host of all zeros takes IPv4
  // and IPv6. Errors name the address and the system's reason.
  static absl::StatusOr<ListeningSockets> Listen(const std::string& host, int port);

  // Takes over `passed`, on which a service manager listens already. Each must be a stream socket that listens on one
  // of the addresses that Listen would take, so that what was checked of `host` holds for them; not all of these need
  // be there. Port 0 takes theirs. InvalidArgument names the one that is another.
  static absl::StatusOr<ListeningSockets> TakeOver(std::vector<OwnedFd> passed, const std::string& host, int port);

  ListeningSockets(ListeningSockets&&) = default;
  ListeningSockets& operator=(ListeningSockets&&) = delete;
  ~ListeningSockets();

  const std::vector<OwnedFd>& sockets() const { return sockets_; }

  // The port that was taken; 0 for a path.
  int port() const { return port_; }

  // "HOST:PORT" with that port, or "unix:/path".
  const std::string& address() const { return address_; }

 private:
  ListeningSockets() = default;
  absl::Status ListenOnPath(const std::string& path);
  absl::Status ListenOnHost(const std::string& host, int port);

  std::vector<OwnedFd> sockets_;
  int port_ = 0;
  std::string path_, address_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_LISTENING_SOCKET_H_
