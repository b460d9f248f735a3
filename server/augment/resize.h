#ifndef STOKER_SERVER_AUGMENT_RESIZE_H_
#define STOKER_SERVER_AUGMENT_RESIZE_H_

#include <cstdint>
#include <vector>

#include "common/pipeline/parameters.h"
#include "server/augment/axis_filter.h"
#include "server/decode/image.h"

namespace stoker {

// Resamples images as Image.resize of Pillow up to version 12 does, to the same bytes. (Pillow 13 takes the
// passes in the cheaper order, which may move a value by 1.)
//
// Bilinear and bicubic run in two passes, along the rows first, with 8 bits between them. With antialias their
// kernels widen where they reduce, as Pillow's always do; without, bilinear is that of torchvision's tensors.
// Nearest takes the pixel under each center.
//
// One thread at a time; keeps scratch from image to image. Sides up to 2^20 pixels.
class Resizer {
 public:
  // Resizes `in`, which is not empty, to H×W×3 packed uint8 at `out`.
  void Resize(const ImageView& in, const ResizeParameters& parameters, uint8_t* out);

 private:
  void ResizeNearest(const ImageView& in, ImageSize size, uint8_t* out);

  AxisFilter across_, down_;
  std::vector<uint8_t> first_pass_;             // The image after its first pass.
  std::vector<int32_t> sums_;                   // One row of the second pass.
  std::vector<int64_t> sources_x_, sources_y_;  // Nearest: the input pixel of each output pixel.
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RESIZE_H_
