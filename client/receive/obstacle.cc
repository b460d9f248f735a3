#include "client/receive/obstacle.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/receive/look_up.h"
#include "client/receive/resolve.h"
#include "common/check.h"
#include "common/time/steady_time.h"

namespace stoker {
namespace {

// Whether a socket is connected to itself. That happens on loopback where nobody listens on a port that the kernel then
// takes for the socket's own end (RFC 9293, simultaneous open).
bool IsConnectedToItself(int socket) {
  sockaddr_storage here = {}, there = {};
  socklen_t here_size = sizeof here, there_size = sizeof there;
  return getsockname(socket, reinterpret_cast<sockaddr*>(&here), &here_size) == 0 &&
         getpeername(socket, reinterpret_cast<sockaddr*>(&there), &there_size) == 0 && here_size == there_size &&
         here.ss_family != AF_UNIX && std::memcmp(&here, &there, here_size) == 0;
}

// Where a server listens.
struct Place {
  sockaddr_storage address = {};
  socklen_t size = 0;
  Place(const void* bytes, socklen_t size) : size(size) { std::memcpy(&address, bytes, size); }
};

// The errno that opening a connection fails with by `deadline`, 0 where it opens. It is closed again, or `kept` where
// that is given.
int TryToConnect(const Place& place, absl::Time deadline, int* kept = nullptr) {
  const auto* address = reinterpret_cast<const sockaddr*>(&place.address);
  const int socket = ::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return errno;
  const socklen_t size = place.size;
  int error = connect(socket, address, size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd ready = {.fd = socket, .events = POLLOUT, .revents = 0};
    const auto left = std::max<int64_t>(0, absl::ToInt64Milliseconds(deadline - SteadyNow()));
    error = ETIMEDOUT;
    socklen_t error_size = sizeof error;
    if (poll(&ready, 1, static_cast<int>(left)) > 0) getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &error_size);
  }
  if (error == 0 && IsConnectedToItself(socket)) {
    error = ECONNREFUSED;
    const linger at_once = {.l_onoff = 1, .l_linger = 0};  // So that the port is free again for a server.
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  if (error == 0 && kept != nullptr)
    *kept = socket;
  else
    close(socket);
  return error;
}

// What an error of one address says of all, and the higher value outweighs the lower.
enum class Verdict {
  kNoWay,      // This machine has no way to such addresses at all, as where it has no IPv6 address of its own.
  kDefinite,   // Somebody has to do something for this to change.
  kMayChange,  // The network's state of now.
  kOpen,
};

Verdict VerdictOf(int error) {
  switch (error) {
    case 0: return Verdict::kOpen;
    case ENETUNREACH:
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT: return Verdict::kNoWay;
    case ECONNREFUSED:
    case ENOENT:
    case EACCES: return Verdict::kDefinite;
    default: return Verdict::kMayChange;
  }
}

std::string ReasonOf(int error) {
  switch (error) {
    case ECONNREFUSED: return "connection refused; is stokerd running there?";
    case ENOENT: return "no such socket; is stokerd running there?";
    case ETIMEDOUT: return "nothing answers there";
    case EACCES: return "permission denied";
    default: return std::strerror(error);
  }
}

}  // namespace

Obstacle ObstacleOf(const std::vector<int>& errors) {
  STOKER_CHECK(!errors.empty());
  const auto weighs_less = [](int a, int b) { return VerdictOf(a) < VerdictOf(b); };
  const int decisive = *std::max_element(errors.begin(), errors.end(), weighs_less);
  if (decisive == 0) return {};
  return {.reason = ReasonOf(decisive), .definite = VerdictOf(decisive) == Verdict::kDefinite};
}

std::string PlainReason(const std::string& message) {
  const size_t colon = message.rfind(": ");
  const std::string tail = colon == message.npos ? message : message.substr(colon + 2);
  if (absl::StartsWith(message, "failed to connect to all addresses"))
    return tail == std::strerror(ECONNREFUSED) ? ReasonOf(ECONNREFUSED) : tail;
  if (!absl::StartsWith(message, "DNS resolution failed")) return message;
  const bool missing = tail == "Domain name not found" || tail == "DNS server returned answer with no data";
  return std::string(LookUpError(missing ? EAI_NONAME : EAI_AGAIN).message());
}

namespace {

// The places that `address` stands for, or why there is none.
struct Found {
  std::vector<Place> places;
  Obstacle obstacle;
};

Found PlacesOf(const ServerName& name) {
  Found found;
  if (!name.path.empty()) {
    sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = {}};
    if (name.path.size() >= sizeof local.sun_path) {
      found.obstacle = {.reason = "no path of a socket can be so long", .definite = true};
      return found;
    }
    name.path.copy(local.sun_path, name.path.size());
    found.places.emplace_back(&local, sizeof local);
    return found;
  }
  absl::string_view host = name.host;
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  const auto addresses = LookUp(std::string(host), name.port);
  if (!addresses.ok()) {
    found.obstacle = {.reason = std::string(addresses.status().message()),
                      .definite = absl::IsNotFound(addresses.status())};
    return found;
  }
  for (const addrinfo* entry = addresses->get(); entry != nullptr; entry = entry->ai_next)
    found.places.emplace_back(entry->ai_addr, entry->ai_addrlen);
  return found;
}

}  // namespace

Obstacle FindObstacle(const std::string& address, absl::Duration patience, const Greet& greet) {
  const absl::Time deadline = SteadyNow() + patience;
  const auto name = ParseServerName(address);
  STOKER_CHECK(name.ok());
  const Found found = PlacesOf(*name);
  if (found.places.empty()) return found.obstacle;
  std::vector<int> errors;
  for (const Place& place : found.places) errors.push_back(TryToConnect(place, deadline));
  const auto open = std::find(errors.begin(), errors.end(), 0);
  if (open == errors.end() || greet == nullptr) return ObstacleOf(errors);
  const Place& place = found.places[open - errors.begin()];
  return greet(
      [&] {
        int socket = -1;
        TryToConnect(place, deadline, &socket);
        return socket;
      },
      deadline);
}

}  // namespace stoker
