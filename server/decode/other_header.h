#ifndef STOKER_SERVER_DECODE_OTHER_HEADER_H_
#define STOKER_SERVER_DECODE_OTHER_HEADER_H_

#include <cstdint>
#include <optional>
#include <span>

#include "common/pipeline/schema.h"

namespace stoker {

// The sizes that files give of themselves, so that none is decoded before it has passed the limits. Nothing where a
// header is cut short or odd, or gives a side of 0 or two sizes. Pure functions.

// Windows' bitmap: BITMAPCOREHEADER, BITMAPINFOHEADER and what extends it.
std::optional<ImageSize> BmpSize(std::span<const uint8_t> file);

// Netpbm's PBM, PGM and PPM, P1 to P6.
std::optional<ImageSize> PnmSize(std::span<const uint8_t> file);

// TIFF 6.0, the first image.
std::optional<ImageSize> TiffSize(std::span<const uint8_t> file);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_OTHER_HEADER_H_
