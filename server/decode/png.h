#ifndef STOKER_SERVER_DECODE_PNG_H_
#define STOKER_SERVER_DECODE_PNG_H_

#include "server/decode/decoder.h"

namespace stoker {

// As Decoder, by libspng, for files that begin like a PNG.
absl::StatusOr<ImageSize> ReadPngHeader(std::span<const uint8_t> file, const Decoder::Options& options);
absl::Status DecodePng(std::span<const uint8_t> file, const Decoder::Options& options, const DecodeTarget& target,
                       DecodedImage& image);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_PNG_H_
