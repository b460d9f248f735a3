#ifndef STOKER_SERVER_DECODE_WEBP_H_
#define STOKER_SERVER_DECODE_WEBP_H_

#include "server/decode/decoder.h"

namespace stoker {

// As Decoder, by libwebp, for files that begin like a WebP. Always decodes the whole image: where libwebp
// crops, it takes the border of the crop for that of the image and interpolates other colors there.
absl::StatusOr<ImageSize> ReadWebpHeader(std::span<const uint8_t> file, const Decoder::Options& options);
absl::Status DecodeWebp(std::span<const uint8_t> file, const Decoder::Options& options, const Region& needed,
                        DecodedImage& image);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_WEBP_H_
