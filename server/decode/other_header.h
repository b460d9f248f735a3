#ifndef STOKER_SERVER_DECODE_OTHER_HEADER_H_
#define STOKER_SERVER_DECODE_OTHER_HEADER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/fields/schema.h"

namespace stoker {

// Functions that read an image's size from a file's header, so that no file is decoded before it has passed the limits.
// They return nothing where the header is cut short or odd, gives a side of 0 or gives two sizes. All are pure.

// Reads a Windows bitmap with BITMAPCOREHEADER, BITMAPINFOHEADER or an extension of the latter.
std::optional<ImageSize> BmpSize(std::span<const uint8_t> file);

// Reads Netpbm's PBM, PGM and PPM files, P1 to P6. Requires that `file` has two bytes.
std::optional<ImageSize> PnmSize(std::span<const uint8_t> file);

// Returns the same file with a header that can be read in one way only: no comments, single spaces. Requires that
// PnmSize returns a size.
std::vector<uint8_t> PlainPnm(std::span<const uint8_t> file);

// Reads the first image of a TIFF 6.0 file. Returns nothing also in three other cases: the tiles or strips are much
// larger than the image, since whoever decodes it must hold one of them; a pixel has more than 8 bytes; there is an
// alpha channel.
std::optional<ImageSize> TiffSize(std::span<const uint8_t> file);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_OTHER_HEADER_H_
