#ifndef STOKER_SERVER_DECODE_DECODER_H_
#define STOKER_SERVER_DECODE_DECODER_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/decode/image.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Decodes JPEG, PNG and WebP files to 8-bit RGB, with Pillow's pixels (Image.open(f).convert("RGB")).
//
// Gray is replicated, CMYK and YCCK are converted, alpha is dropped, EXIF orientation is ignored. Of 16 bits
// the upper 8 are taken, but of gray without alpha Pillow keeps the value, clipped to 255, and so do we. The
// format is told by the file's first bytes, never by its name.
//
// One thread at a time. What an image becomes never depends on the images before it.
//
// Damaged, oversized or unknown input is DataLoss with a reason that does not name the sample (the caller
// knows it); no memory at hand is ResourceExhausted. Nothing is allocated for an image before its header has
// passed the limits. Reading stops after the last row needed: damage below it may go unseen. Unlike Pillow we
// refuse a PNG whose checksums fail, a side above 2^20 pixels and an animated WebP.
class Decoder {
 public:
  struct Options {
    uint64_t max_pixels = uint64_t{1} << 26;
    uint32_t max_scans = 100;                                          // of a JPEG
    v1::DecodeWarnings warnings = v1::DECODE_WARNINGS_FAIL_TRUNCATED;  // of libjpeg; the others only fail
  };

  // Size of the image in `file`, checked against the limits.
  absl::StatusOr<ImageSize> ReadHeader(std::span<const uint8_t> file, const Options& options);

  // Decodes at least `needed`, which lies inside of the image and is not empty, into `image`. On failure
  // `image` holds nothing of use.
  absl::Status Decode(std::span<const uint8_t> file, const Options& options, const Region& needed, DecodedImage& image);
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_DECODER_H_
