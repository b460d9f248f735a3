#ifndef STOKER_SERVER_DECODE_PACKED_H_
#define STOKER_SERVER_DECODE_PACKED_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/decode/image.h"
#include "server/decode/options.h"

namespace stoker {

// Packed images: what `stokerd prepare --pipeline` stores in place of encoded ones. A file is
//   8 bytes  0x93, "STOKER", 0x0a
//   uint32   version of this layout, 1
//   uint32   height, in pixels
//   uint32   width
//   uint64   XXH3-64 of all that follows, seeded with height · 2^32 + width
//   H×W×3    uint8 red, green, blue, rows packed
// Numbers are little-endian. An image of 0×0 has no pixels but up to 4 KiB of text: why its source could not be
// decoded.

// As Decoder, for files that begin like a packed image. DataLoss for one that is cut off, goes on too long, whose
// checksum fails, or that says why there are no pixels, which is then the reason.
bool IsPacked(absl::string_view file);
absl::StatusOr<ImageSize> ReadPackedHeader(std::span<const uint8_t> file, const DecodeOptions& options);
absl::Status DecodePacked(std::span<const uint8_t> file, const DecodeOptions& options, const DecodeTarget& target,
                          DecodedImage& image);

// The file of an image of `size`, from its H×W×3 uint8 pixels. Requires that no side is 0 or above 2^32 - 1.
std::vector<uint8_t> PackImage(ImageSize size, std::span<const uint8_t> rgb);

// The file that decodes to DataLoss with `reason`, cut to 4 KiB.
std::vector<uint8_t> PackReason(absl::string_view reason);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_PACKED_H_
