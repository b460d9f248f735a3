#ifndef STOKER_SERVER_AUGMENT_ELASTIC_H_
#define STOKER_SERVER_AUGMENT_ELASTIC_H_

#include <cstdint>
#include <vector>

#include "common/ops/parameters.h"
#include "server/decode/image.h"
#include "server/decode/interrupt.h"

namespace stoker {

// How far from itself each pixel of an image finds what it shows, in pixels. torchvision's ElasticTransform: uniform
// noise from −1 to 1, smoothed by a Gaussian, times a length. Draws(key) gives 32 bits for each pixel, row by row: the
// lower half is the noise across, the upper half the noise down. Borders are reflected. Immutable, thread-safe; the
// same bits on every CPU. It takes 8 bytes a pixel, and 12 while it is made.
class Displacements {
 public:
  // Makes those of an image of `size`, which is larger than ElasticReach. Once `interrupt` is raised they are
  // unfinished.
  Displacements(const ElasticParameters& elastic, ImageSize size, const Interrupt& interrupt = {});

  float Across(int64_t y, int64_t x) const { return across_[y * size_.width + x]; }
  float Down(int64_t y, int64_t x) const { return down_[y * size_.width + x]; }

 private:
  ImageSize size_;
  std::vector<float> across_, down_;
};

// Moves the pixels of the whole image `in` (RGB or RGBX) and writes the result to `out` as H×W×3 packed uint8 of the
// same size. `out` must not overlap `in`. Pixels are taken as by ApplyAffine. Thread-safe; the same bytes on every CPU.
void ApplyElastic(const ElasticParameters& elastic, const ImageView& in, uint8_t* out, const Interrupt& interrupt = {});

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_ELASTIC_H_
