#ifndef STOKER_SERVER_DECODE_OTHER_HEADER_H_
#define STOKER_SERVER_DECODE_OTHER_HEADER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/fields/schema.h"

namespace stoker {

// The sizes that files give of themselves, so that none is decoded before it has passed the limits. Nothing where a
// header is cut short or odd, or gives a side of 0 or two sizes. Pure functions.

// Windows' bitmap: BITMAPCOREHEADER, BITMAPINFOHEADER and what extends it.
std::optional<ImageSize> BmpSize(std::span<const uint8_t> file);

// Netpbm's PBM, PGM and PPM, P1 to P6.
std::optional<ImageSize> PnmSize(std::span<const uint8_t> file);

// The same file with a header that can be read in one way only: no comments, single spaces. Requires that it has a
// size.
std::vector<uint8_t> PlainPnm(std::span<const uint8_t> file);

// TIFF 6.0, the first image. Nothing also where its tiles or strips are much larger than the image, for whoever decodes
// it holds one of them, its pixels have more than 8 bytes, or there is alpha.
std::optional<ImageSize> TiffSize(std::span<const uint8_t> file);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_OTHER_HEADER_H_
