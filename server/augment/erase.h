#ifndef STOKER_SERVER_AUGMENT_ERASE_H_
#define STOKER_SERVER_AUGMENT_ERASE_H_

#include <cstdint>

#include "common/ops/parameters.h"

namespace stoker {

// Ops that cover pixels of `pixels`, a whole image of H×W×3 packed uint8, in place. Thread-safe. The same bytes on
// every CPU.

void EraseRectangle(const EraseParameters& erase, ImageSize size, uint8_t* pixels);

// Draws 16 bits a pixel, row by row, the lower half of each 32 bits of Draws(key) before the upper one: the pixel is
// masked where they are below ratio · 2^16. An odd row's end and the next row's start share 32 bits.
void MaskPixels(const MaskParameters& mask, ImageSize size, uint8_t* pixels);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_ERASE_H_
