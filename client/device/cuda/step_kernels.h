#ifndef STOKER_CLIENT_DEVICE_CUDA_STEP_KERNELS_H_
#define STOKER_CLIENT_DEVICE_CUDA_STEP_KERNELS_H_

#include <cstdint>

#include "client/device/cuda/dense_kernel.h"
#include "client/device/cuda/kernel_arguments.h"
#include "client/device/cuda/kernel_code.h"
#include "client/device/pixel_arithmetic.h"
#include "client/device/resample_arithmetic.h"

namespace stoker {

// The kernels of device_program.h's steps. One thread makes one pixel, unless a kernel says otherwise. `Arithmetic` has
// `static void Add(uint64_t* sum, uint64_t more)` and `static void Count(uint32_t* counter)`, which adds 1; many
// threads may call them at once.

template <typename Arguments>
struct StepKernel {
  static constexpr uint32_t kThreads = 256;
  static constexpr int kPhases = 1;
  struct Shared {};

  static Grid GridOf(const Arguments& a) {
    const uint32_t pixels = static_cast<uint32_t>(a.images.height) * static_cast<uint32_t>(a.images.width);
    return {(pixels + kThreads - 1) / kThreads, static_cast<uint32_t>(a.images.samples), kThreads};
  }

 protected:
  // A thread's pixel.
  struct Pixel {
    bool inside = false;         // false for threads beyond the image's end
    int32_t x = 0, y = 0;        // column and row
    uint32_t index = 0, at = 0;  // numbers of the pixel, row by row, and of its first value in its image
  };
  STOKER_KERNEL_CODE static Pixel PixelOf(const ImagesArguments& images, Place place) {
    const auto width = static_cast<uint32_t>(images.width), height = static_cast<uint32_t>(images.height);
    const uint32_t index = place.block_x * kThreads + place.thread, y = index / width;
    return {index < width * height, static_cast<int32_t>(index - y * width), static_cast<int32_t>(y), index,
            index * static_cast<uint32_t>(images.channels)};
  }
  STOKER_KERNEL_CODE static int64_t InValues(const ImagesArguments& images) {
    return int64_t{images.in_height} * images.in_width * images.channels;
  }
  STOKER_KERNEL_CODE static int64_t OutValues(const ImagesArguments& images) {
    return int64_t{images.height} * images.width * images.channels;
  }
};

struct GatherKernel : StepKernel<GatherArguments> {
  STOKER_KERNEL_CODE static void Run(int, const GatherArguments& a, Place place, Shared&) {
    const Pixel pixel = PixelOf(a.images, place);
    if (!pixel.inside) return;
    const GatherDraw& gather = a.draws[place.block_y];
    const uint8_t* in = a.images.in + place.block_y * InValues(a.images);
    uint8_t* out = a.images.out + place.block_y * OutValues(a.images) + pixel.at;
    const GatherTaps taps = GatherAt(gather, pixel.x, pixel.y);
    const int64_t row = int64_t{a.images.in_width} * a.images.channels, channels = a.images.channels;
    const uint8_t* upper = in + taps.down.first * row;
    const uint8_t* lower = in + taps.down.second * row;
    const int64_t left = taps.across.first * channels, right = taps.across.second * channels;
    for (int64_t c = 0; c < channels; ++c)
      out[c] = !taps.shown()     ? ChannelOf(gather.fill, c)
               : gather.bilinear ? Bilinear(upper[left + c], upper[right + c], lower[left + c], lower[right + c],
                                            taps.across.share, taps.down.share)
                                 : upper[left + c];
  }
};

template <typename Arithmetic>
struct GraySumKernel : StepKernel<GraySumArguments> {
  STOKER_KERNEL_CODE static void Run(int, const GraySumArguments& a, Place place, Shared&) {
    const Pixel pixel = PixelOf(a.images, place);
    if (!pixel.inside) return;
    const ColorsDraw& colors = a.draws[place.block_y];
    int contrast = 0;
    while (contrast < colors.count && colors.changes[contrast].kind != ColorChange::Kind::kContrast) ++contrast;
    if (contrast == colors.count) return;
    const uint8_t* in = a.images.in + place.block_y * InValues(a.images) + pixel.at;
    Rgb rgb = {in[0], in[1], in[2]};
    for (int i = 0; i < contrast; ++i) rgb = Changed(colors.changes[i], {}, rgb);
    Arithmetic::Add(a.sums + place.block_y, Luma(rgb));
  }
};

// One block makes a sample's table. Its threads count levels in several copies, so that a plain image, whose pixels
// have few levels, does not make them wait for one another.
template <typename Arithmetic>
struct LevelTableKernel : StepKernel<LevelTableArguments> {
  static constexpr uint32_t kThreads = 1024, kCopies = 8;
  static constexpr int kPhases = 4;
  struct Shared {
    uint32_t counts[kCopies][kTableLevels + 1];  // One more, so that copies begin in different banks.
  };

  static Grid GridOf(const LevelTableArguments& a) { return {1, static_cast<uint32_t>(a.images.samples), kThreads}; }

  STOKER_KERNEL_CODE static void Run(int phase, const LevelTableArguments& a, Place place, Shared& shared) {
    const ColorsDraw& colors = a.draws[place.block_y];
    int change = 0;
    while (change < colors.count && !TakesHistogram(colors.changes[change].kind)) ++change;
    if (change == colors.count) return;
    const uint32_t level = place.thread;  // of one of the three channels
    if (phase == 1) return Count(a, colors, change, place, shared.counts[place.thread % kCopies]);
    if (level >= kTableLevels) return;
    if (phase == 0) {
      for (uint32_t copy = 0; copy < kCopies; ++copy) shared.counts[copy][level] = 0;
    } else if (phase == 2) {
      for (uint32_t copy = 1; copy < kCopies; ++copy) shared.counts[0][level] += shared.counts[copy][level];
    } else {
      a.tables[int64_t{place.block_y} * kTableLevels + level] =
          LevelOf(colors.changes[change].kind, int64_t{a.images.height} * a.images.width,
                  shared.counts[0] + level / 256 * 256, static_cast<int>(level % 256));
    }
  }

 private:
  // Counts the levels of every 1024th pixel, as they are before the change.
  STOKER_KERNEL_CODE static void Count(const LevelTableArguments& a, const ColorsDraw& colors, int change, Place place,
                                       uint32_t* counts) {
    const uint8_t* in = a.images.in + place.block_y * InValues(a.images);
    const uint32_t pixels = static_cast<uint32_t>(a.images.height) * static_cast<uint32_t>(a.images.width);
    for (uint32_t pixel = place.thread; pixel < pixels; pixel += kThreads) {
      const uint8_t* at = in + int64_t{pixel} * 3;
      Rgb rgb = {at[0], at[1], at[2]};
      for (int i = 0; i < change; ++i) rgb = Changed(colors.changes[i], {}, rgb);
      Arithmetic::Count(counts + rgb.red);
      Arithmetic::Count(counts + 256 + rgb.green);
      Arithmetic::Count(counts + 512 + rgb.blue);
    }
  }

  STOKER_KERNEL_CODE static uint8_t LevelOf(ColorChange::Kind kind, int64_t pixels, LevelCounts counts, int level) {
    if (kind == ColorChange::Kind::kAutocontrast) return Stretched(level, RangeOf(counts));
    int64_t below = 0;
    for (int lower = 0; lower < level; ++lower) below += counts[lower];
    return Equalized(level, below, EqualShare(counts, pixels));
  }
};

struct ColorKernel : StepKernel<ColorArguments> {
  STOKER_KERNEL_CODE static void Run(int, const ColorArguments& a, Place place, Shared&) {
    const Pixel pixel = PixelOf(a.images, place);
    if (!pixel.inside) return;
    const ColorsDraw& colors = a.draws[place.block_y];
    const uint8_t* in = a.images.in + place.block_y * InValues(a.images) + pixel.at;
    uint8_t* out = a.images.out + place.block_y * OutValues(a.images) + pixel.at;
    const int64_t pixels = int64_t{a.images.height} * a.images.width;
    const uint8_t gray = a.gray_sums == nullptr ? uint8_t{0} : MeanGray(a.gray_sums[place.block_y], pixels);
    const ImageFigures figures = {gray,
                                  a.tables == nullptr ? nullptr : a.tables + int64_t{place.block_y} * kTableLevels};
    Rgb rgb = {in[0], in[1], in[2]};
    for (int i = 0; i < colors.count; ++i) rgb = Changed(colors.changes[i], figures, rgb);
    out[0] = rgb.red, out[1] = rgb.green, out[2] = rgb.blue;
  }
};

struct SharpenKernel : StepKernel<SharpenArguments> {
  STOKER_KERNEL_CODE static void Run(int, const SharpenArguments& a, Place place, Shared&) {
    const Pixel pixel = PixelOf(a.images, place);
    if (!pixel.inside) return;
    const float factor = a.draws[place.block_y].factor;
    const int64_t channels = a.images.channels, row = a.images.width * channels;
    const uint8_t* in = a.images.in + place.block_y * InValues(a.images) + pixel.at;
    uint8_t* out = a.images.out + place.block_y * OutValues(a.images) + pixel.at;
    const bool smooths =
        factor != 1 && pixel.x > 0 && pixel.y > 0 && pixel.x < a.images.width - 1 && pixel.y < a.images.height - 1;
    for (int64_t c = 0; c < channels; ++c) {
      int32_t nine = 0;
      for (int y = -1; smooths && y <= 1; ++y) {
        const uint8_t* at = in + y * row + c;
        nine += at[-channels] + at[0] + at[channels];
      }
      out[c] = smooths ? Sharpened(in[c], nine, factor) : in[c];
    }
  }
};

// What the kernels of kResample have in common.
struct ResampleKernel {
  static constexpr uint32_t kThreads = 256;
  static constexpr int kPhases = 1;
  struct Shared {};

 protected:
  static Grid GridOf(const ResampleArguments& a, int64_t threads) {
    return {static_cast<uint32_t>((threads + kThreads - 1) / kThreads), static_cast<uint32_t>(a.images.samples),
            kThreads};
  }

  // Returns where the first tap of an output column or row is stored, before its weights.
  STOKER_KERNEL_CODE static int32_t* TapsOf(const ResampleArguments& a, int64_t sample, bool down, int64_t output) {
    const int64_t across_values = a.images.width * (int64_t{a.most_across} + 1);
    const int64_t down_values = a.images.height * (int64_t{a.most_down} + 1);
    int32_t* const first = a.weights + sample * (across_values + down_values);
    return down ? first + across_values + output * (int64_t{a.most_down} + 1)
                : first + output * (int64_t{a.most_across} + 1);
  }
};

// One thread writes the weights of one output column or row.
struct ResampleWeightsKernel : ResampleKernel {
  static Grid GridOf(const ResampleWeightsArguments& a) {
    return ResampleKernel::GridOf(a.all, int64_t{a.all.images.width} + a.all.images.height);
  }

  STOKER_KERNEL_CODE static void Run(int, const ResampleWeightsArguments& arguments, Place place, Shared&) {
    const ResampleArguments& a = arguments.all;
    const auto i = static_cast<int32_t>(place.block_x * kThreads + place.thread);
    if (i >= a.images.width + a.images.height) return;
    const ResampledBox& box = a.boxes[place.block_y];
    const bool down = i >= a.images.width;
    const int32_t output = down ? i - a.images.width : i;
    const ResampledAxis axis =
        down ? ResampledAxis{box.height, a.images.height} : ResampledAxis{box.width, a.images.width};
    int32_t* const taps = TapsOf(a, place.block_y, down, output);
    *taps = WriteWeights(a.resampling, box.blended, axis, output, taps + 1);
  }
};

// One thread makes one pixel of the first pass.
struct ResampleFirstKernel : ResampleKernel {
  static Grid GridOf(const ResampleFirstArguments& a) {
    const ImagesArguments& images = a.all.images;
    const int64_t blended = int64_t{images.height} * images.in_width;
    const int64_t convolved = int64_t{images.in_height} * images.width;
    return ResampleKernel::GridOf(a.all, blended > convolved ? blended : convolved);
  }

  STOKER_KERNEL_CODE static void Run(int, const ResampleFirstArguments& arguments, Place place, Shared&) {
    const ResampleArguments& a = arguments.all;
    const ResampledBox& box = a.boxes[place.block_y];
    const int64_t pixel = int64_t{place.block_x} * kThreads + place.thread;
    const int32_t width = box.blended ? box.width : a.images.width;
    const int32_t height = box.blended ? a.images.height : box.height;
    if (pixel >= int64_t{height} * width) return;
    const auto y = static_cast<int32_t>(pixel / width), x = static_cast<int32_t>(pixel - int64_t{y} * width);
    const int64_t channels = a.images.channels, row = a.images.in_width * channels;
    const uint8_t* in = a.images.in + place.block_y * row * a.images.in_height + box.top * row + box.left * channels;
    uint8_t* between = a.between + place.block_y * a.between_bytes;
    const int32_t* taps = TapsOf(a, place.block_y, box.blended, box.blended ? y : x);
    if (box.blended) {
      auto* out = reinterpret_cast<uint16_t*>(between) + pixel * channels;
      Blend(taps, box.taps_down, in + taps[0] * row + x * channels, row, channels, out);
    } else {
      Convolve(taps, box.taps_across, in + y * row + taps[0] * channels, channels, between + pixel * channels);
    }
  }

 private:
  STOKER_KERNEL_CODE static void Blend(const int32_t* taps, int32_t count, const uint8_t* in, int64_t row,
                                       int64_t channels, uint16_t* out) {
    for (int64_t c = 0; c < channels; ++c) {
      uint32_t sum = FirstBlendStart(count);
      for (int32_t tap = 0; tap < count; ++tap) sum += Blended(uint32_t{in[tap * row + c]} << 8, taps[1 + tap]);
      out[c] = static_cast<uint16_t>(sum);
    }
  }

  STOKER_KERNEL_CODE static void Convolve(const int32_t* taps, int32_t count, const uint8_t* in, int64_t channels,
                                          uint8_t* out) {
    for (int64_t c = 0; c < channels; ++c) {
      int32_t sum = kConvolutionStart;
      for (int32_t tap = 0; tap < count; ++tap) sum += taps[1 + tap] * in[tap * channels + c];
      out[c] = ConvolvedLevel(sum);
    }
  }
};

struct ResampleSecondKernel : ResampleKernel {
  static Grid GridOf(const ResampleSecondArguments& a) {
    return ResampleKernel::GridOf(a.all, int64_t{a.all.images.height} * a.all.images.width);
  }

  STOKER_KERNEL_CODE static void Run(int, const ResampleSecondArguments& arguments, Place place, Shared&) {
    const ResampleArguments& a = arguments.all;
    const ResampledBox& box = a.boxes[place.block_y];
    const int64_t pixel = int64_t{place.block_x} * kThreads + place.thread;
    const int32_t width = a.images.width, height = a.images.height;
    if (pixel >= int64_t{height} * width) return;
    const auto y = static_cast<int32_t>(pixel / width), x = static_cast<int32_t>(pixel - int64_t{y} * width);
    const int64_t channels = a.images.channels;
    const uint8_t* between = a.between + place.block_y * a.between_bytes;
    uint8_t* out = a.images.out + (int64_t{place.block_y} * height * width + pixel) * channels;
    const int32_t* taps = TapsOf(a, place.block_y, !box.blended, box.blended ? x : y);
    if (box.blended) {
      const auto* in = reinterpret_cast<const uint16_t*>(between) + (int64_t{y} * box.width + taps[0]) * channels;
      Blend(taps, box.taps_across, in, channels, out);
    } else {
      const int64_t row = width * channels;
      Convolve(taps, box.taps_down, between + taps[0] * row + x * channels, row, channels, out);
    }
  }

 private:
  STOKER_KERNEL_CODE static void Blend(const int32_t* taps, int32_t count, const uint16_t* in, int64_t channels,
                                       uint8_t* out) {
    for (int64_t c = 0; c < channels; ++c) {
      uint32_t sum = SecondBlendStart(count);
      for (int32_t tap = 0; tap < count; ++tap) sum += Blended(in[tap * channels + c], taps[1 + tap]);
      out[c] = static_cast<uint8_t>(sum >> 8);
    }
  }

  STOKER_KERNEL_CODE static void Convolve(const int32_t* taps, int32_t count, const uint8_t* in, int64_t row,
                                          int64_t channels, uint8_t* out) {
    for (int64_t c = 0; c < channels; ++c) {
      int32_t sum = kConvolutionStart;
      for (int32_t tap = 0; tap < count; ++tap) sum += taps[1 + tap] * in[tap * row + c];
      out[c] = ConvolvedLevel(sum);
    }
  }
};

struct BlurDownKernel : StepKernel<BlurDownArguments> {
  STOKER_KERNEL_CODE static void Run(int, const BlurDownArguments& a, Place place, Shared&) {
    const Pixel pixel = PixelOf(a.images, place);
    if (!pixel.inside) return;
    const int32_t* weights = a.weights + int64_t{place.block_y} * a.taps;
    const int64_t row = int64_t{a.images.width} * a.images.channels;
    const uint8_t* in = a.images.in + place.block_y * InValues(a.images) + pixel.x * a.images.channels;
    uint16_t* out = a.out + place.block_y * OutValues(a.images) + pixel.at;
    for (int c = 0; c < a.images.channels; ++c) {
      int32_t sum = 0;
      for (int i = 0; i < a.taps; ++i)
        sum += weights[i] * (in[Reflected(pixel.y - i, a.images.height) * row + c] +
                             in[Reflected(pixel.y + i, a.images.height) * row + c]);
      out[c] = static_cast<uint16_t>(BlurredDown(sum));
    }
  }
};

struct BlurAcrossKernel : StepKernel<BlurAcrossArguments> {
  STOKER_KERNEL_CODE static void Run(int, const BlurAcrossArguments& a, Place place, Shared&) {
    const Pixel pixel = PixelOf(a.images, place);
    if (!pixel.inside) return;
    const int32_t* weights = a.weights + int64_t{place.block_y} * a.taps;
    const int64_t channels = a.images.channels, row = a.images.width * channels;
    const uint16_t* in = a.in + place.block_y * OutValues(a.images) + pixel.y * row;
    uint8_t* out = a.images.out + place.block_y * OutValues(a.images) + pixel.at;
    for (int64_t c = 0; c < channels; ++c) {
      int32_t sum = 0;
      for (int i = 0; i < a.taps; ++i)
        sum += weights[i] * (in[Reflected(pixel.x - i, a.images.width) * channels + c] +
                             in[Reflected(pixel.x + i, a.images.width) * channels + c]);
      out[c] = BlurredAcross(sum);
    }
  }
};

struct MaskKernel : StepKernel<MaskArguments> {
  STOKER_KERNEL_CODE static bool IsDrawn(const ImagesArguments& images, const MaskDraw& mask, int64_t x, int64_t y) {
    if (x < 0 || y < 0 || x >= images.width || y >= images.height) return false;
    const int64_t i = y * images.width + x;
    return RandomBits(PhiloxBlock(mask.key, mask.position, static_cast<uint64_t>(i / 8)), i) < mask.limit;
  }

  STOKER_KERNEL_CODE static void Run(int, const MaskArguments& a, Place place, Shared&) {
    const Pixel pixel = PixelOf(a.images, place);
    if (!pixel.inside) return;
    const MaskDraw& mask = a.draws[place.block_y];
    const int64_t x = pixel.x, y = pixel.y;
    bool black = mask.limit > 0 && IsDrawn(a.images, mask, x, y);
    if (mask.limit > 0 && mask.dilate)
      black = black || IsDrawn(a.images, mask, x - 1, y) || IsDrawn(a.images, mask, x + 1, y) ||
              IsDrawn(a.images, mask, x, y - 1) || IsDrawn(a.images, mask, x, y + 1);
    const uint8_t* in = a.images.in + place.block_y * InValues(a.images) + pixel.at;
    uint8_t* out = a.images.out + place.block_y * OutValues(a.images) + pixel.at;
    for (int c = 0; c < a.images.channels; ++c) out[c] = black ? uint8_t{0} : in[c];
  }
};

struct EraseKernel : StepKernel<EraseArguments> {
  STOKER_KERNEL_CODE static void Run(int, const EraseArguments& a, Place place, Shared&) {
    const Pixel pixel = PixelOf(a.images, place);
    if (!pixel.inside) return;
    const EraseDraw& erase = a.draws[place.block_y];
    const bool erased = pixel.y >= erase.top && pixel.y < erase.top + erase.size.height && pixel.x >= erase.left &&
                        pixel.x < erase.left + erase.size.width;
    const uint8_t* in = a.images.in + place.block_y * InValues(a.images) + pixel.at;
    uint8_t* out = a.images.out + place.block_y * OutValues(a.images) + pixel.at;
    for (int c = 0; c < a.images.channels; ++c) out[c] = erased ? ChannelOf(erase.value, c) : in[c];
  }
};

struct OneHotKernel {
  static constexpr uint32_t kThreads = 256;
  static constexpr int kPhases = 1;
  struct Shared {};

  static Grid GridOf(const OneHotArguments& a) {
    const uint32_t elements = static_cast<uint32_t>(a.numbers) * static_cast<uint32_t>(a.classes);
    return {(elements + kThreads - 1) / kThreads, static_cast<uint32_t>(a.samples), kThreads};
  }

  STOKER_KERNEL_CODE static uint64_t Number(const OneHotArguments& a, int64_t sample, uint32_t i) {
    const uint8_t* bytes = a.in + (sample * a.numbers + i) * a.in_bytes;
    uint64_t number = 0;
    for (int b = 0; b < a.in_bytes; ++b) number |= uint64_t{bytes[b]} << 8 * b;
    return number;
  }

  STOKER_KERNEL_CODE static void Run(int, const OneHotArguments& a, Place place, Shared&) {
    const uint32_t element = place.block_x * kThreads + place.thread, i = element / a.classes,
                   its_class = element - i * a.classes;
    if (i >= static_cast<uint32_t>(a.numbers)) return;
    const int64_t sample = place.block_y;
    int kind = Number(a, sample, i) == its_class ? 1 : 0;
    if (a.mixed && Number(a, (sample == 0 ? a.samples : sample) - 1, i) == its_class) kind += 2;
    uint8_t* out = a.out + ((sample * a.numbers + i) * a.classes + its_class) * a.out_bytes;
    const uint64_t value = a.each == nullptr ? a.elements[kind] : a.each[4 * sample + kind];
    for (int b = 0; b < a.out_bytes; ++b) out[b] = static_cast<uint8_t>(value >> 8 * b);
  }
};

struct UnpackKernel {
  static constexpr uint32_t kThreads = 256;
  static constexpr int kPhases = 1;
  struct Shared {};

  static Grid GridOf(const UnpackArguments& a) {
    return {(static_cast<uint32_t>(a.bits) + kThreads - 1) / kThreads, static_cast<uint32_t>(a.samples), kThreads};
  }

  STOKER_KERNEL_CODE static void Run(int, const UnpackArguments& a, Place place, Shared&) {
    const uint32_t bit = place.block_x * kThreads + place.thread, bits = static_cast<uint32_t>(a.bits);
    if (bit >= bits) return;
    const int64_t sample = place.block_y;
    const uint32_t byte = a.in[sample * ((bits + 7) / 8) + bit / 8];
    const uint32_t shift = a.least_significant_first ? bit % 8 : 7 - bit % 8;
    a.out[sample * bits + bit] = byte >> shift & 1;
  }
};

struct WidenKernel {
  static constexpr uint32_t kThreads = 256;
  static constexpr int kPhases = 1;
  struct Shared {};

  static Grid GridOf(const WidenArguments& a) {
    return {(static_cast<uint32_t>(a.numbers) + kThreads - 1) / kThreads, static_cast<uint32_t>(a.samples), kThreads};
  }

  STOKER_KERNEL_CODE static void Run(int, const WidenArguments& a, Place place, Shared&) {
    const uint32_t i = place.block_x * kThreads + place.thread;
    if (i >= static_cast<uint32_t>(a.numbers)) return;
    const int64_t at = static_cast<int64_t>(place.block_y) * a.numbers + i;
    const uint8_t* const in = a.in + at * a.in_bytes;
    if (a.in_bytes == 1) a.out[at] = *in;
    if (a.in_bytes == 2) a.out[at] = static_cast<int16_t>(in[0] | in[1] << 8);
  }
};

struct ScaleKernel {
  static constexpr uint32_t kThreads = 256;
  static constexpr int kPhases = 1;
  struct Shared {};

  static Grid GridOf(const ScaleArguments& a) {
    return {(static_cast<uint32_t>(a.numbers) + kThreads - 1) / kThreads, static_cast<uint32_t>(a.samples), kThreads};
  }

  STOKER_KERNEL_CODE static void Run(int, const ScaleArguments& a, Place place, Shared&) {
    const uint32_t i = place.block_x * kThreads + place.thread;
    if (i >= static_cast<uint32_t>(a.numbers)) return;
    const int64_t at = static_cast<int64_t>(place.block_y) * a.numbers + i;
    StoreFloat(a.to, Scaled(a, at, i), a.out + at * ByteSize(a.to));
  }

  // Returns what becomes of the number at `at`, which takes the scale of number `i`.
  STOKER_KERNEL_CODE static float Scaled(const ScaleArguments& a, int64_t at, uint32_t i) {
    float x = LoadNumber(a.from, a.in + at * ByteSize(a.from));
    if (a.period > 0) {
      const uint32_t of = i % static_cast<uint32_t>(a.period);
      x = x * a.scale[of];
      x = x + a.bias[of];
    }
    return x;
  }
};

struct MixNumbersKernel {
  static constexpr uint32_t kThreads = ScaleKernel::kThreads;
  static constexpr int kPhases = 1;
  struct Shared {};

  static Grid GridOf(const MixNumbersArguments& a) { return ScaleKernel::GridOf(a.scale); }

  STOKER_KERNEL_CODE static void Run(int, const MixNumbersArguments& a, Place place, Shared&) {
    const uint32_t i = place.block_x * kThreads + place.thread;
    if (i >= static_cast<uint32_t>(a.scale.numbers)) return;
    const int64_t sample = place.block_y, other = (sample == 0 ? a.scale.samples : sample) - 1;
    const int64_t at = sample * a.scale.numbers + i;
    const float of_other = ScaleKernel::Scaled(a.scale, other * a.scale.numbers + i, i) * a.shares[2 * sample + 1];
    const float of_own = ScaleKernel::Scaled(a.scale, at, i) * a.shares[2 * sample];
    float x = of_other + of_own;
    x = x * a.scale_after;
    x = x + a.bias_after;
    StoreFloat(a.scale.to, x, a.scale.out + at * ByteSize(a.scale.to));
  }
};

struct PadKernel {
  static constexpr uint32_t kThreads = 256;
  static constexpr int kPhases = 1;
  struct Shared {};

  static Grid GridOf(const PadArguments& a) {
    const uint32_t numbers = static_cast<uint32_t>(a.rows) * static_cast<uint32_t>(a.scale.numbers);
    return {(numbers + kThreads - 1) / kThreads, static_cast<uint32_t>(a.scale.samples), kThreads};
  }

  STOKER_KERNEL_CODE static void Run(int, const PadArguments& a, Place place, Shared&) {
    const uint32_t i = place.block_x * kThreads + place.thread, of_row = static_cast<uint32_t>(a.scale.numbers);
    const uint32_t row = i / of_row;
    if (row >= static_cast<uint32_t>(a.rows)) return;
    const int64_t sample = place.block_y;
    uint8_t* out = a.scale.out + (sample * a.rows * of_row + i) * a.element_bytes;
    if (row >= a.offsets[sample + 1] - a.offsets[sample]) {
      for (int b = 0; b < a.element_bytes; ++b) out[b] = static_cast<uint8_t>(a.fill >> 8 * b);
      return;
    }
    const int64_t at = a.offsets[sample] * of_row + i;
    if (a.scales) {
      StoreFloat(a.scale.to, ScaleKernel::Scaled(a.scale, at, i), out);
    } else {
      for (int b = 0; b < a.element_bytes; ++b) out[b] = a.scale.in[at * a.element_bytes + b];
    }
  }
};

// Each calls `launch.template operator()<Kernel>(arguments)` with the kernel that belongs to the arguments.
template <typename Arithmetic, typename Launch>
auto Dispatch(const GatherArguments& arguments, Launch launch) {
  return launch.template operator()<GatherKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const GraySumArguments& arguments, Launch launch) {
  return launch.template operator()<GraySumKernel<Arithmetic>>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const ColorArguments& arguments, Launch launch) {
  return launch.template operator()<ColorKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const LevelTableArguments& arguments, Launch launch) {
  return launch.template operator()<LevelTableKernel<Arithmetic>>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const SharpenArguments& arguments, Launch launch) {
  return launch.template operator()<SharpenKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const ResampleWeightsArguments& arguments, Launch launch) {
  return launch.template operator()<ResampleWeightsKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const ResampleFirstArguments& arguments, Launch launch) {
  return launch.template operator()<ResampleFirstKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const ResampleSecondArguments& arguments, Launch launch) {
  return launch.template operator()<ResampleSecondKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const BlurDownArguments& arguments, Launch launch) {
  return launch.template operator()<BlurDownKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const BlurAcrossArguments& arguments, Launch launch) {
  return launch.template operator()<BlurAcrossKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const MaskArguments& arguments, Launch launch) {
  return launch.template operator()<MaskKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const EraseArguments& arguments, Launch launch) {
  return launch.template operator()<EraseKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const OneHotArguments& arguments, Launch launch) {
  return launch.template operator()<OneHotKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const UnpackArguments& arguments, Launch launch) {
  return launch.template operator()<UnpackKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const WidenArguments& arguments, Launch launch) {
  return launch.template operator()<WidenKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const ScaleArguments& arguments, Launch launch) {
  return launch.template operator()<ScaleKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const MixNumbersArguments& arguments, Launch launch) {
  return launch.template operator()<MixNumbersKernel>(arguments);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const PadArguments& arguments, Launch launch) {
  return launch.template operator()<PadKernel>(arguments);
}

template <typename Arithmetic, typename Launch>
auto Dispatch(const DenseArguments& arguments, Launch launch) {
  return launch.template operator()<DenseKernel>(arguments);
}

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_STEP_KERNELS_H_
