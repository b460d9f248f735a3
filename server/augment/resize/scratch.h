#ifndef STOKER_SERVER_AUGMENT_RESIZE_SCRATCH_H_
#define STOKER_SERVER_AUGMENT_RESIZE_SCRATCH_H_

#include <cstdint>
#include <vector>

namespace stoker {

// Returns room for `count` values in `scratch`. The vector never shrinks, because growing again would clear its memory
// each time.
template <typename T>
T* Reserve(int64_t count, std::vector<T>& scratch) {
  if (scratch.size() < static_cast<size_t>(count)) scratch.resize(count);
  return scratch.data();
}

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RESIZE_SCRATCH_H_
