#ifndef STOKER_SERVER_AUGMENT_AUGMENTER_H_
#define STOKER_SERVER_AUGMENT_AUGMENTER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "common/pipeline/parameters.h"
#include "server/augment/resize.h"
#include "server/decode/image.h"

namespace stoker {

// Applies drawn ops to one image, the last one straight into its place in the span.
//
// One thread at a time; keeps scratch from image to image. Integer arithmetic on pixels: the same bytes on
// every CPU. Cannot fail: sizes were settled when the parameters were drawn.
class Augmenter {
 public:
  // The rectangle of an image of `size` that `ops` depend on, never empty: all a decoder needs to make.
  static Region Needed(ImageSize size, std::span<const OpParameters> ops);

  // Applies `ops` to the image of which `part`, at `region` of the whole, was decoded, and writes H×W×3 packed
  // uint8 to `out`, which has just that size. Requires that `region` covers Needed(size of the whole, ops).
  // Pixels of `part` beyond that change nothing.
  void Apply(const ImageView& part, const Region& region, ImageSize whole, std::span<const OpParameters> ops,
             std::span<uint8_t> out);

 private:
  Resizer resizer_;
  std::vector<uint8_t> front_, back_;  // The latest intermediate image, and room for the next.
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_AUGMENTER_H_
