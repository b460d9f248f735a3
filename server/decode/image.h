#ifndef STOKER_SERVER_DECODE_IMAGE_H_
#define STOKER_SERVER_DECODE_IMAGE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/fields/schema.h"

namespace stoker {

// Pixels that someone else owns: H×W of red, green, blue and, where they are RGBX, a fourth byte that says nothing;
// uint8, rows `stride` bytes apart.
struct ImageView {
  const uint8_t* pixels = nullptr;
  ImageSize size;
  ptrdiff_t stride = 0;
  int pixel_bytes = 3;  // RGB, or 4: RGBX

  const uint8_t* Row(int64_t y) const { return pixels + y * stride; }
  const uint8_t* At(int64_t y, int64_t x) const { return Row(y) + x * pixel_bytes; }
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

// The pixels of the image at `eighths` of its size that show any of `region`.
inline Region Reduced(const Region& region, int eighths) {
  const int64_t top = region.top * eighths / 8, left = region.left * eighths / 8;
  return {top, left, {(region.bottom() * eighths + 7) / 8 - top, (region.right() * eighths + 7) / 8 - left}};
}

// The part of an image that a decoder was asked for.
struct DecodeTarget {
  Region needed;    // In pixels of the whole image at its full size; not empty, inside of the image.
  int eighths = 8;  // Of the full size: 1, 2, 4 or 8. What cannot be decoded at a reduced size comes at its full one.
};

// A part of an image that a decoder made: H×W×4 uint8, RGBX, rows packed. Its buffer is reused and never shrinks.
// Inside of what was asked for, pixels are those of the whole image; the rest of `region` may differ.
//
// At a reduced size the whole image has ceil(height · eighths / 8) × ceil(width · eighths / 8) pixels.
struct DecodedImage {
  static constexpr int64_t kPixelBytes = 4;
  static constexpr int64_t kSlackBytes = 128;  // After the last row, for whoever writes whole vectors.

  std::vector<uint8_t> pixels;
  Region region;  // Where it lies in the whole image of this size; covers what was asked for.
  int eighths = 8;

  ImageView view() const { return {pixels.data(), region.size, region.size.width * kPixelBytes, kPixelBytes}; }

  // Makes room for `new_region`. What the pixels hold then is unspecified.
  void Reset(const Region& new_region, int new_eighths = 8) {
    region = new_region;
    eighths = new_eighths;
    const size_t bytes = region.size.height * region.size.width * kPixelBytes + kSlackBytes;
    if (pixels.size() < bytes) pixels.resize(bytes);
  }
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_IMAGE_H_
