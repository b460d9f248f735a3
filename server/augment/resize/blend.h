#ifndef STOKER_SERVER_AUGMENT_RESIZE_BLEND_H_
#define STOKER_SERVER_AUGMENT_RESIZE_BLEND_H_

#include <cstddef>
#include <cstdint>

#include "common/fields/schema.h"
#include "server/augment/resize/fixed_weights.h"

namespace stoker {

// Four output rows at one column of the input, before columns are blended: RGBX with 8 fraction bits.
struct alignas(32) BlendSlot {
  static constexpr int64_t kRows = 4;
  uint16_t values[kRows][4];
};

// Resamples an image with weights that are nowhere negative.
//
// Blends rows, four output rows at a time, into a strip of slots that stays in the first-level cache, then columns.
// All in 16 bits, of which the strip keeps every one: less than half a level is lost in all, so that a result is
// within one level of a resampling that rounds the image between the passes to 8 bits, whichever comes first.
struct BlendTask {
  static constexpr int64_t kMinWidth = 8;

  const uint8_t* pixels;  // RGBX
  ptrdiff_t stride;
  int64_t width;       // Pixels of a row that may be read: kMinWidth or more, and as many as `across` needs.
  BlendSlot* strip;    // Scratch: `width` of them.
  ImageSize size;      // Of the output.
  bool flip_vertical;  // A horizontal flip is in `across`.
  const BlendWeights& across;
  const BlendWeights& down;
  uint8_t* out;  // RGB
};

// The same bytes on every CPU.
void Blend(const BlendTask& task);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RESIZE_BLEND_H_
