#ifndef STOKER_SERVER_AUGMENT_SMOOTH_H_
#define STOKER_SERVER_AUGMENT_SMOOTH_H_

#include <cstdint>
#include <vector>

#include "common/ops/parameters.h"
#include "server/augment/smooth_row.h"
#include "server/decode/image.h"

namespace stoker {

// Ops that look at a pixel's neighbors. `in` is the part at `at` of an image of size `whole`; `wanted` lies in the
// whole and is written to `out` as H×W×3 packed uint8, which must not overlap `in`. Requires that `at` covers `wanted`
// and around it, as far as the image goes, what Halo says. Pixels beyond that change nothing, so that any part has the
// pixels that it has in the whole.
//
// One thread at a time; keeps scratch from image to image. The same bytes on every CPU.
class Smoother {
 public:
  // How far the ops reach, in pixels across (width) and down (height).
  static ImageSize Halo(const BlurParameters& blur) { return {blur.kernel_height / 2, blur.kernel_width / 2}; }
  static ImageSize Halo(const SharpnessParameters&) { return {1, 1}; }

  // torchvision's gaussian_blur on uint8, within one level. Borders are reflected, without repeating the border's
  // pixels. Requires whole.width > kernel_width / 2 and whole.height > kernel_height / 2.
  void Blur(const BlurParameters& blur, const ImageView& in, const Region& at, ImageSize whole, const Region& wanted,
            uint8_t* out);

  // torchvision's adjust_sharpness of a PIL image (PIL's ImageEnhance.Sharpness), to the same bytes. The border's
  // pixels stay as they are.
  void Sharpen(const SharpnessParameters& sharpness, const ImageView& in, const Region& at, ImageSize whole,
               const Region& wanted, uint8_t* out);

 private:
  std::vector<const uint8_t*> rows_;  // That one row of the output is made of.
  HalfKernel across_, down_;
  std::vector<int16_t> sums_;  // One row, smoothed down only.
  std::vector<uint8_t> row_;   // One row of the output, of pixels as the input's.
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_SMOOTH_H_
