// Preloaded into a program (LD_PRELOAD), it moves the wall's clock of it, and of all that it waits for by that clock:
// STOKER_MOVED_CLOCK names a file of eight bytes, the seconds to move by, which may change while the program runs. As
// the kernel does when somebody sets the clock, a wait that is under way then ends when the clock shows its moment.

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr int64_t kSecond = 1'000'000'000, kLook = 10'000'000;  // nanoseconds

using ClockGettime = int (*)(clockid_t, timespec*);
using Syscall = long (*)(long, ...);

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Where the seconds are; they are read anew each time.
const volatile int64_t* Shift() {
  static const volatile int64_t* const shift = []() -> const volatile int64_t* {
    static const int64_t none = 0;
    const char* const path = std::getenv("STOKER_MOVED_CLOCK");
    const int file = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return &none;
    void* const mapped = mmap(nullptr, sizeof none, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    return mapped == MAP_FAILED ? &none : static_cast<const int64_t*>(mapped);
  }
  ();
  return shift;
}

int64_t MovedNow() {
  static const auto real = Next<ClockGettime>("clock_gettime");
  timespec now = {};
  real(CLOCK_REALTIME, &now);
  return (now.tv_sec + *Shift()) * kSecond + now.tv_nsec;
}

// FUTEX_WAIT_BITSET by CLOCK_REALTIME, for any bit.
long WaitUntil(Syscall real, long word, long value, const timespec& until) {
  while (true) {
    const int64_t left = until.tv_sec * kSecond + until.tv_nsec - MovedNow();
    if (left <= 0) {
      errno = ETIMEDOUT;
      return -1;
    }
    const timespec look = {.tv_sec = 0, .tv_nsec = std::min(left, kLook)};
    const long result = real(SYS_futex, word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, &look, nullptr, 0);
    if (result == 0 || errno != ETIMEDOUT) return result;
  }
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) {
  static const auto real = Next<ClockGettime>("clock_gettime");
  const int result = real(clock, time);
  if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += *Shift();
  return result;
}

int gettimeofday(timeval* time, void*) {
  const int64_t now = MovedNow();
  *time = {.tv_sec = now / kSecond, .tv_usec = now % kSecond / 1000};
  return 0;
}

time_t time(time_t* time) {
  const time_t now = MovedNow() / kSecond;
  if (time != nullptr) *time = now;
  return now;
}

long syscall(long number, ...) {
  static const auto real = Next<Syscall>("syscall");
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  const bool moved = number == SYS_futex && (arguments[1] & FUTEX_CLOCK_REALTIME) != 0 && arguments[3] != 0;
  if (moved) return WaitUntil(real, arguments[0], arguments[2], *reinterpret_cast<const timespec*>(arguments[3]));
  return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

}  // extern "C"
