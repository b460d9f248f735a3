#ifndef STOKER_SERVER_DECODE_DECODER_H_
#define STOKER_SERVER_DECODE_DECODER_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/decode/image.h"
#include "server/decode/options.h"

namespace stoker {

class JpegDecoder;
struct Codec;

// Decodes JPEG, PNG, WebP and other files to 8-bit RGBX, with Pillow's pixels (Image.open(f).convert("RGB")).
//
// Gray is replicated, CMYK and YCCK are converted, alpha is dropped, EXIF orientation is ignored. Of 16 bits
// the upper 8 are taken, but of gray without alpha Pillow keeps the value, clipped to 255, and so do we. The
// format is told by the file's first bytes, never by its name.
//
// One thread at a time. What an image becomes never depends on the images before it.
//
// Damaged, oversized or unknown input is DataLoss with a reason that does not name the sample (the caller
// knows it); no memory at hand is ResourceExhausted; over the time limit is DeadlineExceeded. Nothing is allocated for
// an image before its header has passed the limits. Reading stops after the last row needed: damage below it may go
// unseen. Unlike Pillow we refuse a PNG whose checksums fail, a side above 2^20 pixels and an animated WebP.
class Decoder {
 public:
  Decoder();
  ~Decoder();

  // Reads the header of `file`, whose bytes must stay until the next Open. Returns the image's size, checked against
  // the limits.
  absl::StatusOr<ImageSize> Open(std::span<const uint8_t> file, const DecodeOptions& options);

  // Decodes at least `target.needed` of the file opened last, which did open, into `image`. On failure `image` holds
  // nothing of use. May be called again, for other parts.
  absl::Status Decode(const DecodeTarget& target, DecodedImage& image);

 private:
  const std::unique_ptr<JpegDecoder> jpeg_;  // Keeps tables and buffers warm.
  const Codec* codec_ = nullptr;             // Of the file opened last.
  std::span<const uint8_t> file_;
  DecodeOptions options_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_DECODER_H_
