#ifndef STOKER_SERVER_AUGMENT_ERASE_H_
#define STOKER_SERVER_AUGMENT_ERASE_H_

#include <cstdint>

#include "common/ops/parameters.h"

namespace stoker {

// Ops that cover pixels in place. `pixels` is a whole image of `size`, H×W×3 packed uint8. The functions are
// thread-safe and write the same bytes on every CPU.

// Fills a rectangle, which must lie inside the image, with one color.
void EraseRectangle(const EraseParameters& erase, ImageSize size, uint8_t* pixels);

// Blackens pixels at random. Draws(key) gives 16 bits for each pixel, row by row: the lower half of each 32 bits, then
// the upper half. A pixel is masked where its bits are below ratio · 2^16. Where a row has an odd number of pixels, its
// last pixel and the next row's first share 32 bits.
void MaskPixels(const MaskParameters& mask, ImageSize size, uint8_t* pixels);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_ERASE_H_
