#ifndef STOKER_SERVER_AUGMENT_RECOMPRESS_H_
#define STOKER_SERVER_AUGMENT_RECOMPRESS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/ops/parameters.h"
#include "server/decode/decoder.h"
#include "server/decode/image.h"

namespace stoker {

// Makes of an image what a JPEG of it shows. One thread at a time.
class Recompressor {
 public:
  // Compresses `pixels`, a whole image of `size`, H×W×3 packed uint8, and decodes it in place. Both are as Pillow's, by
  // libjpeg's defaults: one baseline scan, 4:2:0, its exact integer transforms and its smooth chroma. The same bytes on
  // every CPU: libjpeg-turbo's vector code of these transforms is exact. Requires sides of at most
  // kMaxJpegExtent and 1 ≤ quality ≤ 100. ResourceExhausted where memory runs out; `pixels` hold garbage then.
  absl::Status Run(const RecompressParameters& recompress, ImageSize size, uint8_t* pixels);

 private:
  Decoder decoder_;
  DecodedImage decoded_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RECOMPRESS_H_
