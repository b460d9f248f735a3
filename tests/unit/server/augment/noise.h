#ifndef STOKER_TESTS_UNIT_SERVER_AUGMENT_NOISE_H_
#define STOKER_TESTS_UNIT_SERVER_AUGMENT_NOISE_H_

#include <cstdint>
#include <vector>

#include "server/decode/image.h"

namespace stoker {

// Returns the picture that make_golden.py resizes, as packed H×W×3.
inline std::vector<uint8_t> Noise(ImageSize size) {
  std::vector<uint8_t> pixels(size.height * size.width * 3);
  uint32_t state = 1;
  for (uint8_t& pixel : pixels) pixel = (state = state * 1664525 + 1013904223) >> 24;
  return pixels;
}

inline ImageView ViewOf(const std::vector<uint8_t>& pixels, ImageSize size) {
  return {pixels.data(), size, static_cast<ptrdiff_t>(size.width * 3)};
}

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_AUGMENT_NOISE_H_
