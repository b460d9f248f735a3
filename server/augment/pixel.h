#ifndef STOKER_SERVER_AUGMENT_PIXEL_H_
#define STOKER_SERVER_AUGMENT_PIXEL_H_

#include <cstdint>

#include "common/ops/parameters.h"

namespace stoker {

inline constexpr int64_t kChannels = 3;

// Copies red, green and blue one by one, because GCC calls memmove for a copy of three bytes.
inline void CopyPixel(const uint8_t* in, uint8_t* out) {
  const uint8_t red = in[0], green = in[1], blue = in[2];
  out[0] = red, out[1] = green, out[2] = blue;
}

// Writes `count` packed RGB pixels of one color.
inline void FillPixels(const Color& color, int64_t count, uint8_t* out) {
  for (int64_t x = 0; x < count; ++x) CopyPixel(color.data(), out + x * kChannels);
}

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_PIXEL_H_
