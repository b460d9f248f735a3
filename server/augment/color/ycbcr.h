#ifndef STOKER_SERVER_AUGMENT_COLOR_YCBCR_H_
#define STOKER_SERVER_AUGMENT_COLOR_YCBCR_H_

#include <cstddef>
#include <cstdint>

namespace stoker {

// Converts `count` pixels in place to JFIF's YCbCr, full range: red becomes Y, green Cb and blue Cr. Thread-safe.
//
// The bytes are those of PIL's Image.convert("YCbCr"). Weights have five decimals. To each product, in 1/64 level, one
// half is added and the sum is truncated toward zero. The sum of the three products is rounded down.
void ToYCbCr(size_t count, uint8_t* red, uint8_t* green, uint8_t* blue);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_COLOR_YCBCR_H_
