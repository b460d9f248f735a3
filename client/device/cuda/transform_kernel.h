#ifndef STOKER_CLIENT_DEVICE_CUDA_TRANSFORM_KERNEL_H_
#define STOKER_CLIENT_DEVICE_CUDA_TRANSFORM_KERNEL_H_

#include <cstdint>
#include <type_traits>

#include "client/device/cuda/kernel_arguments.h"
#include "client/device/cuda/kernel_code.h"
#include "client/device/pixel_arithmetic.h"

namespace stoker {

// The kernels of TransformArguments and MixArguments. A block of threads makes a part of one sample; the threads of a
// block wait for each other between phases. `Out` is uint8_t, Half, Bfloat16 or float. `Arithmetic` has these
// functions:
//
//   Affine(x, scale, bias)             x · scale + bias
//   Mix(a, share, b, other_share)      a · share + b · other_share
//   Round<Out>(x)                      the Out nearest to x
//   Map<Out>(x, scale, bias)           Round<Out>(Affine(x, scale, bias)); x itself for uint8_t

// Handles images of any shape. One thread makes one pixel.
template <typename Arithmetic, typename Out, bool kChannelsFirst>
struct PixelKernel {
  static constexpr uint32_t kThreads = 256;
  struct Shared {};
  static constexpr int kPhases = 1;

  static Grid GridOf(const TransformArguments& arguments) {
    const auto pixels = static_cast<uint32_t>(arguments.height) * arguments.width;
    return {(pixels + kThreads - 1) / kThreads, static_cast<uint32_t>(arguments.samples), kThreads};
  }

  STOKER_KERNEL_CODE static void Run(int, const TransformArguments& a, Place place, Shared&) {
    const auto width = static_cast<uint32_t>(a.width), height = static_cast<uint32_t>(a.height);
    const auto channels = static_cast<uint32_t>(a.channels);
    const uint32_t pixels = width * height, pixel = place.block_x * kThreads + place.thread;
    if (pixel >= pixels) return;
    const int64_t sample = place.block_y;
    const uint32_t flips = a.flips == nullptr ? 0 : a.flips[sample];
    uint32_t y = pixel / width, x = pixel - y * width;
    if (flips & kFlipHorizontal) x = width - 1 - x;
    if (flips & kFlipVertical) y = height - 1 - y;
    const uint8_t* in = a.in + (sample * pixels + y * width + x) * channels;
    Out* out = static_cast<Out*>(a.out) + sample * pixels * channels;
    for (uint32_t c = 0; c < channels; ++c)
      out[kChannelsFirst ? c * pixels + pixel : pixel * channels + c] =
          Arithmetic::template Map<Out>(in[c], a.scale[c], a.bias[c]);
  }
};

// Handles images of three channels whose width is a multiple of four pixels and whose bytes are a multiple of 16. A
// block loads a tile of the input in vectors of 16 bytes. Then each thread takes four pixels, three words, from shared
// memory, without bank conflicts. So memory is read and written in whole vectors, in order:
//
//   word 0         word 1         word 2          (low byte first)
//   r0 g0 b0 r1    g1 b1 r2 g2    b2 r3 g3 b3
template <typename Arithmetic, typename Out, bool kChannelsFirst>
struct TileKernel {
  static constexpr uint32_t kThreads = 256, kTilePixels = 4 * kThreads, kTileWords = kTilePixels * 3 / 4;
  struct Shared {
    Four<uint32_t> tile[kTileWords / 4];
    STOKER_KERNEL_CODE uint32_t& word(uint32_t i) { return tile[i / 4].values[i % 4]; }
  };
  static constexpr int kPhases = kChannelsFirst ? 2 : 3;

  static bool Fits(const TransformArguments& a) {
    const int64_t pixels = int64_t{a.height} * a.width;
    return a.channels == 3 && a.width % 4 == 0 && pixels % 16 == 0 && reinterpret_cast<uintptr_t>(a.in) % 16 == 0 &&
           reinterpret_cast<uintptr_t>(a.out) % 16 == 0;
  }

  static Grid GridOf(const TransformArguments& a) {
    const auto pixels = static_cast<uint32_t>(a.height) * a.width;
    return {(pixels + kTilePixels - 1) / kTilePixels, static_cast<uint32_t>(a.samples), kThreads};
  }

  STOKER_KERNEL_CODE static void Run(int phase, const TransformArguments& a, Place place, Shared& shared) {
    const auto pixels = static_cast<uint32_t>(a.height) * static_cast<uint32_t>(a.width);
    const uint32_t first = place.block_x * kTilePixels;
    const int64_t sample = place.block_y;
    const uint32_t flips = a.flips == nullptr ? 0 : a.flips[sample];
    if (phase == 0) {
      Load(a.in + (sample * pixels + first) * 3, Least(pixels - first, kTilePixels), place.thread, shared);
    } else if (kChannelsFirst && phase == 1) {
      const uint32_t pixel = first + 4 * place.thread;
      if (pixel < pixels) StorePlanes(a, flips, sample, pixel, place.thread, shared);
    } else if (!kChannelsFirst && phase == 1) {
      if (flips & kFlipHorizontal) MirrorFour(place.thread, shared);
    } else if (!kChannelsFirst) {
      for (uint32_t word = place.thread; word < kTileWords; word += kThreads) {
        const uint32_t pixel = first + word / 3 * 4;
        if (pixel < pixels) StoreInterleaved(a, flips, sample, pixel, word, shared);
      }
    }
  }

 private:
  STOKER_KERNEL_CODE static uint32_t Least(uint32_t a, uint32_t b) { return a < b ? a : b; }

  STOKER_KERNEL_CODE static uint32_t Byte(uint32_t word, uint32_t i) { return word >> 8 * i & 255; }

  STOKER_KERNEL_CODE static void Load(const uint8_t* in, uint32_t pixels, uint32_t thread, Shared& shared) {
    const auto* words = reinterpret_cast<const Four<uint32_t>*>(in);
    for (uint32_t i = thread; i < pixels * 3 / 16; i += kThreads) shared.tile[i] = words[i];
  }

  // Returns where the group of four pixels that begins at `pixel` begins in the flipped image. If the flip is
  // horizontal, the four also change their order.
  STOKER_KERNEL_CODE static uint32_t Target(const TransformArguments& a, uint32_t flips, uint32_t pixel) {
    const auto width = static_cast<uint32_t>(a.width), height = static_cast<uint32_t>(a.height);
    uint32_t y = pixel / width, x = pixel - y * width;
    if (flips & kFlipHorizontal) x = width - 4 - x;
    if (flips & kFlipVertical) y = height - 1 - y;
    return y * width + x;
  }

  STOKER_KERNEL_CODE static void StorePlanes(const TransformArguments& a, uint32_t flips, int64_t sample,
                                             uint32_t pixel, uint32_t thread, Shared& shared) {
    const int64_t pixels = int64_t{a.height} * a.width;
    const uint32_t words[3] = {shared.word(3 * thread), shared.word(3 * thread + 1), shared.word(3 * thread + 2)};
    Out* out = static_cast<Out*>(a.out) + sample * pixels * 3 + Target(a, flips, pixel);
    const bool mirrored = flips & kFlipHorizontal;
    for (uint32_t c = 0; c < 3; ++c) {
      Four<Out> four;
      for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t straight = 3 * i + c, reversed = 3 * (3 - i) + c;
        const uint32_t value =
            mirrored ? Byte(words[reversed / 4], reversed % 4) : Byte(words[straight / 4], straight % 4);
        four.values[i] = Arithmetic::template Map<Out>(value, a.scale[c], a.bias[c]);
      }
      *reinterpret_cast<Four<Out>*>(out + c * pixels) = four;
    }
  }

  // Reverses the order of the thread's four pixels in shared memory.
  STOKER_KERNEL_CODE static void MirrorFour(uint32_t thread, Shared& shared) {
    const uint32_t words[3] = {shared.word(3 * thread), shared.word(3 * thread + 1), shared.word(3 * thread + 2)};
    for (uint32_t j = 0; j < 3; ++j) {
      uint32_t mirrored = 0;
      for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t to = 4 * j + i, from = 3 * (3 - to / 3) + to % 3;
        mirrored |= Byte(words[from / 4], from % 4) << 8 * i;
      }
      shared.word(3 * thread + j) = mirrored;
    }
  }

  // Writes the four values of one word, which is one of the three words of four pixels.
  STOKER_KERNEL_CODE static void StoreInterleaved(const TransformArguments& a, uint32_t flips, int64_t sample,
                                                  uint32_t pixel, uint32_t word, Shared& shared) {
    const int64_t pixels = int64_t{a.height} * a.width;
    const uint32_t values = shared.word(word), part = word % 3;
    Out* out = static_cast<Out*>(a.out) + (sample * pixels + Target(a, flips, pixel)) * 3 + 4 * part;
    Four<Out> four;
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t c = (part + i) % 3;  // the channel of value 4 · part + i
      const float scale = c == 0 ? a.scale[0] : c == 1 ? a.scale[1] : a.scale[2];
      const float bias = c == 0 ? a.bias[0] : c == 1 ? a.bias[1] : a.bias[2];
      four.values[i] = Arithmetic::template Map<Out>(Byte(values, i), scale, bias);
    }
    *reinterpret_cast<Four<Out>*>(out) = four;
  }
};

// Handles images of any shape, with erasing and mixing. One thread makes one pixel. kNoise says whether erased values
// are noise; without it the kernel needs fewer registers.
template <typename Arithmetic, typename Out, bool kChannelsFirst, bool kNoise>
struct MixKernel {
  static constexpr uint32_t kThreads = 256;
  struct Shared {};
  static constexpr int kPhases = 1;

  static Grid GridOf(const MixArguments& arguments) {
    return PixelKernel<Arithmetic, Out, kChannelsFirst>::GridOf(arguments.transform);
  }

  STOKER_KERNEL_CODE static void Run(int, const MixArguments& a, Place place, Shared&) {
    const TransformArguments& t = a.transform;
    const auto width = static_cast<uint32_t>(t.width), pixels = width * static_cast<uint32_t>(t.height);
    const auto channels = static_cast<uint32_t>(t.channels);
    const uint32_t pixel = place.block_x * kThreads + place.thread;
    if (pixel >= pixels) return;
    const auto y = static_cast<int32_t>(pixel / width), x = static_cast<int32_t>(pixel - y * width);
    const int64_t sample = place.block_y, other = (sample == 0 ? t.samples : sample) - 1;
    const MixDraw& mix = a.mixes == nullptr ? a.mix : a.mixes[sample];
    const bool cut = mix.kind == BatchDraw::Kind::kCutMix && y >= mix.top && y < mix.top + mix.height &&
                     x >= mix.left && x < mix.left + mix.width;
    Out* out = static_cast<Out*>(t.out) + sample * pixels * channels;
    for (uint32_t c = 0; c < channels; ++c) {
      float value = ValueAt(a, cut ? other : sample, y, x, c);
      if (mix.kind == BatchDraw::Kind::kMixUp)
        value = Arithmetic::Mix(value, mix.own_share, ValueAt(a, other, y, x, c), mix.other_share);
      out[kChannelsFirst ? c * pixels + pixel : pixel * channels + c] = Arithmetic::template Round<Out>(value);
    }
  }

 private:
  // Returns the value at (y, x) and channel c of the sample's output, before mixing and rounding.
  STOKER_KERNEL_CODE static float ValueAt(const MixArguments& a, int64_t sample, int32_t y, int32_t x, uint32_t c) {
    const TransformArguments& t = a.transform;
    if (a.erases != nullptr) {
      const EraseDraw& erase = a.erases[sample];
      if (y >= erase.top && y < erase.top + erase.size.height && x >= erase.left && x < erase.left + erase.size.width)
        return ErasedValue(a, erase, (y * t.width + x) * t.channels + static_cast<int32_t>(c), c);
    }
    const uint32_t flips = t.flips == nullptr ? 0 : t.flips[sample];
    if (flips & kFlipHorizontal) x = t.width - 1 - x;
    if (flips & kFlipVertical) y = t.height - 1 - y;
    const int64_t at = ((sample * t.height + y) * t.width + x) * t.channels + c;
    return Arithmetic::Affine(t.in[at], t.scale[c], t.bias[c]);
  }

  // Returns the value of channel c that stands at `index` of an image with interleaved channels, where it is erased.
  STOKER_KERNEL_CODE static float ErasedValue(const MixArguments& a, const EraseDraw& erase, int32_t index,
                                              uint32_t c) {
    if constexpr (kNoise) {
      const auto block = PhiloxBlock(erase.key, erase.position, static_cast<uint64_t>(index / 8));
      return Arithmetic::Mix(a.quantiles[RandomBits(block, index)], a.erase_scale[c], a.erase_value[c], 1.0f);
    } else {
      return a.erase_value[c];
    }
  }
};

// The functions below call `launch.template operator()<Kernel>(arguments)` with the kernel that fits the arguments.
template <typename Arithmetic, typename Out, bool kChannelsFirst, typename Launch>
auto DispatchLayout(const TransformArguments& arguments, Launch launch) {
  using Tile = TileKernel<Arithmetic, Out, kChannelsFirst>;
  if (Tile::Fits(arguments)) return launch.template operator()<Tile>(arguments);
  return launch.template operator()<PixelKernel<Arithmetic, Out, kChannelsFirst>>(arguments);
}
template <typename Arithmetic, typename Out, bool kChannelsFirst, typename Launch>
auto DispatchLayout(const MixArguments& arguments, Launch launch) {
  if constexpr (!std::is_same_v<Out, uint8_t>)
    if (arguments.quantiles != nullptr)
      return launch.template operator()<MixKernel<Arithmetic, Out, kChannelsFirst, true>>(arguments);
  return launch.template operator()<MixKernel<Arithmetic, Out, kChannelsFirst, false>>(arguments);
}

template <typename Arithmetic, typename Out, typename Arguments, typename Launch>
auto DispatchElement(const Arguments& arguments, bool channels_first, Launch launch) {
  return channels_first ? DispatchLayout<Arithmetic, Out, true>(arguments, launch)
                        : DispatchLayout<Arithmetic, Out, false>(arguments, launch);
}

template <typename Arithmetic, typename Arguments, typename Launch>
auto DispatchTransform(const Arguments& arguments, const TransformArguments& transform, Launch launch) {
  switch (transform.element) {
    case Element::kFloat32: return DispatchElement<Arithmetic, float>(arguments, transform.channels_first, launch);
    case Element::kFloat16: return DispatchElement<Arithmetic, Half>(arguments, transform.channels_first, launch);
    case Element::kBfloat16: return DispatchElement<Arithmetic, Bfloat16>(arguments, transform.channels_first, launch);
    case Element::kUint8: break;
  }
  return DispatchElement<Arithmetic, uint8_t>(arguments, transform.channels_first, launch);
}

template <typename Arithmetic, typename Launch>
auto Dispatch(const TransformArguments& arguments, Launch launch) {
  return DispatchTransform<Arithmetic>(arguments, arguments, launch);
}
template <typename Arithmetic, typename Launch>
auto Dispatch(const MixArguments& arguments, Launch launch) {
  return DispatchTransform<Arithmetic>(arguments, arguments.transform, launch);
}

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_TRANSFORM_KERNEL_H_
