#include "server/main/freed_memory.h"

#include <malloc.h>

namespace stoker {

bool FreedMemory::Turn(size_t ended) {
  if (ended > 0) tries_ = kTries;
  ++turns_;
  if (tries_ == 0 || turns_ < kTurnsBetween) return false;
  turns_ = 0;
  --tries_;
  return mallinfo2().fordblks >= kLeastBytes && malloc_trim(0) == 1;
}

}  // namespace stoker
