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

// Decodes image files, one after the other, to 8-bit RGBX. The formats are JPEG, PNG, WebP, BMP, PNM, TIFF and packed
// images (packed.h); a file's format is told by its first bytes, never by its name.
//
// The pixels are those of Pillow's Image.open(f).convert("RGB"). Gray is replicated, CMYK and YCCK are converted, alpha
// is dropped, EXIF orientation is ignored. A 16-bit channel keeps its upper 8 bits, except in a gray image without
// alpha: there the value itself is kept, clipped to 255. Unlike Pillow, the decoder refuses a PNG whose checksums fail,
// a side above 2^20 pixels and an animated WebP.
//
// A decoder is used by one thread at a time. What an image becomes never depends on the images before it.
//
// Nothing is allocated for an image before its header has passed the limits. Reading stops after the last row needed,
// so that damage below it may go unseen.
//
// Damaged, oversized or unknown input is DataLoss. Too little memory is ResourceExhausted, and an image that takes
// longer than its time limit is DeadlineExceeded. BMP, PNM and TIFF files are Unavailable where the module for them is
// missing (other.h). An interrupt ends the decoding of JPEG and PNG with its own status. No error names the sample,
// because the caller knows it.
class Decoder {
 public:
  Decoder();
  ~Decoder();

  // Reads the header of `file` and returns the image's size, which has passed the limits of `options`. The bytes of
  // `file` must stay until the next Open.
  absl::StatusOr<ImageSize> Open(std::span<const uint8_t> file, const DecodeOptions& options);

  // Whether the file opened last can be decoded at a reduced size.
  bool can_reduce() const;

  // Decodes at least `target.needed` of the file opened last into `image`. That Open must have succeeded. On failure
  // `image` holds nothing of use. Decode may be called again, for other parts.
  absl::Status Decode(const DecodeTarget& target, DecodedImage& image);

 private:
  const std::unique_ptr<JpegDecoder> jpeg_;  // It keeps its tables and buffers from file to file.
  const Codec* codec_ = nullptr;             // the codec of the file opened last
  std::span<const uint8_t> file_;
  DecodeOptions options_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_DECODER_H_
