#ifndef STOKER_SERVER_AUGMENT_GATHER_H_
#define STOKER_SERVER_AUGMENT_GATHER_H_

#include <cstdint>

#include "common/ops/parameters.h"
#include "server/augment/pixel.h"
#include "server/decode/image.h"

namespace stoker {

// Taking each pixel of an image from a position in another one. `for_each_position(at)` calls at(x, y) for each output
// pixel, row by row, with a position in the input, in pixels with (0, 0) at its top left corner. The output is packed
// RGB; `fill` shows where a position lies outside of the input, or is no number. Pure; the same bytes on every CPU.

// Whether there is a pixel at the position.
inline bool IsInside(double x, double y, ImageSize size) {
  return x >= 0 && x < static_cast<double>(size.width) && y >= 0 && y < static_cast<double>(size.height);
}

template <typename ForEachPosition>
void GatherNearest(const Color& fill, const ImageView& in, uint8_t* out, const ForEachPosition& for_each_position) {
  for_each_position([&](double x, double y) {
    CopyPixel(IsInside(x, y, in.size) ? in.At(static_cast<int64_t>(y), static_cast<int64_t>(x)) : fill.data(), out);
    out += kChannels;
  });
}

// The two pixels along one axis whose centers a position lies between, and its distance from the first center. At the
// image's border both are the border's pixel.
struct Between {
  int64_t first, second;
  double part;

  Between(double position, int64_t size) {
    const double from_center = position - 0.5;
    const int64_t floor = from_center < 0 ? -1 : static_cast<int64_t>(from_center);
    first = floor < 0 ? 0 : floor;
    second = floor + 1 < size ? floor + 1 : floor;
    part = from_center - static_cast<double>(floor);
  }
};

// Interpolates as PIL does: across, then down, in double, truncated.
template <typename ForEachPosition>
void GatherBilinear(const Color& fill, const ImageView& in, uint8_t* out, const ForEachPosition& for_each_position) {
  const ImageView image = in;  // The compiler sees that nothing writes to this copy.
  for_each_position([&, image](double x, double y) {
    if (!IsInside(x, y, image.size)) {
      CopyPixel(fill.data(), out);
    } else {
      const Between across(x, image.size.width), down(y, image.size.height);
      const uint8_t* a = image.At(down.first, across.first);
      const uint8_t* b = image.At(down.first, across.second);
      const uint8_t* c = image.At(down.second, across.first);
      const uint8_t* d = image.At(down.second, across.second);
      const auto level = [&](int channel) {
        const double upper = a[channel] + (b[channel] - a[channel]) * across.part;
        const double lower = c[channel] + (d[channel] - c[channel]) * across.part;
        return static_cast<uint8_t>(static_cast<int>(upper + (lower - upper) * down.part));
      };
      const Color blended = {level(0), level(1), level(2)};
      CopyPixel(blended.data(), out);
    }
    out += kChannels;
  });
}

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_GATHER_H_
