#ifndef STOKER_SERVER_AUGMENT_PADDING_H_
#define STOKER_SERVER_AUGMENT_PADDING_H_

#include <algorithm>
#include <cstdint>

#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Returns the pixel of an axis of `extent` pixels that shows at `i`, which may lie outside; −1 where that is the
// constant color. REFLECT and SYMMETRIC are meant for an `i` less than one extent outside: beyond that a border's
// pixel shows.
inline int64_t PaddingSource(int64_t i, int64_t extent, v1::PaddingMode padding) {
  if (i >= 0 && i < extent) return i;
  if (padding == v1::PADDING_MODE_CONSTANT) return -1;
  if (padding == v1::PADDING_MODE_REFLECT) i = i < 0 ? -i : 2 * (extent - 1) - i;
  if (padding == v1::PADDING_MODE_SYMMETRIC) i = i < 0 ? -1 - i : 2 * extent - 1 - i;
  return std::clamp<int64_t>(i, 0, extent - 1);
}

// Returns the pixel of an axis of `size` that is reflected at `i`, which must be less than `size` outside.
inline int64_t Reflected(int64_t i, int64_t size) { return i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i; }

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_PADDING_H_
