#ifndef STOKER_SERVER_MAIN_FREED_MEMORY_H_
#define STOKER_SERVER_MAIN_FREED_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace stoker {

// Gives memory that malloc holds free back to the system after connections ended. glibc keeps what lies between blocks
// in use, so that a flood of requests would leave the process as large as it was at its worst.
//
// One thread at a time.
class FreedMemory {
 public:
  // Below this, trying costs more than it gives.
  static constexpr size_t kLeastBytes = size_t{32} << 20;

  // To be called about once a second, with the number of connections that ended since the last call. Gives back what is
  // free, where connections ended, it is much, and it was not just done. Returns true if it did.
  bool Turn(size_t ended);

 private:
  static constexpr int kTurnsBetween = 5;
  static constexpr int kTries = 4;  // after a connection ended: what it had is freed little by little
  int tries_ = 0;
  int turns_ = kTurnsBetween;  // since it tried
};

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_FREED_MEMORY_H_
