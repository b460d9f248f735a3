#ifndef STOKER_SERVER_AUGMENT_SMOOTH_H_
#define STOKER_SERVER_AUGMENT_SMOOTH_H_

#include <cstdint>
#include <vector>

#include "common/ops/parameters.h"
#include "server/augment/smooth_row.h"
#include "server/decode/image.h"
#include "server/decode/interrupt.h"

namespace stoker {

// Ops that look at a pixel's neighbors.
//
// Each makes the part `wanted` of its result and writes it to `out` as H×W×3 packed uint8. `in` is the part at `at` of
// an image of size `whole` and must not overlap `out`. `at` must cover `wanted` and the halo around it, as far as the
// image goes. Pixels beyond that change nothing, so that a part has the same pixels as in the whole result.
//
// A smoother is used by one thread at a time. It keeps scratch memory from image to image. It writes the same bytes on
// every CPU.
class Smoother {
 public:
  // Returns how many pixels the op reaches to each side: across (width) and down (height).
  static ImageSize Halo(const BlurParameters& blur) { return {blur.kernel_height / 2, blur.kernel_width / 2}; }
  static ImageSize Halo(const SharpnessParameters&) { return {1, 1}; }

  // Blurs as torchvision's gaussian_blur does on uint8, within one level. Borders are reflected, without repeating the
  // border's pixels. Requires whole.width > kernel_width / 2 and whole.height > kernel_height / 2. Once `interrupt` is
  // raised the rest of `out` stays as it is.
  void Blur(const BlurParameters& blur, const ImageView& in, const Region& at, ImageSize whole, const Region& wanted,
            uint8_t* out, const Interrupt& interrupt = {});

  // Sharpens to the same bytes as torchvision's adjust_sharpness on a PIL image (PIL's ImageEnhance.Sharpness). The
  // border's pixels stay as they are.
  void Sharpen(const SharpnessParameters& sharpness, const ImageView& in, const Region& at, ImageSize whole,
               const Region& wanted, uint8_t* out);

 private:
  std::vector<const uint8_t*> rows_;  // the input rows that one output row is made of
  HalfKernel across_, down_;
  std::vector<int16_t> sums_;  // one row, smoothed down but not across
  std::vector<uint8_t> row_;   // one output row, RGB or RGBX as the input is
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_SMOOTH_H_
