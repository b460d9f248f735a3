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

// Packed images, which `stokerd prepare --pipeline` stores in place of encoded ones. A file is
//   8 bytes  0x93, "STOKER", 0x0a
//   uint32   version of this layout, 1
//   uint32   height, in pixels
//   uint32   width
//   uint64   XXH3-64 of all that follows, seeded with height · 2^32 + width
//   H×W×3    uint8 red, green, blue, rows packed
// Numbers are little-endian. An image of 0×0 has no pixels. It has up to 4 KiB of text instead, which says why its
// source could not be decoded. All functions are thread-safe.

// Returns whether the file begins like a packed image.
bool IsPacked(absl::string_view file);

// Both functions have the contract of Decoder. They require that IsPacked is true of `file`.

// Reads the image's size. Returns DataLoss for a file that is too short or too long. For an image of 0×0 it returns
// DataLoss with the text as the reason.
absl::StatusOr<ImageSize> ReadPackedHeader(std::span<const uint8_t> file, const DecodeOptions& options);

// Returns DataLoss also where the checksum fails.
absl::Status DecodePacked(std::span<const uint8_t> file, const DecodeOptions& options, const DecodeTarget& target,
                          DecodedImage& image);

// Makes the file of an image of `size` from its H×W×3 uint8 pixels. Requires that no side is 0 or above 2^32 − 1.
std::vector<uint8_t> PackImage(ImageSize size, std::span<const uint8_t> rgb);

// Makes a file that decodes to DataLoss with `reason`, which is cut to 4 KiB.
std::vector<uint8_t> PackReason(absl::string_view reason);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_PACKED_H_
