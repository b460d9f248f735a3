#ifndef STOKER_SERVER_READ_SYNTHETIC_PHOTOGRAPH_H_
#define STOKER_SERVER_READ_SYNTHETIC_PHOTOGRAPH_H_

#include <cstdint>
#include <vector>

#include "common/fields/schema.h"

namespace stoker {

// Images that stand in for photographs where there are none: alike in smoothness, grain and the size of their JPEG.

// A landscape of H×W×3 uint8 (red, green, blue; rows packed), a pure function of its arguments on every CPU: a blue
// sky above, lightest at the horizon; ground below, whose hue `palette` chooses; all of it textured by value noise of
// several octaves. A pure red square near the top left corner shows whether it is upright and its channels in order.
// Requires a positive size.
std::vector<uint8_t> PaintPhotograph(uint64_t seed, uint64_t palette, ImageSize size);

// A baseline JPEG, 4:2:0, of packed RGB pixels. Deterministic for a given libjpeg. Requires that `rgb` is of `size`,
// neither side above kMaxJpegSide, and 1 ≤ quality ≤ 100.
std::vector<uint8_t> EncodeJpeg(const std::vector<uint8_t>& rgb, ImageSize size, int quality);

inline constexpr int64_t kMaxJpegSide = 65500;  // As libjpeg has it.

}  // namespace stoker

#endif  // STOKER_SERVER_READ_SYNTHETIC_PHOTOGRAPH_H_
