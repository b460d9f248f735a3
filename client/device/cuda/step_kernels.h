#ifndef STOKER_CLIENT_DEVICE_CUDA_STEP_KERNELS_H_
#define STOKER_CLIENT_DEVICE_CUDA_STEP_KERNELS_H_

#include <cstdint>

#include "client/device/cuda/dense_kernel.h"
#include "client/device/cuda/kernel_arguments.h"
#include "client/device/cuda/kernel_code.h"
#include "client/device/pixel_arithmetic.h"

namespace stoker {

// The kernels of device_program.h's steps. One thread makes one pixel. `Arithmetic` has `static void Add(uint64_t* sum,
// uint64_t more)`, which many threads may call at once.

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
    for (int i = 0; i < contrast; ++i) rgb = Changed(colors.changes[i], 0, rgb);
    Arithmetic::Add(a.sums + place.block_y, Luma(rgb));
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
    Rgb rgb = {in[0], in[1], in[2]};
    for (int i = 0; i < colors.count; ++i) rgb = Changed(colors.changes[i], gray, rgb);
    out[0] = rgb.red, out[1] = rgb.green, out[2] = rgb.blue;
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
    return MaskBits(PhiloxBlock(mask.key, mask.position, static_cast<uint64_t>(i / 8)), i) < mask.limit;
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
