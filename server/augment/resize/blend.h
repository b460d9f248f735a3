#ifndef STOKER_SERVER_AUGMENT_RESIZE_BLEND_H_
#define STOKER_SERVER_AUGMENT_RESIZE_BLEND_H_

#include <cstddef>
#include <cstdint>

#include "common/fields/schema.h"
#include "server/augment/resize/fixed_weights.h"

namespace stoker {

// Four output rows at one column of the input, before columns are blended. Values are RGBX with 8 fraction bits.
struct alignas(32) BlendSlot {
  static constexpr int64_t kRows = 4;
  uint16_t values[kRows][4];
};

// A resampling of an image with weights that are nowhere negative. A task owns nothing.
//
// Rows are blended first, for four output rows at a time, into a strip of slots that stays in the first-level cache.
// Then the strip's columns are blended. The arithmetic has 16 bits, and the strip keeps all of them, so that less than
// half a level is lost in all. A result is therefore within one level of a resampling that rounds to 8 bits between the
// passes, whichever pass that does first.
struct BlendTask {
  static constexpr int64_t kMinWidth = 8;

  const uint8_t* pixels;  // RGBX
  ptrdiff_t stride;
  int64_t width;       // pixels of a row that may be read: at least kMinWidth, and as many as `across` needs
  BlendSlot* strip;    // scratch of `width` slots
  ImageSize size;      // the output's size
  bool flip_vertical;  // A horizontal flip is in `across`.
  const BlendWeights& across;
  const BlendWeights& down;
  uint8_t* out;  // RGB
};

// Carries out `task`. It is thread-safe and writes the same bytes on every CPU.
void Blend(const BlendTask& task);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RESIZE_BLEND_H_
