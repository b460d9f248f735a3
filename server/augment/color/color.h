#ifndef STOKER_SERVER_AUGMENT_COLOR_COLOR_H_
#define STOKER_SERVER_AUGMENT_COLOR_COLOR_H_

#include <cstdint>
#include <span>

#include "common/ops/parameters.h"

namespace stoker {

// Applies `ops`, one after the other, in place to `pixels`, a whole image of H×W×3 packed uint8.
//
// Each op gives the bytes that torchvision.transforms.v2.functional gives for a PIL image. Ops share a pass over the
// image where they can. The function is thread-safe and writes the same bytes on every CPU.
void ApplyColors(std::span<const ColorParameters> ops, ImageSize size, uint8_t* pixels);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_COLOR_COLOR_H_
