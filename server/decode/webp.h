#ifndef STOKER_SERVER_DECODE_WEBP_H_
#define STOKER_SERVER_DECODE_WEBP_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/decode/image.h"
#include "server/decode/options.h"

namespace stoker {

// As Decoder, by libwebp, for files that begin like a WebP. libwebp takes the border of a crop for that of the image
// and interpolates other colors there: a margin around what is needed takes care of that.
absl::StatusOr<ImageSize> ReadWebpHeader(std::span<const uint8_t> file, const DecodeOptions& options);
absl::Status DecodeWebp(std::span<const uint8_t> file, const DecodeOptions& options, const DecodeTarget& target,
                        DecodedImage& image);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_WEBP_H_
