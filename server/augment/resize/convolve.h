#ifndef STOKER_SERVER_AUGMENT_RESIZE_CONVOLVE_H_
#define STOKER_SERVER_AUGMENT_RESIZE_CONVOLVE_H_

#include <cstdint>

#include "server/augment/resize/fixed_weights.h"

namespace stoker {

// Sums of pixels with weights that may be negative, in 32 bits, rounded to 8 and clamped: Pillow's arithmetic, whose
// images have clamped pixels between the passes too. The same bytes on every CPU.

// Some rows at a time, along them.
struct ConvolveRowsTask {
  static constexpr int64_t kRows = 4;
  static constexpr int64_t kPairValues = kRows * 8;  // Of `scratch`, for two pixels of each row.

  // Values that `scratch` must have.
  static int64_t ScratchValues(int64_t width, const PairWeights& weights) {
    return (width / 2 + weights.pair_count + 2) * kPairValues;
  }

  const uint8_t* in[kRows];  // RGBX
  int64_t width;
  const PairWeights& weights;  // Aligned.
  int64_t outputs;
  int16_t* scratch;
  uint8_t* out[kRows];  // RGBX, with room for whole fours of pixels.
};

// Down the columns: one row of output from those of pairs of taps.
struct ConvolveColumnsTask {
  static constexpr int64_t kRoomPixels = 8;  // Rows have room for whole eights of pixels.

  const uint8_t* const* rows;  // 2 * pair_count of them, RGBX.
  const PairWeights::Pair* weights;
  int64_t pair_count;
  int64_t width;
  uint8_t* out;  // RGB; nothing is written beyond.
};

void ConvolveRows(const ConvolveRowsTask& task);
void ConvolveColumns(const ConvolveColumnsTask& task);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RESIZE_CONVOLVE_H_
