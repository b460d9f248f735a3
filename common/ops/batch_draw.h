#ifndef STOKER_COMMON_OPS_BATCH_DRAW_H_
#define STOKER_COMMON_OPS_BATCH_DRAW_H_

#include <cstdint>

#include "common/fields/image_size.h"

namespace stoker {

// What a batch drew, or one row of it. Row r is mixed with row r − 1, the first with the last.
struct BatchDraw {
  enum class Kind { kNone, kMixUp, kCutMix };
  Kind kind = Kind::kNone;
  double lambda = 1;          // The share of the row itself, in labels and, of kMixUp, in pixels.
  int64_t top = 0, left = 0;  // kCutMix: the rectangle that is the other row's, in the output.
  ImageSize size;
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_BATCH_DRAW_H_
