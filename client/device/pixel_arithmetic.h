#ifndef STOKER_CLIENT_DEVICE_PIXEL_ARITHMETIC_H_
#define STOKER_CLIENT_DEVICE_PIXEL_ARITHMETIC_H_

#include <array>
#include <cstdint>

#include "common/pipeline/device_program.h"

namespace stoker {

// These functions define what the values of device_program.h mean for one pixel. They use integers, float32 and double
// without fused multiply-add, so every device computes the same bits; compilers must be told so (-ffp-contract=off,
// -fmad=false). They are constexpr so that CUDA sources can call them (--expt-relaxed-constexpr).

constexpr int64_t Floor(double x) {
  const auto truncated = static_cast<int64_t>(x);
  return x < static_cast<double>(truncated) ? truncated - 1 : truncated;
}

constexpr int64_t Ceil(double x) { return -Floor(-x); }

template <typename T>
constexpr T Within(T x, T least, T most) {
  return x < least ? least : x > most ? most : x;
}

constexpr uint8_t ChannelOf(const std::array<uint8_t, 3>& color, int64_t channel) {
  return color[channel < 3 ? channel : 0];
}

// The one or two pixels along one axis that a position shows.
struct Taps {
  bool shown = false;             // false: the position shows the fill color
  int64_t first = 0, second = 0;  // the pixels' indexes; equal if there is only one
  float share = 0;                // the second pixel's weight, 0 to 1
};

// Finds the taps of a position along one axis. [from, to) is the window on that axis. All are in pixels.
constexpr Taps TapsAt(double position, double from, double to, GatherDraw::Beyond beyond, bool bilinear) {
  if (!(position >= from && position < to)) {
    const bool below = !(position >= from);
    switch (beyond) {
      case GatherDraw::Beyond::kFill: return {};
      case GatherDraw::Beyond::kEdge: break;
      case GatherDraw::Beyond::kReflect: position = 2 * (below ? from + 0.5 : to - 0.5) - position; break;
      case GatherDraw::Beyond::kSymmetric: position = 2 * (below ? from : to) - position; break;
    }
    position = Within(position, from, to);
  }
  const int64_t least = Floor(from), most = Ceil(to) - 1;
  if (!bilinear) {
    const int64_t pixel = Within(Floor(position), least, most);
    return {true, pixel, pixel, 0};
  }
  const double center = position - 0.5;
  const int64_t first = Floor(center);
  return {true, Within(first, least, most), Within(first + 1, least, most),
          static_cast<float>(center - static_cast<double>(first))};
}

// Finds the one tap of a position along one axis that is given in 1/2^16 pixel.
constexpr Taps FixedTapAt(int64_t position, double from, double to) {
  const int64_t pixel = position >> 16;
  if (pixel < static_cast<int64_t>(from) || pixel >= static_cast<int64_t>(to)) return {};
  return {true, pixel, pixel, 0};
}

// What one output pixel shows along both axes. It shows the fill color if either axis does.
struct GatherTaps {
  Taps across, down;
  constexpr bool shown() const { return across.shown && down.shown; }
};

// Finds the taps of output pixel (x, y), given by its column and row.
constexpr GatherTaps GatherAt(const GatherDraw& gather, int64_t x, int64_t y) {
  if (gather.is_fixed) {
    const auto& f = gather.fixed;
    return {FixedTapAt(f[0] * x + f[1] * y + f[2], gather.window.left, gather.window.right),
            FixedTapAt(f[3] * x + f[4] * y + f[5], gather.window.top, gather.window.bottom)};
  }
  const auto& m = gather.matrix;
  const double center_x = static_cast<double>(x) + 0.5, center_y = static_cast<double>(y) + 0.5;
  return {TapsAt(m[0] * center_x + m[1] * center_y + m[2], gather.window.left, gather.window.right, gather.beyond,
                 gather.bilinear),
          TapsAt(m[3] * center_x + m[4] * center_y + m[5], gather.window.top, gather.window.bottom, gather.beyond,
                 gather.bilinear)};
}

// Returns `gather` for a binary map, whose values are 0 and 1: what fills it is 1 where it is not 0.
constexpr GatherDraw ForBinaryMap(GatherDraw gather) {
  gather.fill[0] = gather.fill[0] != 0 || gather.fill[1] != 0 ? 1 : 0;
  return gather;
}

// Interpolates between four pixels, across and then down, and rounds to nearest. `across` and `down` are the shares of
// the right and the lower ones.
constexpr uint8_t Bilinear(uint8_t upper_left, uint8_t upper_right, uint8_t lower_left, uint8_t lower_right,
                           float across, float down) {
  const float upper = static_cast<float>(upper_left) + static_cast<float>(upper_right - upper_left) * across;
  const float lower = static_cast<float>(lower_left) + static_cast<float>(lower_right - lower_left) * across;
  return static_cast<uint8_t>(upper + (lower - upper) * down + 0.5f);
}

struct Rgb {
  uint8_t red = 0, green = 0, blue = 0;
};

// Returns the gray level of PIL's Image.convert("L"): the luma of ITU-R 601-2 in 16 fraction bits.
constexpr uint8_t Luma(const Rgb& rgb) {
  return static_cast<uint8_t>((19595u * rgb.red + 38470u * rgb.green + 7471u * rgb.blue + 0x8000u) >> 16);
}

// Returns an image's mean gray, rounded, from the sum of its pixels' lumas.
constexpr uint8_t MeanGray(uint64_t luma_sum, int64_t pixels) {
  return static_cast<uint8_t>(static_cast<double>(luma_sum) / static_cast<double>(pixels) + 0.5);
}

// Blends as PIL's Image.blend: factor 0 gives `from`, 1 gives `to`.
constexpr uint8_t BlendLevels(uint8_t from, uint8_t to, float factor) {
  const float blended = static_cast<float>(from) + factor * static_cast<float>(to - from);
  return static_cast<uint8_t>(Within(blended, 0.0f, 255.0f));
}

// Converts to levels of hue, saturation and value, in this order. 255 levels of hue are one turn. It is PIL's
// Image.convert("HSV"), but for the hue of grays.
constexpr Rgb ToHsv(const Rgb& rgb) {
  const int red = rgb.red, green = rgb.green, blue = rgb.blue;
  const int value = Within(red > green ? red : green, blue, 255);
  const int low = Within(red < green ? red : green, 0, blue);
  const int chroma = value - low, middle = red + green + blue - value - low;
  const float part = static_cast<float>(value - middle) / static_cast<float>(chroma > 0 ? chroma : 1);
  // The hue in sixths of a turn is start + part, or start − part if `falls`. The largest and the smallest channel tell
  // which sixth it is.
  const bool red_leads = red == value, green_leads = green == value;
  const bool falls = red_leads ? blue <= green : green_leads ? blue > red : green <= red;
  const float start = red_leads ? (falls ? 1.0f : -1.0f) : green_leads ? (falls ? 3.0f : 1.0f) : (falls ? 5.0f : 3.0f);
  const float turn = (start + (falls ? -part : part)) / 6.0f;
  const float positive = turn + (turn < 0 ? 1.0f : 0.0f);
  const float saturation = static_cast<float>(chroma) / static_cast<float>(value > 0 ? value : 1);
  return {static_cast<uint8_t>(positive * 255.0f), static_cast<uint8_t>(saturation * 255.0f),
          static_cast<uint8_t>(value)};
}

// Computes one channel: value · (1 − saturation · absence), rounded. All three are levels from 0 to 255; `absence` is
// clamped to that.
constexpr uint8_t HsvChannel(float value, float saturation, float absence) {
  const float kept = 65025.0f - saturation * Within(absence, 0.0f, 255.0f);
  return static_cast<uint8_t>(value * kept * (1.0f / 65025.0f) + 0.5f);
}

// Turns the hue by `shift` levels. It wraps around at 256, as it does in torchvision's adjust_hue.
constexpr Rgb ShiftHue(const Rgb& rgb, float shift) {
  const Rgb hsv = ToHsv(rgb);
  const float turned = static_cast<float>(hsv.red) + shift;
  const float steps = (turned >= 256.0f ? turned - 256.0f : turned) * 6.0f;
  const float saturation = hsv.green, value = hsv.blue;
  const auto distance = [steps](float center) { return steps < center ? center - steps : steps - center; };
  return {HsvChannel(value, saturation, 510.0f - distance(765.0f)),
          HsvChannel(value, saturation, distance(510.0f) - 255.0f),
          HsvChannel(value, saturation, distance(1020.0f) - 255.0f)};
}

constexpr uint8_t Solarized(uint8_t level, float threshold) {
  return static_cast<float>(level) < threshold ? level : static_cast<uint8_t>(255 - level);
}

// How many pixels of an image have each of the 256 levels, in one channel.
using LevelCounts = const uint32_t*;

// The lowest and the highest level that a pixel has, as PIL's ImageOps.autocontrast finds them.
struct LevelRange {
  int low = 0, high = 255;
};
constexpr LevelRange RangeOf(LevelCounts counts) {
  LevelRange range;
  while (range.low < 255 && counts[range.low] == 0) ++range.low;
  while (range.high > 0 && counts[range.high] == 0) --range.high;
  return range;
}

// Returns what ImageOps.autocontrast makes of `level`.
constexpr uint8_t Stretched(int level, const LevelRange& range) {
  if (range.high <= range.low) return static_cast<uint8_t>(level);
  const double scale = 255.0 / (range.high - range.low), offset = -range.low * scale;
  return static_cast<uint8_t>(Within(static_cast<int>(level * scale + offset), 0, 255));
}

// Returns how many pixels PIL's ImageOps.equalize gives to a level. If it is 0, levels stay as they are.
constexpr int64_t EqualShare(LevelCounts counts, int64_t pixels) {
  int last = 255;
  while (last > 0 && counts[last] == 0) --last;
  return (pixels - counts[last]) / 255;
}

// Returns what ImageOps.equalize makes of `level`, where `below` pixels have lower levels.
constexpr uint8_t Equalized(int level, int64_t below, int64_t share) {
  if (share == 0) return static_cast<uint8_t>(level);
  return static_cast<uint8_t>(Within<int64_t>((share / 2 + below) / share, 0, 255));
}

// Levels of the three channels, one after the other, that a change makes of each level.
inline constexpr int kTableLevels = 3 * 256;

// What is measured of a whole image for a change of its colors, just before that change.
struct ImageFigures {
  uint8_t mean_gray = 0;           // for kContrast
  const uint8_t* table = nullptr;  // for what TakesHistogram: kTableLevels levels
};

// Applies one change to a pixel.
constexpr Rgb Changed(const ColorChange& change, const ImageFigures& figures, const Rgb& rgb) {
  const auto each = [&rgb](auto level) { return Rgb{level(rgb.red), level(rgb.green), level(rgb.blue)}; };
  const float value = change.value;
  switch (change.kind) {
    case ColorChange::Kind::kBrightness: return each([&](uint8_t level) { return BlendLevels(0, level, value); });
    case ColorChange::Kind::kContrast:
      return each([&](uint8_t level) { return BlendLevels(figures.mean_gray, level, value); });
    case ColorChange::Kind::kSaturation: {
      const uint8_t gray = Luma(rgb);
      return each([&](uint8_t level) { return BlendLevels(gray, level, value); });
    }
    case ColorChange::Kind::kHue: return ShiftHue(rgb, value);
    case ColorChange::Kind::kGrayscale: {
      const uint8_t gray = Luma(rgb);
      return {gray, gray, gray};
    }
    case ColorChange::Kind::kPosterize: {
      const int kept = ~((1 << (8 - static_cast<int>(value))) - 1);
      return each([&](uint8_t level) { return static_cast<uint8_t>(level & kept); });
    }
    case ColorChange::Kind::kSolarize: return each([&](uint8_t level) { return Solarized(level, value); });
    case ColorChange::Kind::kAutocontrast:
    case ColorChange::Kind::kEqualize:
      return {figures.table[rgb.red], figures.table[256 + rgb.green], figures.table[512 + rgb.blue]};
  }
  return rgb;
}

// Mirrors index `i` about the border's pixel if it lies outside of [0, extent). Requires −extent < i < 2 · extent − 1.
constexpr int64_t Reflected(int64_t i, int64_t extent) { return i < 0 ? -i : i >= extent ? 2 * (extent - 1) - i : i; }

// Sharpens a level: `nine` is the sum of the levels around it and its own, as PIL's ImageFilter.SMOOTH weighs them: the
// middle one counts five times, and the sum is divided by 13 and rounded. 5042 / 2^16 divides so small sums alike.
constexpr uint8_t Sharpened(uint8_t level, int32_t nine, float factor) {
  const auto smooth = static_cast<uint8_t>((nine + 4 * level + 6) * 5042 >> 16);
  return BlendLevels(smooth, level, factor);
}

// These round the sums of a blur's two passes. A sum is that of weight · (pixel on one side + pixel on the other). The
// first pass, down the columns, keeps 6 fraction bits; the second, across, ends in levels.
constexpr int32_t BlurredDown(int32_t sum) { return (sum + (1 << 8)) >> 9; }
constexpr uint8_t BlurredAcross(int32_t sum) { return static_cast<uint8_t>((sum + (1 << 20)) >> 21); }

// Computes one block of Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011). Draws
// makes the same blocks.
constexpr std::array<uint32_t, 4> PhiloxBlock(uint64_t key, uint64_t position, uint64_t block) {
  uint32_t c0 = static_cast<uint32_t>(position), c1 = static_cast<uint32_t>(position >> 32);
  uint32_t c2 = static_cast<uint32_t>(block), c3 = static_cast<uint32_t>(block >> 32);
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * c0, second = uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<uint32_t>(second >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(second);
    c2 = static_cast<uint32_t>(first >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(first);
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
  return {c0, c1, c2, c3};
}

// Returns the 16 random bits of number `i`: a pixel for masks, a value for noise, counted row by row. Eight numbers
// share a block of four words; number i is in block i / 8:
//
//   word 0         word 1         word 2         word 3
//   [15:0] [31:16] [15:0] [31:16] [15:0] [31:16] [15:0] [31:16]
//   i%8=0  1       2      3       4      5       6      7
constexpr uint32_t RandomBits(const std::array<uint32_t, 4>& block, int64_t i) {
  return block[i / 2 % 4] >> (i % 2 * 16) & 0xffff;
}

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_PIXEL_ARITHMETIC_H_
