#ifndef STOKER_SERVER_DECODE_JPEG_H_
#define STOKER_SERVER_DECODE_JPEG_H_

#include "server/decode/decoder.h"

namespace stoker {

// As Decoder, by libjpeg, for files that begin like a JPEG.
absl::StatusOr<ImageSize> ReadJpegHeader(std::span<const uint8_t> file, const Decoder::Options& options);
absl::Status DecodeJpeg(std::span<const uint8_t> file, const Decoder::Options& options, const Region& needed,
                        DecodedImage& image);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_JPEG_H_
