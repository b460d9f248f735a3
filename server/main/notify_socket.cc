#include "server/main/notify_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

#include "absl/strings/numbers.h"

namespace stoker {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

void NotifyServiceManager(const std::string& state) {
  const std::string path = Environment("NOTIFY_SOCKET");
  sockaddr_un address = {.sun_family = AF_UNIX};
  if (path.size() < 2 || path.size() >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) return;
  path.copy(address.sun_path, path.size());
  if (path[0] == '@')
    address.sun_path[0] = '\0';  // '@' stands for a zero byte: an abstract name, which has no zero at its end.
  const socklen_t size = offsetof(sockaddr_un, sun_path) + path.size() + (path[0] == '@' ? 0 : 1);
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return;
  sendto(socket, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
  close(socket);
}

absl::Duration WatchdogPeriod() {
  uint64_t microseconds = 0;
  const std::string process = Environment("WATCHDOG_PID");
  if (!absl::SimpleAtoi(Environment("WATCHDOG_USEC"), &microseconds) || microseconds == 0 ||
      (!process.empty() && process != std::to_string(getpid())))
    return absl::InfiniteDuration();
  return absl::Microseconds(microseconds);
}

}  // namespace stoker
