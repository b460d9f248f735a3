#ifndef STOKER_SERVER_AUGMENT_AUGMENTER_H_
#define STOKER_SERVER_AUGMENT_AUGMENTER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "server/augment/crop_flip.h"
#include "server/augment/image_plan.h"
#include "server/augment/resize/resize.h"
#include "server/augment/smooth.h"
#include "server/decode/image.h"

namespace stoker {

// The part at `region` of an image, at `eighths` of its size; the region is in pixels of that size.
struct SourceImage {
  ImageView view;
  Region region;
  int eighths = 8;
};

inline SourceImage SourceOf(const DecodedImage& image) { return {image.view(), image.region, image.eighths}; }

// Carries out plans, the last step straight in the result's place in the span.
//
// One thread at a time; keeps scratch from image to image. Integer arithmetic on pixels: the same bytes on
// every CPU. Cannot fail: sizes were settled when the parameters were drawn.
class Augmenter {
 public:
  // Writes H×W×3 packed uint8 to `out`, which has just the size of plan.result(). `image` has plan.target() or more,
  // at the size asked for or the full one; what it has beyond that changes nothing.
  void Apply(const ImagePlan& plan, const SourceImage& image, std::span<uint8_t> out);

 private:
  struct Run;

  CropFlipper crop_flipper_;
  Resizer resizer_;
  Smoother smoother_;
  std::vector<uint8_t> front_, back_;  // The latest intermediate image, and room for the next.
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_AUGMENTER_H_
