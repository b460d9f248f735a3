#include "server/augment/resize.h"

#include <algorithm>

#include "server/augment/scratch.h"

namespace stoker {
namespace {

constexpr int64_t kChannels = 3;
constexpr int32_t kHalf = 1 << (AxisFilter::kFractionBits - 1);

uint8_t ToPixel(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> AxisFilter::kFractionBits, 0, 255)); }

void FilterRow(const uint8_t* in, const AxisFilter& filter, int64_t width, uint8_t* out) {
  for (int64_t x = 0; x < width; ++x, out += kChannels) {
    const uint8_t* pixel = in + filter.First(x) * kChannels;
    int32_t red = kHalf, green = kHalf, blue = kHalf;
    for (int32_t weight : filter.Weights(x)) {
      red += weight * pixel[0];
      green += weight * pixel[1];
      blue += weight * pixel[2];
      pixel += kChannels;
    }
    out[0] = ToPixel(red);
    out[1] = ToPixel(green);
    out[2] = ToPixel(blue);
  }
}

// Makes output row `y` of the second pass; `sums` has room for a row.
void FilterColumns(const ImageView& in, const AxisFilter& filter, int64_t y, int32_t* sums, uint8_t* out) {
  const int64_t values = in.size.width * kChannels;
  std::fill_n(sums, values, kHalf);
  int64_t source = filter.First(y);
  for (int32_t weight : filter.Weights(y)) {
    const uint8_t* row = in.Row(source++);
    for (int64_t i = 0; i < values; ++i) sums[i] += weight * row[i];
  }
  for (int64_t i = 0; i < values; ++i) out[i] = ToPixel(sums[i]);
}

// The input pixel under the center of each output pixel. Steps by adding, as Pillow does: where a center falls
// on the border of two pixels, what was rounded before decides.
void FindNearest(int64_t in, int64_t out, std::vector<int64_t>& sources) {
  const double step = static_cast<double>(in) / static_cast<double>(out);
  double center = step * 0.5;
  sources.clear();
  for (int64_t i = 0; i < out; ++i, center += step)
    sources.push_back(std::min<int64_t>(static_cast<int64_t>(center), in - 1));
}

}  // namespace

void Resizer::Resize(const ImageView& in, const ResizeParameters& parameters, uint8_t* out) {
  const auto& [size, interpolation, antialias] = parameters;
  if (interpolation == v1::INTERPOLATION_NEAREST) return ResizeNearest(in, size, out);
  const int64_t values = size.width * kChannels;
  ImageView after_first = in;
  if (in.size.width != size.width) {
    across_.Make(in.size.width, size.width, interpolation, antialias);
    uint8_t* row = Reserve(in.size.height * values, first_pass_);
    after_first = {row, {in.size.height, size.width}, static_cast<ptrdiff_t>(values)};
    for (int64_t y = 0; y < in.size.height; ++y, row += values) FilterRow(in.Row(y), across_, size.width, row);
  }
  down_.Make(in.size.height, size.height, interpolation, antialias);
  int32_t* sums = Reserve(values, sums_);
  for (int64_t y = 0; y < size.height; ++y, out += values) FilterColumns(after_first, down_, y, sums, out);
}

void Resizer::ResizeNearest(const ImageView& in, ImageSize size, uint8_t* out) {
  FindNearest(in.size.width, size.width, sources_x_);
  FindNearest(in.size.height, size.height, sources_y_);
  for (int64_t y : sources_y_) {
    const uint8_t* row = in.Row(y);
    for (int64_t x : sources_x_) out = std::copy_n(row + x * kChannels, kChannels, out);
  }
}

}  // namespace stoker
