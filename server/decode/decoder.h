#ifndef STOKER_SERVER_DECODE_DECODER_H_
#define STOKER_SERVER_DECODE_DECODER_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/decode/image.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Decodes JPEG, PNG and WebP files to 8-bit RGB, with Pillow's pixels (Image.open(f).convert("RGB")).
//
// Gray is replicated, CMYK and YCCK are converted, alpha is dropped, 16 bits are reduced as Pillow does, EXIF
// orientation is ignored. The format is told by the file's first bytes, never by its name.
//
// One thread at a time; keeps codec state and scratch from image to image. Damaged, oversized or unknown
// input is DataLoss with a reason that does not name the sample (the caller knows it); nothing is allocated
// for an image before its header has passed the limits.
class Decoder {
 public:
  struct Options {
    uint64_t max_pixels = uint64_t{1} << 26;
    uint32_t max_scans = 100;  // of a progressive JPEG
    v1::DecodeWarnings warnings = v1::DECODE_WARNINGS_FAIL_TRUNCATED;
  };

  Decoder();
  ~Decoder();

  // Size of the image in `file`, checked against the limits.
  absl::StatusOr<ImageSize> ReadHeader(std::span<const uint8_t> file, const Options& options);

  // Decodes at least `needed`, which lies inside of the image, into `image`.
  absl::Status Decode(std::span<const uint8_t> file, const Options& options, const Region& needed,
                      DecodedImage& image);

 private:
  class Jpeg;
  std::unique_ptr<Jpeg> jpeg_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_DECODER_H_
