#include "server/augment/smooth.h"

#include <algorithm>

#include "common/check.h"
#include "common/ops/gaussian_kernel.h"
#include "server/augment/padding.h"
#include "server/augment/pixel.h"
#include "server/augment/resize/scratch.h"
#include "server/augment/smooth_row.h"

namespace stoker {
namespace {

// Fills the pixels of `row` that lie outside an image of `width` with reflections of those inside. The row has `pixels`
// pixels of `channels` values, and its first one is at `left` of the image.
void ReflectOutside(int64_t left, int64_t pixels, int64_t width, int64_t channels, int16_t* row) {
  const auto reflect = [&](int64_t x) {
    std::copy_n(row + (Reflected(x, width) - left) * channels, channels, row + (x - left) * channels);
  };
  for (int64_t x = left; x < 0; ++x) reflect(x);
  for (int64_t x = width; x < left + pixels; ++x) reflect(x);
}

void CopyPixels(const uint8_t* in, int pixel_bytes, int64_t count, uint8_t* out) {
  if (pixel_bytes == kChannels) {
    std::copy_n(in, count * kChannels, out);
    return;
  }
  for (int64_t x = 0; x < count; ++x)
    for (int64_t channel = 0; channel < kChannels; ++channel)
      out[x * kChannels + channel] = in[x * pixel_bytes + channel];
}

// The part of an image at `at`, addressed by coordinates of the whole image.
struct Part {
  const ImageView& view;
  const Region& at;
  const uint8_t* At(int64_t y, int64_t x) const { return view.At(y - at.top, x - at.left); }
};

}  // namespace

void Smoother::Blur(const BlurParameters& blur, const ImageView& in, const Region& at, ImageSize whole,
                    const Region& wanted, uint8_t* out, const Interrupt& interrupt) {
  const auto [halo_down, halo_across] = Halo(blur);
  STOKER_CHECK(whole.width > halo_across && whole.height > halo_down);
  across_.Set(HalfGaussianKernel(blur.kernel_width, blur.sigma));
  down_.Set(HalfGaussianKernel(blur.kernel_height, blur.sigma));
  const Part part = {in, at};
  const int64_t first = std::max<int64_t>(0, wanted.left - halo_across);
  const int64_t end = std::min(whole.width, wanted.right() + halo_across);
  const int64_t left = wanted.left - halo_across, pixels = wanted.size.width + 2 * halo_across;
  int16_t* sums = Reserve(pixels * in.pixel_bytes + kRowPadding, sums_);
  uint8_t* row = Reserve(wanted.size.width * in.pixel_bytes + kRowPadding, row_);
  for (int64_t y = wanted.top; y < wanted.bottom(); ++y, out += wanted.size.width * kChannels) {
    if (InterruptedAt(y, interrupt)) return;
    rows_.clear();
    for (int64_t i = y - halo_down; i <= y + halo_down; ++i)
      rows_.push_back(part.At(Reflected(i, whole.height), first));
    BlurDown(down_, rows_, (end - first) * in.pixel_bytes, sums + (first - left) * in.pixel_bytes);
    ReflectOutside(left, pixels, whole.width, in.pixel_bytes, sums);
    BlurAcross(across_, sums + halo_across * in.pixel_bytes, wanted.size.width * in.pixel_bytes, in.pixel_bytes, row);
    CopyPixels(row, in.pixel_bytes, wanted.size.width, out);
  }
}

void Smoother::Sharpen(const SharpnessParameters& sharpness, const ImageView& in, const Region& at, ImageSize whole,
                       const Region& wanted, uint8_t* out) {
  const Part part = {in, at};
  const Region inside = Region{1, 1, {whole.height - 2, whole.width - 2}}.Intersection(wanted);
  const int64_t values = inside.size.width * in.pixel_bytes;
  for (int64_t y = wanted.top; y < wanted.bottom(); ++y, out += wanted.size.width * kChannels) {
    CopyPixels(part.At(y, wanted.left), in.pixel_bytes, wanted.size.width, out);
    if (inside.empty() || y < inside.top || y >= inside.bottom()) continue;
    int16_t* sums = Reserve(values + 2 * in.pixel_bytes + kRowPadding, sums_);
    uint8_t* row = Reserve(values + kRowPadding, row_);
    rows_.clear();
    for (int64_t i = y - 1; i <= y + 1; ++i) rows_.push_back(part.At(i, inside.left - 1));
    SumDown(rows_, values + 2 * in.pixel_bytes, sums);
    std::copy_n(part.At(y, inside.left), values, row);
    SharpenAcross(static_cast<float>(sharpness.factor), sums + in.pixel_bytes, values, in.pixel_bytes, row);
    CopyPixels(row, in.pixel_bytes, inside.size.width, out + (inside.left - wanted.left) * kChannels);
  }
}

}  // namespace stoker
