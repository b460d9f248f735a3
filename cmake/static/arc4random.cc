// What libstdc++.a of GCC 12 makes std::random_device of where glibc has it, since 2.36: linked with this, it runs with
// older ones too.

#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

extern "C" __attribute__((visibility("hidden"))) uint32_t arc4random() noexcept {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number)
    if (errno != EINTR) std::abort();  // Whole for so few bytes, but for signals: getrandom(2).
  return number;
}
