#include "client/device/host/host_steps.h"

#include <algorithm>
#include <utility>

#include "client/device/pixel_arithmetic.h"
#include "common/check.h"

namespace stoker {
namespace {

int64_t Bytes(ImageSize size, int64_t channels) { return size.height * size.width * channels; }

// Finds what `gather` shows at each output pixel. Unless the gather turns the image, the taps along one axis do not
// depend on the other axis, so they are found once.
class TapFinder {
 public:
  TapFinder(const GatherDraw& gather, ImageSize out)
      : gather_(gather), aligned_(gather.matrix[1] == 0 && gather.matrix[3] == 0) {
    if (!aligned_) return;
    for (int64_t x = 0; x < out.width; ++x) across_.push_back(GatherAt(gather, x, 0).across);
    for (int64_t y = 0; y < out.height; ++y) down_.push_back(GatherAt(gather, 0, y).down);
  }

  GatherTaps At(int64_t x, int64_t y) const {
    return aligned_ ? GatherTaps{across_[x], down_[y]} : GatherAt(gather_, x, y);
  }

 private:
  const GatherDraw& gather_;
  const bool aligned_;
  std::vector<Taps> across_, down_;
};

// Makes the table of a change that TakesHistogram, for an image as it is just before that change.
std::array<uint8_t, kTableLevels> TableOf(ColorChange::Kind kind, int64_t pixels, const uint8_t* image) {
  std::array<uint32_t, kTableLevels> counts = {};
  for (int64_t p = 0; p < pixels; ++p)
    for (int c = 0; c < 3; ++c) ++counts[256 * c + image[3 * p + c]];
  std::array<uint8_t, kTableLevels> table;
  for (int c = 0; c < 3; ++c) {
    const LevelCounts of = counts.data() + 256 * c;
    const LevelRange range = RangeOf(of);
    const int64_t share = EqualShare(of, pixels);
    int64_t below = 0;
    for (int level = 0; level < 256; below += of[level++])
      table[256 * c + level] =
          kind == ColorChange::Kind::kEqualize ? Equalized(level, below, share) : Stretched(level, range);
  }
  return table;
}

void RunColors(const ColorsDraw& colors, ImageSize size, uint8_t* image) {
  const int64_t pixels = size.height * size.width;
  for (int i = 0; i < colors.count; ++i) {
    const ColorChange& change = colors.changes[i];
    uint64_t luma_sum = 0;
    if (change.kind == ColorChange::Kind::kContrast)
      for (int64_t p = 0; p < pixels; ++p) luma_sum += Luma({image[3 * p], image[3 * p + 1], image[3 * p + 2]});
    std::array<uint8_t, kTableLevels> table = {};
    if (TakesHistogram(change.kind)) table = TableOf(change.kind, pixels, image);
    const ImageFigures figures = {MeanGray(luma_sum, pixels), table.data()};
    for (int64_t p = 0; p < pixels; ++p) {
      uint8_t* pixel = image + 3 * p;
      const Rgb changed = Changed(change, figures, {pixel[0], pixel[1], pixel[2]});
      pixel[0] = changed.red, pixel[1] = changed.green, pixel[2] = changed.blue;
    }
  }
}

void RunSharpen(const SharpenDraw& sharpen, ImageSize size, int64_t channels, const uint8_t* in, uint8_t* out) {
  const int64_t row = size.width * channels;
  std::copy_n(in, size.height * row, out);
  for (int64_t y = 1; y < size.height - 1; ++y)
    for (int64_t i = channels; i < row - channels; ++i) {
      const uint8_t* at = in + y * row + i;
      int32_t nine = 0;
      for (const uint8_t* beside : {at - row, at, at + row}) nine += beside[-channels] + beside[0] + beside[channels];
      out[y * row + i] = Sharpened(*at, nine, sharpen.factor);
    }
}

void RunBlur(const BlurDraw& blur, ImageSize size, int64_t channels, const uint8_t* in, std::vector<int16_t>& sums,
             uint8_t* out) {
  const int64_t row = size.width * channels;
  sums.resize(size.height * row);
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t x = 0; x < row; ++x) {
      int32_t sum = 0;
      for (int64_t i = 0; i < std::ssize(blur.down); ++i)
        sum +=
            blur.down[i] * (in[Reflected(y - i, size.height) * row + x] + in[Reflected(y + i, size.height) * row + x]);
      sums[y * row + x] = static_cast<int16_t>(BlurredDown(sum));
    }
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t x = 0; x < size.width; ++x)
      for (int64_t c = 0; c < channels; ++c) {
        const int16_t* from = sums.data() + y * row + c;
        int32_t sum = 0;
        for (int64_t i = 0; i < std::ssize(blur.across); ++i)
          sum += blur.across[i] *
                 (from[Reflected(x - i, size.width) * channels] + from[Reflected(x + i, size.width) * channels]);
        out[y * row + x * channels + c] = BlurredAcross(sum);
      }
}

void RunMask(const MaskDraw& mask, ImageSize size, int64_t channels, std::vector<uint8_t>& drawn, uint8_t* image) {
  const int64_t stride = size.width + 2;  // There is a border of one pixel around the image, which is never drawn.
  drawn.assign((size.height + 2) * stride, 0);
  std::array<uint32_t, 4> block = {};
  for (int64_t i = 0; i < size.height * size.width; ++i) {
    if (i % 8 == 0) block = PhiloxBlock(mask.key, mask.position, i / 8);
    drawn[(i / size.width + 1) * stride + i % size.width + 1] = RandomBits(block, i) < mask.limit;
  }
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t x = 0; x < size.width; ++x) {
      const uint8_t* at = drawn.data() + (y + 1) * stride + x + 1;
      const bool black = at[0] || (mask.dilate && (at[-1] || at[1] || at[-stride] || at[stride]));
      if (black) std::fill_n(image + (y * size.width + x) * channels, channels, uint8_t{0});
    }
}

void RunErase(const EraseDraw& erase, ImageSize size, int64_t channels, uint8_t* image) {
  for (int64_t y = erase.top; y < erase.top + erase.size.height; ++y)
    for (int64_t x = erase.left; x < erase.left + erase.size.width; ++x)
      for (int64_t c = 0; c < channels; ++c) image[(y * size.width + x) * channels + c] = ChannelOf(erase.value, c);
}

}  // namespace

void RunGather(const GatherDraw& gather, const DeviceStep& step, int64_t channels, const uint8_t* in, uint8_t* out) {
  const TapFinder taps(gather, step.out);
  const auto at = [&](int64_t y, int64_t x) { return in + (y * step.in.width + x) * channels; };
  for (int64_t y = 0; y < step.out.height; ++y)
    for (int64_t x = 0; x < step.out.width; ++x, out += channels) {
      const GatherTaps tap = taps.At(x, y);
      if (!tap.shown()) {
        for (int64_t c = 0; c < channels; ++c) out[c] = ChannelOf(gather.fill, c);
        continue;
      }
      const uint8_t *upper_left = at(tap.down.first, tap.across.first),
                    *upper_right = at(tap.down.first, tap.across.second);
      const uint8_t *lower_left = at(tap.down.second, tap.across.first),
                    *lower_right = at(tap.down.second, tap.across.second);
      for (int64_t c = 0; c < channels; ++c)
        out[c] = gather.bilinear ? Bilinear(upper_left[c], upper_right[c], lower_left[c], lower_right[c],
                                            tap.across.share, tap.down.share)
                                 : upper_left[c];
    }
}

const uint8_t* HostSteps::Run(std::span<const DeviceStep> steps, std::span<const StepDraw> draws, int64_t channels,
                              const uint8_t* in) {
  STOKER_CHECK(steps.size() == draws.size());
  const uint8_t* image = in;
  for (size_t i = 0; i < steps.size(); ++i) {
    const DeviceStep& step = steps[i];
    const StepDraw& draw = draws[i];
    if (std::holds_alternative<std::monostate>(draw)) continue;
    made_.resize(Bytes(step.out, channels));
    if (const auto* gather = std::get_if<GatherDraw>(&draw)) {
      RunGather(*gather, step, channels, image, made_.data());
    } else if (const auto* blur = std::get_if<BlurDraw>(&draw)) {
      RunBlur(*blur, step.in, channels, image, sums_, made_.data());
    } else if (const auto* resample = std::get_if<ResampleDraw>(&draw)) {
      resampler_.Run(step, *resample, channels, image, made_.data());
    } else if (const auto* sharpen = std::get_if<SharpenDraw>(&draw)) {
      RunSharpen(*sharpen, step.in, channels, image, made_.data());
    } else {
      std::copy_n(image, made_.size(), made_.data());
      if (const auto* colors = std::get_if<ColorsDraw>(&draw)) RunColors(*colors, step.in, made_.data());
      if (const auto* mask = std::get_if<MaskDraw>(&draw)) RunMask(*mask, step.in, channels, drawn_, made_.data());
      if (const auto* erase = std::get_if<EraseDraw>(&draw)) RunErase(*erase, step.in, channels, made_.data());
    }
    std::swap(image_, made_);
    image = image_.data();
  }
  return image;
}

}  // namespace stoker
