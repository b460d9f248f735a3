#ifndef STOKER_SERVER_DECODE_IMAGE_H_
#define STOKER_SERVER_DECODE_IMAGE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/fields/schema.h"

namespace stoker {

// A view of H×W uint8 pixels that someone else owns. A pixel is red, green and blue (RGB), or these and a fourth byte
// that means nothing (RGBX). Rows are `stride` bytes apart.
struct ImageView {
  const uint8_t* pixels = nullptr;
  ImageSize size;
  ptrdiff_t stride = 0;
  int pixel_bytes = 3;  // 3 for RGB, 4 for RGBX

  const uint8_t* Row(int64_t y) const { return pixels + y * stride; }
  const uint8_t* At(int64_t y, int64_t x) const { return Row(y) + x * pixel_bytes; }
};

// A rectangle in an image, in pixels of the whole image.
struct Region {
  int64_t top = 0, left = 0;
  ImageSize size;

  int64_t bottom() const { return top + size.height; }
  int64_t right() const { return left + size.width; }
  bool empty() const { return size.height <= 0 || size.width <= 0; }
  bool Contains(const Region& other) const {
    return other.top >= top && other.left >= left && other.bottom() <= bottom() && other.right() <= right();
  }
  // Returns the rectangle that both cover; it is empty() where they do not overlap.
  Region Intersection(const Region& other) const {
    const int64_t y = std::max(top, other.top), x = std::max(left, other.left);
    return {y, x, {std::min(bottom(), other.bottom()) - y, std::min(right(), other.right()) - x}};
  }
  friend bool operator==(const Region&, const Region&) = default;
};

// Returns the rectangle that covers all of an image of `size`.
inline Region WholeOf(ImageSize size) { return {0, 0, size}; }

// Scales `region` to the image at `eighths` eighths of its size, rounding outward: the result is in pixels of the
// reduced image and covers all that show any of `region`.
inline Region Reduced(const Region& region, int eighths) {
  const int64_t top = region.top * eighths / 8, left = region.left * eighths / 8;
  return {top, left, {(region.bottom() * eighths + 7) / 8 - top, (region.right() * eighths + 7) / 8 - left}};
}

// The part of an image that a decoder is asked for.
struct DecodeTarget {
  // The part, in pixels of the whole image at its full size. It is not empty and lies inside the image.
  Region needed;
  // The size to decode at, in eighths of the full size: 1, 2, 4 or 8. A codec that cannot reduce an image decodes it at
  // its full size.
  int eighths = 8;
};

// A part of an image that a decoder made: H×W×4 uint8, RGBX, rows packed. The buffer is reused and never shrinks.
//
// Inside DecodeTarget::needed the pixels are those that a decode of the whole image gives. Elsewhere in `region` they
// may differ.
//
// At a reduced size the whole image has ceil(height · eighths / 8) × ceil(width · eighths / 8) pixels.
struct DecodedImage {
  static constexpr int64_t kPixelBytes = 4;
  // So many bytes after the last row may be written, by code that writes whole vectors.
  static constexpr int64_t kSlackBytes = 128;

  std::vector<uint8_t> pixels;
  Region region;    // where the part lies in the whole image, in pixels of the decoded size; it covers what was needed
  int eighths = 8;  // the decoded size, in eighths of the full one

  ImageView view() const { return {pixels.data(), region.size, region.size.width * kPixelBytes, kPixelBytes}; }

  // Makes room for the pixels of `new_region` and leaves their values unspecified.
  void Reset(const Region& new_region, int new_eighths = 8) {
    region = new_region;
    eighths = new_eighths;
    const size_t bytes = region.size.height * region.size.width * kPixelBytes + kSlackBytes;
    if (pixels.size() < bytes) pixels.resize(bytes);
  }
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_IMAGE_H_
