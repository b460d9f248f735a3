#ifndef STOKER_SERVER_AUGMENT_COLOR_YCBCR_H_
#define STOKER_SERVER_AUGMENT_COLOR_YCBCR_H_

#include <cstddef>
#include <cstdint>

namespace stoker {

// JFIF's YCbCr, full range, of `count` pixels; red becomes Y, green Cb and blue Cr. The bytes of PIL's
// Image.convert("YCbCr"): weights with five decimals, each product rounded to 1/64 level (toward zero from one half
// above it), the sum rounded down. Thread-safe.
void ToYCbCr(size_t count, uint8_t* red, uint8_t* green, uint8_t* blue);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_COLOR_YCBCR_H_
