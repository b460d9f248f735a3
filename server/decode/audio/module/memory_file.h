#ifndef STOKER_SERVER_DECODE_AUDIO_MODULE_MEMORY_FILE_H_
#define STOKER_SERVER_DECODE_AUDIO_MODULE_MEMORY_FILE_H_

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "server/decode/audio/module/module.h"

namespace stoker {

// Bytes as a file that libraries read and seek in. It seems to end where an interrupt is raised, so that they return
// soon, unless interrupts wait. One thread at a time.
class MemoryFile {
 public:
  explicit MemoryFile(const AudioModuleInput& input) : input_(input) {}

  // Whether interrupts wait.
  void HoldInterrupts(bool hold) { held_ = hold; }

  int64_t size() const { return static_cast<int64_t>(input_.file_bytes); }
  int64_t place() const { return place_; }

  // Returns the new place; −1 where it would lie outside. `whence` is SEEK_SET, SEEK_CUR or SEEK_END.
  int64_t Seek(int64_t offset, int whence) {
    const int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? place_ : size();
    if (offset < -base || offset > size() - base) return -1;
    return place_ = base + offset;
  }

  // Returns how many bytes it copied.
  int64_t Read(void* to, int64_t count) {
    if (count <= 0 || (!held_ && input_.raised != nullptr && input_.raised(input_.interrupt))) return 0;
    count = std::min(count, size() - place_);
    if (count > 0) std::memcpy(to, input_.file + place_, static_cast<size_t>(count));
    place_ += count;
    return count;
  }

 private:
  const AudioModuleInput input_;
  int64_t place_ = 0;
  bool held_ = false;
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_AUDIO_MODULE_MEMORY_FILE_H_
