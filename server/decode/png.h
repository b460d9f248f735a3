#ifndef STOKER_SERVER_DECODE_PNG_H_
#define STOKER_SERVER_DECODE_PNG_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/decode/image.h"
#include "server/decode/options.h"

namespace stoker {

// Decode files that begin like a PNG by libspng, with the contract of Decoder. Thread-safe.
absl::StatusOr<ImageSize> ReadPngHeader(std::span<const uint8_t> file, const DecodeOptions& options);
absl::Status DecodePng(std::span<const uint8_t> file, const DecodeOptions& options, const DecodeTarget& target,
                       DecodedImage& image);

// The same for the files of label maps and binary maps, which have one channel: gray, or numbers of a palette's colors.
// A pixel's bytes are the value's lower 8 bits, its upper 8 bits, whether it is above 32767, and one of no meaning.
absl::StatusOr<ImageSize> ReadPngMapHeader(std::span<const uint8_t> file, const DecodeOptions& options);
absl::Status DecodePngMap(std::span<const uint8_t> file, const DecodeOptions& options, const DecodeTarget& target,
                          DecodedImage& image);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_PNG_H_
