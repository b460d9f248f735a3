#ifndef STOKER_SERVER_AUGMENT_COLOR_COLOR_TABLE_H_
#define STOKER_SERVER_AUGMENT_COLOR_COLOR_TABLE_H_

#include <array>
#include <cstdint>

namespace stoker {

// A level for each level, and that for each channel: table[channel][level]. A pixel's levels go in apart from each
// other, so that tables one after the other are one table. Free functions of plain values.
using ColorTable = std::array<std::array<uint8_t, 256>, 3>;

// How many pixels have a level: histogram[channel][level].
using Histogram = std::array<std::array<uint32_t, 256>, 3>;

// `second` after `first`.
ColorTable Compose(const ColorTable& first, const ColorTable& second);

// PIL's Image.blend of an image of level `from` everywhere with the image itself: factor 0 is `from`, 1 the image,
// beyond that goes on the same way. Computed in float32 and truncated, as there.
ColorTable BlendTable(uint8_t from, double factor);

// PIL's ImageOps of these names. `bits` from 0 to 8; levels at or above `threshold` are inverted.
ColorTable PosterizeTable(int bits);
ColorTable SolarizeTable(double threshold);
ColorTable AutocontrastTable(const Histogram& histogram);  // cutoff=0
ColorTable EqualizeTable(const Histogram& histogram);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_COLOR_COLOR_TABLE_H_
