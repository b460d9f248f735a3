#ifndef STOKER_SERVER_DECODE_LIBJPEG_H_
#define STOKER_SERVER_DECODE_LIBJPEG_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/decode/image.h"
#include "server/decode/options.h"

namespace stoker {

// Decodes files that begin like a JPEG by libjpeg-turbo, with the contract of Decoder. It takes the files that
// JpegRegionDecoder refuses and judges whether they are damaged.
class LibjpegDecoder {
 public:
  LibjpegDecoder();
  ~LibjpegDecoder();

  absl::StatusOr<ImageSize> Open(std::span<const uint8_t> file, const DecodeOptions& options);
  absl::Status Decode(const DecodeTarget& target, DecodedImage& image);

 private:
  class File;

  // The file opened last, until it is decoded. Each file gets a new libjpeg object, which takes 0.1 µs to make: a
  // reused one would lend its tables to the next file that lacks some.
  std::unique_ptr<File> opened_;
  std::span<const uint8_t> file_;
  DecodeOptions options_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_LIBJPEG_H_
