#ifndef STOKER_SERVER_AUGMENT_CROP_FLIP_H_
#define STOKER_SERVER_AUGMENT_CROP_FLIP_H_

#include <cstdint>
#include <vector>

#include "server/augment/fuse.h"
#include "server/decode/image.h"

namespace stoker {

// Crops, pads and flips. It is used by one thread at a time and keeps scratch memory from image to image.
class CropFlipper {
 public:
  // Applies `geometry`, which must not resize, to an image of size `whole`. Writes the part `made` of the result to
  // `out`, as H×W×3 packed uint8. `in` is the part of the image at `at`, which must have every pixel that shows in
  // `made`.
  void Run(const Geometry& geometry, const ImageView& in, const Region& at, ImageSize whole, const Region& made,
           uint8_t* out);

 private:
  std::vector<int64_t> rows_, columns_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_CROP_FLIP_H_
