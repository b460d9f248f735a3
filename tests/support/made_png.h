#ifndef STOKER_TESTS_SUPPORT_MADE_PNG_H_
#define STOKER_TESTS_SUPPORT_MADE_PNG_H_

#include <cstdint>
#include <span>
#include <vector>

#include "common/fields/image_size.h"

namespace stoker {

// Returns the file of a PNG of one channel: gray, or numbers of a palette, which has a gray for each. `values` are
// height × width, below 2^bits; `bits` is 1, 2, 4, 8, or 16 for gray.
std::vector<uint8_t> MapPng(ImageSize size, std::span<const uint16_t> values, int bits, bool palette = false);

// Returns the file of a PNG of height × width × 3 bytes: red, green, blue.
std::vector<uint8_t> ColorPng(ImageSize size, std::span<const uint8_t> rgb);

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_MADE_PNG_H_
