#ifndef STOKER_SERVER_DECODE_WEBP_H_
#define STOKER_SERVER_DECODE_WEBP_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/decode/image.h"
#include "server/decode/options.h"

namespace stoker {

// Decode files that begin like a WebP by libwebp, with the contract of Decoder. libwebp takes the border of a crop for
// that of the image and interpolates other colors there, so these decode a margin around what is needed. Thread-safe.
absl::StatusOr<ImageSize> ReadWebpHeader(std::span<const uint8_t> file, const DecodeOptions& options);
absl::Status DecodeWebp(std::span<const uint8_t> file, const DecodeOptions& options, const DecodeTarget& target,
                        DecodedImage& image);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_WEBP_H_
