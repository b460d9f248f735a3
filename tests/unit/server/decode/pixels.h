#ifndef STOKER_TESTS_UNIT_SERVER_DECODE_PIXELS_H_
#define STOKER_TESTS_UNIT_SERVER_DECODE_PIXELS_H_

#include <cstdint>
#include <vector>

#include "server/decode/image.h"

namespace stoker {

// Returns the pixels of `region`, which `image` must cover, as packed RGB.
inline std::vector<uint8_t> Pixels(const DecodedImage& image, const Region& region) {
  std::vector<uint8_t> pixels;
  for (int64_t y = region.top; y < region.bottom(); ++y)
    for (int64_t x = region.left; x < region.right(); ++x) {
      const uint8_t* pixel = image.view().At(y - image.region.top, x - image.region.left);
      pixels.insert(pixels.end(), pixel, pixel + 3);
    }
  return pixels;
}

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_DECODE_PIXELS_H_
