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

// A crop, in pixels of an image. It may be fractional where the image was decoded at a reduced size.
struct Box {
  double top = 0, left = 0;
  double height = 0, width = 0;
};

// A crop to `box`, then a resize, then flips, all in one pass. Pixels outside `box`, rounded outward, change nothing.
struct ResizeTask {
  ImageView in;    // RGB or RGBX
  Box box;         // inside `in`, not empty
  ImageSize size;  // the result's size
  v1::Interpolation interpolation = v1::INTERPOLATION_BILINEAR;
  bool antialias = true;
  bool flip_horizontal = false, flip_vertical = false;
};

// Resamples images as Pillow's Image.resize does after a crop to the box. Bilinear is within one level. The others give
// the same bytes while no kernel covers more than PairWeights::kMaxTaps pixels, and are within one level beyond that.
//
// With antialias, kernels widen where they reduce, as Pillow's always do. Without antialias, bilinear is that of
// torchvision's tensors. Bicubic is theirs too (a = -0.75), except that pixels are clamped between its two passes.
// Nearest takes the pixel under each center, as Pillow does; torchvision's tensors take another one.
//
// A resizer is used by one thread at a time and keeps scratch memory from image to image. It writes the same bytes on
// every CPU. Sides may have up to 2^20 pixels.
class Resizer {
 public:
  // Writes the result as H×W×3 packed uint8 to `out`, and nothing beyond. `out` must not overlap the input.
  void Resize(const ResizeTask& task, uint8_t* out);

 private:
  // Returns `region` of `in` as RGBX, in `in` itself or as a copy in rgbx_. Rows have at least `min_width` pixels.
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
  int64_t row_bytes_ = 0;                       // bytes of a row that the first pass made, RGBX
  std::vector<uint8_t> ring_;                   // rows that the first pass made
  std::vector<const uint8_t*> rows_;            // the row of each tap of the second pass
  std::vector<int16_t> spread_;                 // ConvolveRowsTask::scratch
  std::vector<int64_t> sums_;                   // one row's sums in ConvolveLong
  std::vector<int64_t> sources_x_, sources_y_;  // for nearest: the input pixel of each output pixel
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_RESIZE_RESIZE_H_
