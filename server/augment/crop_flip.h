#ifndef STOKER_SERVER_AUGMENT_CROP_FLIP_H_
#define STOKER_SERVER_AUGMENT_CROP_FLIP_H_

#include <cstdint>
#include <vector>

#include "server/augment/fuse.h"
#include "server/decode/image.h"

namespace stoker {

// Crops, pads and flips.
//
// One thread at a time; keeps scratch from image to image.
class CropFlipper {
 public:
  // Writes the part `made` of what `geometry`, which has no resize, makes of an image of size `whole` to `out`, as
  // H×W×3 packed uint8. `in` is the image's part at `at`, which has all of its pixels that show.
  void Run(const Geometry& geometry, const ImageView& in, const Region& at, ImageSize whole, const Region& made,
           uint8_t* out);

 private:
  std::vector<int64_t> rows_, columns_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_CROP_FLIP_H_
