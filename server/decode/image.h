#ifndef STOKER_SERVER_DECODE_IMAGE_H_
#define STOKER_SERVER_DECODE_IMAGE_H_

#include <algorithm>
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

  int64_t bottom() const { return top + size.height; }
  int64_t right() const { return left + size.width; }
  bool empty() const { return size.height <= 0 || size.width <= 0; }
  bool Contains(const Region& other) const {
    return other.top >= top && other.left >= left && other.bottom() <= bottom() && other.right() <= right();
  }
  // What both cover; empty if nothing.
  Region Intersection(const Region& other) const {
    const int64_t y = std::max(top, other.top), x = std::max(left, other.left);
    return {y, x, {std::min(bottom(), other.bottom()) - y, std::min(right(), other.right()) - x}};
  }
  friend bool operator==(const Region&, const Region&) = default;
};

// The whole of an image of `size`.
inline Region WholeOf(ImageSize size) { return {0, 0, size}; }

// A part of an image that a decoder made: H×W×3 uint8, rows packed. Its buffer is reused and never shrinks.
struct DecodedImage {
  std::vector<uint8_t> pixels;  // May go on after the last row.
  Region region;                // Where it lies in the whole image; covers what was asked for.

  ImageView view() const { return {pixels.data(), region.size, static_cast<ptrdiff_t>(region.size.width) * 3}; }

  // Makes room for `new_region` and `slack_bytes` after it. What the pixels hold then is unspecified.
  void Reset(const Region& new_region, int64_t slack_bytes = 0) {
    region = new_region;
    const size_t bytes = region.size.height * region.size.width * 3 + slack_bytes;
    if (pixels.size() < bytes) pixels.resize(bytes);
  }
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_IMAGE_H_
