// The libstdc++.a of GCC 12 was built where glibc has arc4random (2.36 or later), and its std::random_device calls it.
// A program that is linked with this definition runs with older glibcs too.

#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

extern "C" __attribute__((visibility("hidden"))) uint32_t arc4random() noexcept {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number)
    if (errno != EINTR) std::abort();  // So few bytes come whole, unless a signal interrupts: getrandom(2).
  return number;
}
