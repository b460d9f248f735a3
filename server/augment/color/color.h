#ifndef STOKER_SERVER_AUGMENT_COLOR_COLOR_H_
#define STOKER_SERVER_AUGMENT_COLOR_COLOR_H_

#include <cstdint>
#include <span>

#include "common/ops/parameters.h"

namespace stoker {

// Applies `ops`, one after the other, to `pixels`, a whole image of H×W×3 packed uint8, in place.
//
// Each is what torchvision.transforms.v2.functional does to a PIL image, to the same bytes; hue within the bound that
// color.cc states. Runs of tables are merged into one pass. Thread-safe. The same bytes on every CPU.
void ApplyColors(std::span<const ColorParameters> ops, ImageSize size, uint8_t* pixels);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_COLOR_COLOR_H_
