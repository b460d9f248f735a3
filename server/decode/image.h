#ifndef STOKER_SERVER_DECODE_IMAGE_H_
#define STOKER_SERVER_DECODE_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/pipeline/schema.h"

namespace stoker {

// Packed RGB pixels that someone else owns: H×W×3 uint8, rows `stride` bytes apart.
struct ImageView {
  const uint8_t* pixels = nullptr;
  ImageSize size;
  ptrdiff_t stride = 0;

  const uint8_t* Row(int64_t y) const { return pixels + y * stride; }
};

// Pixels of a rectangle in an image, in pixels of the whole image.
struct Region {
  int64_t top = 0, left = 0;
  ImageSize size;
};

// A part of an image that a decoder made: H×W×3 uint8, rows packed. Its buffer is reused.
struct DecodedImage {
  std::vector<uint8_t> pixels;
  Region region;  // Where it lies in the whole image; covers what was asked for.

  ImageView view() const { return {pixels.data(), region.size, static_cast<ptrdiff_t>(region.size.width) * 3}; }
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_IMAGE_H_
