#ifndef STOKER_SERVER_AUGMENT_RESIZE_RESIZE_H_
#define STOKER_SERVER_AUGMENT_RESIZE_RESIZE_H_

#include <cstdint>
#include <vector>

#include "common/ops/parameters.h"
#include "server/augment/resize/axis_filter.h"
#include "server/augment/resize/blend.h"
#include "server/augment/resize/convolve.h"
#include "server/augment/resize/fixed_weights.h"
#include "server/decode/image.h"

namespace stoker {

// A crop, in pixels of an image; fractional where that was decoded at a reduced size.
struct Box {
  double top = 0, left = 0;
  double height = 0, width = 0;
};

// Crop, then resize, then flip, in one pass. No pixel outside of `box` (rounded outward) has a say.
struct ResizeTask {
  ImageView in;  // RGB or RGBX
  Box box;       // Inside of `in`, not empty.
  ImageSize size;
  v1::Interpolation interpolation = v1::INTERPOLATION_BILINEAR;
  bool antialias = true;
  bool flip_horizontal = false, flip_vertical = false;
};

// Resamples images as Image.resize of Pillow does with `box` cropped first: bilinear within one level, the others
// byte for byte while no kernel covers more than PairWeights::kMaxTaps pixels, and within one level above.
//
// With antialias, kernels widen where they reduce, as Pillow's always do. Without, bilinear is that of torchvision's
// tensors, and bicubic theirs too (a = -0.75), but with pixels clamped between its two passes, where torch's are not.
// Nearest takes the pixel under each center, as Pillow does; torchvision's tensors take another.
//
// The same bytes on every CPU. One thread at a time; keeps scratch from image to image. Sides up to 2^20 pixels.
class Resizer {
 public:
  // Writes task.size as H×W×3 packed uint8 to `out`, and nothing beyond.
  void Resize(const ResizeTask& task, uint8_t* out);

 private:
  // `region` of `in` as RGBX, its rows at least `min_width` pixels: `in` itself or a copy in rgbx_.
  ImageView RgbxOf(const ImageView& in, const Region& region, int64_t min_width);

  void ResizeNearest(const ResizeTask& task, const Region& region, uint8_t* out);
  void BlendRegion(const ResizeTask& task, const Region& region, uint8_t* out);
  void ConvolveRegion(const ResizeTask& task, const Region& region, uint8_t* out);
  void ConvolveRowsFrom(const ImageView& in, int64_t y, uint8_t* const (&out)[ConvolveRowsTask::kRows]);
  void ConvolveRing(const ImageView& in, const ResizeTask& task, uint8_t* out);
  void ConvolveLong(const ImageView& in, const ResizeTask& task, uint8_t* out);

  AxisFilter across_, down_;
  BlendWeights blend_across_, blend_down_;
  PairWeights pairs_across_, pairs_down_;
  WideWeights long_across_, long_down_;
  std::vector<uint8_t> rgbx_;
  std::vector<BlendSlot> strip_;
  int64_t row_bytes_ = 0;                       // Of rows of the first pass, RGBX.
  std::vector<uint8_t> ring_;                   // Those rows.
  std::vector<const uint8_t*> rows_;            // The row of each tap of the second pass.
  std::vector<int16_t> spread_;                 // Rows of the input.
  std::vector<int64_t> sums_;                   // One row of the second pass.
  std::vector<int64_t> sources_x_, sources_y_;  // Nearest: the input pixel of each output pixel.
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RESIZE_RESIZE_H_
