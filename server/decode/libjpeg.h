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

// As Decoder, by libjpeg-turbo, for all that begins like a JPEG: it decodes what the region decoder leaves, judges what
// is damaged, and reduces.
class LibjpegDecoder {
 public:
  LibjpegDecoder();
  ~LibjpegDecoder();

  absl::StatusOr<ImageSize> Open(std::span<const uint8_t> file, const DecodeOptions& options);
  absl::Status Decode(const DecodeTarget& target, DecodedImage& image);

 private:
  class File;

  // Of one file: a reused one would lend a file that lacks tables those of the file before it, and making one takes
  // 0.1 µs.
  std::unique_ptr<File> opened_;
  std::span<const uint8_t> file_;
  DecodeOptions options_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_LIBJPEG_H_
