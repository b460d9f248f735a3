#include "client/device/host/host_image.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace stoker {
namespace {

using ImageProgram = DevicePipeline::ImageProgram;

// Pixels that a loop handles at once. GCC 12 vectorizes at -O2 only loops whose count it knows, hence blocks of a
// constant size.
constexpr int64_t kBlock = 64;
constexpr int64_t kChannels = 3;

// Rows are flipped in bands of about this many pixels, so that the scratch stays in the first-level cache.
constexpr int64_t kBandPixels = 4096;

uint32_t LoadWord(const uint8_t* bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

void CopyPixel(const uint8_t* in, uint8_t* out) { std::memcpy(out, in, kChannels); }

// Mirrors one row. It reads forward, since the CPU does not foresee reading backward, which takes twice as long. It
// copies words of four bytes, each of which begins with a byte of the pixel before; the next store overwrites that
// byte. The first and the last pixel have no room for such a byte and are copied alone.
void MirrorRow(const uint8_t* in, int64_t width, uint8_t* out) {
  uint8_t* const last = out + kChannels * (width - 1);
  CopyPixel(in, last);
  for (int64_t x = 1; x < width - 1; ++x) {
    const uint32_t word = LoadWord(in + kChannels * x - 1);
    std::memcpy(last - kChannels * x - 1, &word, sizeof word);
  }
  CopyPixel(in + kChannels * (width - 1), out);
}

// Writes rows first … first + rows − 1 of the flipped image to `out`.
void FlipRows(const ImageProgram& program, Flips flips, const uint8_t* in, int64_t first, int64_t rows, uint8_t* out) {
  const int64_t row_bytes = kChannels * program.out.width;
  for (int64_t y = first; y < first + rows; ++y, out += row_bytes) {
    const uint8_t* row = in + row_bytes * (flips.vertical ? program.out.height - 1 - y : y);
    if (flips.horizontal) {
      MirrorRow(row, program.out.width, out);
    } else {
      std::memcpy(out, row, row_bytes);
    }
  }
}

// Computes x · scale + bias for one channel.
struct Affine {
  float scale, bias;
  float operator()(uint32_t x) const { return static_cast<float>(static_cast<int32_t>(x)) * scale + bias; }
};

Affine AffineOf(const ImageProgram& program, int64_t channel) {
  return {program.scale[channel], program.bias[channel]};
}

struct Copy {
  uint8_t operator()(uint32_t x) const { return static_cast<uint8_t>(x); }
};

// Writes one channel of a block of pixels. Each word holds a pixel, whose channel begins at bit `shift`.
template <typename T, typename Map>
void WritePlane(const uint32_t* words, int shift, Map map, T* __restrict out) {
  for (int64_t i = 0; i < kBlock; ++i) out[i] = map(words[i] >> shift & 255);
}

// Turns interleaved pixels into three planes, `plane` elements apart; maps[c] makes channel c's values. Each pixel is
// loaded as a word of red, green, blue and the next pixel's first byte, since the baseline of x86-64 cannot shuffle
// single bytes but can work on vectors of words. The last block goes byte by byte, so that no word reaches beyond the
// pixels.
template <typename T, typename Map>
void ToPlanes(const uint8_t* in, int64_t pixels, const Map (&maps)[kChannels], int64_t plane, T* out) {
  int64_t pixel = 0;
  for (; pixel + kBlock < pixels; pixel += kBlock) {
    uint32_t words[kBlock];
    for (int64_t i = 0; i < kBlock; ++i) words[i] = LoadWord(in + kChannels * (pixel + i));
    for (int64_t c = 0; c < kChannels; ++c) WritePlane(words, 8 * c, maps[c], out + c * plane + pixel);
  }
  for (; pixel < pixels; ++pixel)
    for (int64_t c = 0; c < kChannels; ++c) out[c * plane + pixel] = maps[c](in[kChannels * pixel + c]);
}

// Turns interleaved pixels into interleaved floats.
void ToFloats(const ImageProgram& program, const uint8_t* __restrict in, int64_t pixels, float* __restrict out) {
  constexpr int64_t kValues = kChannels * kBlock;
  float scale[kValues], bias[kValues];
  for (int64_t i = 0; i < kValues; ++i) scale[i] = program.scale[i % kChannels], bias[i] = program.bias[i % kChannels];
  const int64_t values = kChannels * pixels;
  int64_t done = 0;
  for (; done + kValues <= values; done += kValues)
    for (int64_t i = 0; i < kValues; ++i) out[done + i] = static_cast<float>(in[done + i]) * scale[i] + bias[i];
  for (int64_t i = 0; done + i < values; ++i) out[done + i] = static_cast<float>(in[done + i]) * scale[i] + bias[i];
}

// Casts, maps and lays out `pixels` pixels, the first of which is the image's pixel `first`.
void Store(const ImageProgram& program, const uint8_t* in, int64_t first, int64_t pixels, void* out) {
  const int64_t plane = program.out.height * program.out.width;
  const bool floats = program.dtype != v1::DTYPE_UINT8;
  if (floats && program.channels_first) {
    ToPlanes(in, pixels, {AffineOf(program, 0), AffineOf(program, 1), AffineOf(program, 2)}, plane,
             static_cast<float*>(out) + first);
  } else if (floats) {
    ToFloats(program, in, pixels, static_cast<float*>(out) + kChannels * first);
  } else if (program.channels_first) {
    ToPlanes(in, pixels, {Copy(), Copy(), Copy()}, plane, static_cast<uint8_t*>(out) + first);
  } else {
    std::memcpy(static_cast<uint8_t*>(out) + kChannels * first, in, kChannels * pixels);
  }
}

// Transforms an image of any number of channels, element by element.
template <typename T>
void TransformAny(const ImageProgram& program, Flips flips, const uint8_t* in, T* out) {
  const auto [height, width] = program.out;
  const int64_t channels = program.channels, plane = height * width;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      const int64_t from_y = flips.vertical ? height - 1 - y : y, from_x = flips.horizontal ? width - 1 - x : x;
      const uint8_t* pixel = in + (from_y * width + from_x) * channels;
      const int64_t to = y * width + x;
      for (int64_t c = 0; c < channels; ++c) {
        T& value = out[program.channels_first ? c * plane + to : to * channels + c];
        if constexpr (std::is_same_v<T, float>) {
          value = AffineOf(program, c)(pixel[c]);
        } else {
          value = pixel[c];
        }
      }
    }
}

}  // namespace

void TransformImage(const ImageProgram& program, Flips flips, const uint8_t* in, void* out,
                    std::vector<uint8_t>& scratch) {
  if (program.channels != kChannels) {
    if (program.dtype == v1::DTYPE_UINT8) return TransformAny(program, flips, in, static_cast<uint8_t*>(out));
    return TransformAny(program, flips, in, static_cast<float*>(out));
  }
  if (!flips.horizontal && !flips.vertical) return Store(program, in, 0, program.out.height * program.out.width, out);
  const int64_t band = std::max<int64_t>(1, kBandPixels / program.out.width);
  scratch.resize(kChannels * band * program.out.width);
  for (int64_t y = 0; y < program.out.height; y += band) {
    const int64_t rows = std::min(band, program.out.height - y);
    FlipRows(program, flips, in, y, rows, scratch.data());
    Store(program, scratch.data(), y * program.out.width, rows * program.out.width, out);
  }
}

}  // namespace stoker
