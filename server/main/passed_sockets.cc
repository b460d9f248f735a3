#include "server/main/passed_sockets.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/numbers.h"

namespace stoker {
namespace {

// Returns the number that a variable holds, and removes it; 0 where it holds none.
int TakeNumber(const char* name) {
  int number = 0;
  if (const char* const value = std::getenv(name); value == nullptr || !absl::SimpleAtoi(value, &number)) number = 0;
  unsetenv(name);
  return number;
}

}  // namespace

std::vector<OwnedFd> PassedSockets(int first) {
  const int process = TakeNumber("LISTEN_PID"), count = TakeNumber("LISTEN_FDS");
  unsetenv("LISTEN_FDNAMES");
  std::vector<OwnedFd> passed;
  if (process != getpid()) return passed;
  for (int number = first; number - first < count; ++number) {
    if (fcntl(number, F_SETFD, FD_CLOEXEC) != 0) break;  // It is not open: fewer were passed than counted.
    passed.emplace_back(number);
  }
  return passed;
}

}  // namespace stoker
