#include "server/augment/crop_flip.h"

#include <cstring>

#include "server/augment/padding.h"
#include "server/augment/pixel.h"

namespace stoker {
namespace {

// A crop and flip along one axis of an image.
struct Axis {
  int64_t begin, end;  // the pixels to make, of those cropped and flipped
  bool flip;
  int64_t crop_begin, crop_extent;
  int64_t at, whole;  // the first pixel at hand, and the image's extent
};

// Finds the pixel that each of [begin, end) shows, counted from the first one at hand; −1 for padding of one color.
void FindSources(const Axis& axis, v1::PaddingMode padding, std::vector<int64_t>& sources) {
  sources.clear();
  for (int64_t i = axis.begin; i < axis.end; ++i) {
    const int64_t cropped = axis.flip ? axis.crop_extent - 1 - i : i;
    const int64_t source = PaddingSource(axis.crop_begin + cropped, axis.whole, padding);
    sources.push_back(source < 0 ? -1 : source - axis.at);
  }
}

void CopyRow(const uint8_t* in, int pixel_bytes, int64_t width, uint8_t* out) {
  if (pixel_bytes == kChannels) {
    std::memcpy(out, in, width * kChannels);
    return;
  }
  for (int64_t x = 0; x < width; ++x, in += pixel_bytes, out += kChannels) CopyPixel(in, out);
}

void GatherRow(const uint8_t* in, int pixel_bytes, const std::vector<int64_t>& columns, const Color& fill,
               uint8_t* out) {
  for (int64_t source : columns) {
    CopyPixel(source < 0 ? fill.data() : in + source * pixel_bytes, out);
    out += kChannels;
  }
}

}  // namespace

void CropFlipper::Run(const Geometry& geometry, const ImageView& in, const Region& at, ImageSize whole,
                      const Region& made, uint8_t* out) {
  const CropParameters& crop = geometry.crop;
  FindSources({made.top, made.bottom(), geometry.flip_vertical, crop.top, crop.size.height, at.top, whole.height},
              crop.padding, rows_);
  FindSources({made.left, made.right(), geometry.flip_horizontal, crop.left, crop.size.width, at.left, whole.width},
              crop.padding, columns_);
  const int64_t left = crop.left + made.left;
  const bool in_order = !geometry.flip_horizontal && left >= 0 && left + made.size.width <= whole.width;
  for (int64_t source : rows_) {
    if (source < 0) {
      FillPixels(crop.fill, made.size.width, out);
    } else if (in_order) {
      CopyRow(in.At(source, columns_.front()), in.pixel_bytes, made.size.width, out);
    } else {
      GatherRow(in.Row(source), in.pixel_bytes, columns_, crop.fill, out);
    }
    out += made.size.width * kChannels;
  }
}

}  // namespace stoker
