#include "server/augment/resize/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/check.h"
#include "server/augment/resize/scratch.h"
#include "server/augment/resize/wide_sums.h"

namespace stoker {
namespace {

constexpr int64_t kRgbx = DecodedImage::kPixelBytes, kRows = ConvolveRowsTask::kRows;

// Returns the pixels of the box, rounded outward.
Region RegionOf(const ResizeTask& task) {
  const auto& [top, left, height, width] = task.box;
  const int64_t y = static_cast<int64_t>(std::floor(top)), x = static_cast<int64_t>(std::floor(left));
  const int64_t bottom = static_cast<int64_t>(std::ceil(top + height));
  const int64_t right = static_cast<int64_t>(std::ceil(left + width));
  const Region region = Region{y, x, {bottom - y, right - x}}.Intersection(WholeOf(task.in.size));
  STOKER_CHECK(!region.empty() && height > 0 && width > 0);
  return region;
}

// Copies a row as RGBX.
void CopyRow(const uint8_t* in, int pixel_bytes, int64_t width, uint8_t* out) {
  if (pixel_bytes == kRgbx) return void(std::memcpy(out, in, width * kRgbx));
  for (; width > 1; --width, in += pixel_bytes, out += kRgbx) std::memcpy(out, in, kRgbx);
  std::memcpy(out, in, pixel_bytes);
}

// Finds the input pixel under the center of each output pixel. It steps by adding, as Pillow does: where a center falls
// on the border of two pixels, the earlier roundings decide.
void FindNearest(const AxisMapping& mapping, std::vector<int64_t>& sources) {
  const double step = mapping.length / static_cast<double>(mapping.outputs);
  double center = mapping.start + step * 0.5;
  sources.clear();
  for (int64_t i = 0; i < mapping.outputs; ++i, center += step)
    sources.push_back(std::min<int64_t>(static_cast<int64_t>(center), mapping.pixels - 1));
  if (mapping.mirrored) std::reverse(sources.begin(), sources.end());
}

AxisMapping Across(const ResizeTask& task, const Region& region) {
  return {region.size.width, task.box.left - static_cast<double>(region.left), task.box.width, task.size.width,
          task.flip_horizontal};
}

// This mapping is never mirrored: rows are made from the top, and OutputRow says where each goes.
AxisMapping Down(const ResizeTask& task, const Region& region) {
  return {region.size.height, task.box.top - static_cast<double>(region.top), task.box.height, task.size.height};
}

uint8_t* OutputRow(const ResizeTask& task, int64_t y, uint8_t* out) {
  return out + (task.flip_vertical ? task.size.height - 1 - y : y) * task.size.width * 3;
}

}  // namespace

void Resizer::Resize(const ResizeTask& task, uint8_t* out) {
  const Region region = RegionOf(task);
  if (task.interpolation == v1::INTERPOLATION_NEAREST) return ResizeNearest(task, region, out);
  across_.Make(Across(task, region), task.interpolation, task.antialias);
  down_.Make(Down(task, region), task.interpolation, task.antialias);
  const bool blends = task.interpolation == v1::INTERPOLATION_BILINEAR &&
                      std::max(across_.taps(), down_.taps()) <= BlendWeights::kMaxTaps;
  return blends ? BlendRegion(task, region, out) : ConvolveRegion(task, region, out);
}

void Resizer::ResizeNearest(const ResizeTask& task, const Region& region, uint8_t* out) {
  const int64_t width = task.size.width;
  FindNearest(Across(task, region), sources_x_);
  FindNearest(Down(task, region), sources_y_);
  for (int64_t y = 0; y < task.size.height; ++y) {
    const uint8_t* row = task.in.At(region.top + sources_y_[y], region.left);
    uint8_t* to = OutputRow(task, y, out);
    int64_t x = 0;
    if (task.in.pixel_bytes == kRgbx)  // Each copy writes a byte too many, which the next pixel overwrites.
      for (; x + 1 < width; ++x, to += 3) std::memcpy(to, row + sources_x_[x] * kRgbx, kRgbx);
    for (; x < width; ++x, to += 3) std::memcpy(to, row + sources_x_[x] * task.in.pixel_bytes, 3);
  }
}

ImageView Resizer::RgbxOf(const ImageView& in, const Region& region, int64_t min_width) {
  const ImageSize padded = {region.size.height, std::max(region.size.width, min_width)};
  if (in.pixel_bytes == kRgbx && padded == region.size)
    return {in.At(region.top, region.left), region.size, in.stride, kRgbx};
  const ptrdiff_t stride = padded.width * kRgbx;
  uint8_t* row = Reserve(padded.height * stride, rgbx_);
  const ImageView copy = {row, padded, stride, kRgbx};
  for (int64_t y = 0; y < padded.height; ++y, row += stride)
    CopyRow(in.At(region.top + y, region.left), in.pixel_bytes, region.size.width, row);
  return copy;
}

void Resizer::BlendRegion(const ResizeTask& task, const Region& region, uint8_t* out) {
  const ImageView in = RgbxOf(task.in, region, BlendTask::kMinWidth);
  blend_across_.Make(across_);
  blend_down_.Make(down_);
  Blend({.pixels = in.pixels,
         .stride = in.stride,
         .width = in.size.width,
         .strip = Reserve(in.size.width, strip_),
         .size = task.size,
         .flip_vertical = task.flip_vertical,
         .across = blend_across_,
         .down = blend_down_,
         .out = out});
}

void Resizer::ConvolveRegion(const ResizeTask& task, const Region& region, uint8_t* out) {
  const ImageView in = RgbxOf(task.in, region, 1);
  row_bytes_ = (task.size.width + ConvolveColumnsTask::kRoomPixels) * kRgbx;
  if (across_.taps() > PairWeights::kMaxTaps) {
    long_across_.Make(across_);
  } else {
    pairs_across_.Make(across_, /*aligned=*/true);
    Reserve(ConvolveRowsTask::ScratchValues(in.size.width, pairs_across_), spread_);
  }
  return down_.taps() > PairWeights::kMaxTaps ? ConvolveLong(in, task, out) : ConvolveRing(in, task, out);
}

// Runs the first pass on the kRows rows from `y` on. Where the image has fewer, the last row is taken again.
void Resizer::ConvolveRowsFrom(const ImageView& in, int64_t y, uint8_t* const (&out)[kRows]) {
  ConvolveRowsTask task = {
      .width = in.size.width, .weights = pairs_across_, .outputs = across_.outputs(), .scratch = spread_.data()};
  for (int64_t i = 0; i < kRows; ++i) {
    task.in[i] = in.Row(std::min(y + i, in.size.height - 1));
    task.out[i] = out[i];
  }
  if (across_.taps() <= PairWeights::kMaxTaps) return ConvolveRows(task);
  for (int64_t i = 0; i < kRows; ++i) SumWideRow(task.in[i], long_across_, task.outputs, task.out[i]);
}

// Convolves with a ring of rows of the first pass, which holds as many as an output row is made of.
void Resizer::ConvolveRing(const ImageView& in, const ResizeTask& task, uint8_t* out) {
  pairs_down_.Make(down_, /*aligned=*/false);
  const int64_t kept = down_.taps() + kRows;
  uint8_t* ring = Reserve(kept * row_bytes_, ring_);
  const auto row_of = [&](int64_t y) { return ring + y % kept * row_bytes_; };
  int64_t made = 0;
  for (int64_t y = 0; y < task.size.height; ++y) {
    const int64_t first = down_.First(y), end = first + down_.taps();
    for (made = std::max(made, first); made < end; made += kRows)
      ConvolveRowsFrom(in, made, {row_of(made), row_of(made + 1), row_of(made + 2), row_of(made + 3)});
    rows_.clear();
    for (int64_t tap = 0; tap < 2 * pairs_down_.pair_count; ++tap)
      rows_.push_back(row_of(std::min(first + tap, end - 1)));
    ConvolveColumns({.rows = rows_.data(),
                     .weights = pairs_down_.Of(y),
                     .pair_count = pairs_down_.pair_count,
                     .width = task.size.width,
                     .out = OutputRow(task, y, out)});
  }
}

// Convolves with many taps down the columns: rows of the first pass are added up as they are made, and none is kept.
void Resizer::ConvolveLong(const ImageView& in, const ResizeTask& task, uint8_t* out) {
  long_down_.Make(down_);
  const int64_t width = task.size.width;
  uint8_t* made = Reserve(kRows * row_bytes_, ring_);
  const auto row_of = [&](int64_t i) { return made + i * row_bytes_; };
  int64_t* sums = Reserve(width * 3, sums_);
  for (int64_t y = 0; y < task.size.height; ++y) {
    std::fill_n(sums, width * 3, kWideHalf);
    for (int64_t tap = 0; tap < long_down_.taps; ++tap) {
      if (tap % kRows == 0) ConvolveRowsFrom(in, down_.First(y) + tap, {row_of(0), row_of(1), row_of(2), row_of(3)});
      AddWideRow(row_of(tap % kRows), long_down_.Of(y)[tap], width, sums);
    }
    std::transform(sums, sums + width * 3, OutputRow(task, y, out), WidePixel);
  }
}

}  // namespace stoker
