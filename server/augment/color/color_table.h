#ifndef STOKER_SERVER_AUGMENT_COLOR_COLOR_TABLE_H_
#define STOKER_SERVER_AUGMENT_COLOR_COLOR_TABLE_H_

#include <array>
#include <cstdint>

namespace stoker {

// The new level of each level in each channel: table[channel][level]. Channels do not mix, so two tables one after the
// other are one table. All functions here are pure.
using ColorTable = std::array<std::array<uint8_t, 256>, 3>;

// How many pixels have a level: histogram[channel][level].
using Histogram = std::array<std::array<uint32_t, 256>, 3>;

// Returns the table that does what `first` and then `second` do.
ColorTable Compose(const ColorTable& first, const ColorTable& second);

// Blends an image of level `from` everywhere with the image itself, as PIL's Image.blend does: in float32, truncated. A
// factor of 0 gives `from`, 1 gives the image, and a larger one goes on the same way.
ColorTable BlendTable(uint8_t from, double factor);

// These do what PIL's ImageOps of these names do. `bits` is from 0 to 8. Levels at or above `threshold` are inverted.
ColorTable PosterizeTable(int bits);
ColorTable SolarizeTable(double threshold);
ColorTable AutocontrastTable(const Histogram& histogram);  // with cutoff=0
ColorTable EqualizeTable(const Histogram& histogram);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_COLOR_COLOR_TABLE_H_
