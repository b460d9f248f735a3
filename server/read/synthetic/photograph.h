#ifndef STOKER_SERVER_READ_SYNTHETIC_PHOTOGRAPH_H_
#define STOKER_SERVER_READ_SYNTHETIC_PHOTOGRAPH_H_

#include <cstdint>
#include <vector>

#include "common/fields/schema.h"

namespace stoker {

// Images that stand in for photographs where there are none. They are like photographs in smoothness, grain and the
// size of their JPEG. The functions are thread-safe.

// Paints a landscape and returns it as H×W×3 uint8 (red, green, blue; rows packed). The pixels depend on the arguments
// alone, on every CPU. Requires a positive size.
//
// The sky is blue and lightest at the horizon. `palette` chooses the hue of the ground below it. Value noise of several
// octaves textures both. A pure red square near the top left corner shows whether the image is upright and its channels
// are in order.
std::vector<uint8_t> PaintPhotograph(uint64_t seed, uint64_t palette, ImageSize size);

// Encodes packed RGB pixels as a baseline JPEG, 4:2:0. The bytes are the same for the same libjpeg. Requires that `rgb`
// has `size`, no side is above kMaxJpegSide, and 1 ≤ quality ≤ 100.
std::vector<uint8_t> EncodeJpeg(const std::vector<uint8_t>& rgb, ImageSize size, int quality);

inline constexpr int64_t kMaxJpegSide = 65500;  // libjpeg's limit, in pixels

}  // namespace stoker

#endif  // STOKER_SERVER_READ_SYNTHETIC_PHOTOGRAPH_H_
