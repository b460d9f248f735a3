#ifndef STOKER_SERVER_DECODE_JPEG_H_
#define STOKER_SERVER_DECODE_JPEG_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/decode/image.h"
#include "server/decode/jpeg_region.h"
#include "server/decode/libjpeg.h"
#include "server/decode/options.h"

namespace stoker {

// Decodes files that begin like a JPEG, with the contract of Decoder. JpegRegionDecoder does the work where it takes
// the file, and LibjpegDecoder does the rest. The pixels are the same from either.
class JpegDecoder {
 public:
  absl::StatusOr<ImageSize> Open(std::span<const uint8_t> file, const DecodeOptions& options);
  absl::Status Decode(const DecodeTarget& target, DecodedImage& image);

 private:
  JpegRegionDecoder region_;
  LibjpegDecoder library_;
  bool by_region_ = false, by_library_ = false;  // whether region_ and library_ have the file open
  std::span<const uint8_t> file_;
  DecodeOptions options_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_JPEG_H_
