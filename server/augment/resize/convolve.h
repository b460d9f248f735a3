#ifndef STOKER_SERVER_AUGMENT_RESIZE_CONVOLVE_H_
#define STOKER_SERVER_AUGMENT_RESIZE_CONVOLVE_H_

#include <cstdint>

#include "server/augment/resize/fixed_weights.h"

namespace stoker {

// Weighted sums of pixels, where weights may be negative. Sums have 32 bits and are rounded to 8 and clamped, after
// each of the two passes. That is Pillow's arithmetic. The functions are thread-safe and write the same bytes on every
// CPU. Tasks own nothing.

// The first pass: along kRows rows at a time.
struct ConvolveRowsTask {
  static constexpr int64_t kRows = 4;
  static constexpr int64_t kPairValues = kRows * 8;  // values of `scratch` for two pixels of each row

  // Returns how many values `scratch` must have.
  static int64_t ScratchValues(int64_t width, const PairWeights& weights) {
    return (width / 2 + weights.pair_count + 2) * kPairValues;
  }

  const uint8_t* in[kRows];  // RGBX
  int64_t width;
  const PairWeights& weights;  // They are made with `aligned`.
  int64_t outputs;             // pixels of an output row
  int16_t* scratch;
  uint8_t* out[kRows];  // RGBX, with room for `outputs` rounded up to a multiple of 4
};

// The second pass: down the columns, for one output row.
struct ConvolveColumnsTask {
  static constexpr int64_t kRoomPixels = 8;  // Rows must have room for `width` rounded up to a multiple of this.

  const uint8_t* const* rows;  // 2 * pair_count rows, RGBX, one for each tap
  const PairWeights::Pair* weights;
  int64_t pair_count;
  int64_t width;
  uint8_t* out;  // RGB; nothing is written beyond `width` pixels
};

void ConvolveRows(const ConvolveRowsTask& task);
void ConvolveColumns(const ConvolveColumnsTask& task);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RESIZE_CONVOLVE_H_
