#include "client/device/host/host_mix.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "common/check.h"
#include "common/fields/half_precision.h"

namespace stoker {
namespace {

using ImageProgram = DevicePipeline::ImageProgram;

// Calls run(first, count, channel) for each run of consecutive elements that a rectangle consists of in the program's
// layout. `channel` is −1 if the run has interleaved channels; it then begins with channel 0.
template <typename Run>
void ForEachRun(const ImageProgram& program, int64_t top, int64_t left, ImageSize size, const Run& run) {
  const auto [height, width] = program.out;
  for (int64_t y = top; y < top + size.height; ++y) {
    const int64_t pixel = y * width + left;
    if (!program.channels_first) run(pixel * program.channels, size.width * program.channels, -1);
    for (int64_t c = 0; program.channels_first && c < program.channels; ++c)
      run(c * height * width + pixel, size.width, c);
  }
}

template <uint16_t (*kRound)(float)>
void RoundAll(std::span<const float> values, void* out) {
  auto* const to = static_cast<uint16_t*>(out);
  for (size_t i = 0; i < values.size(); ++i) to[i] = kRound(values[i]);
}

}  // namespace

void EraseFloats(const ImageProgram& program, const EraseDraw& erase, float* image) {
  ForEachRun(program, erase.top, erase.left, erase.size, [&](int64_t first, int64_t count, int64_t channel) {
    for (int64_t i = 0; i < count; ++i)
      image[first + i] = program.erase_value[channel < 0 ? i % program.channels : channel];
  });
}

template <typename T>
void MixImages(const ImageProgram& program, const BatchDraw& draw, const T* other, T* own) {
  if (draw.kind == BatchDraw::Kind::kCutMix)
    ForEachRun(program, draw.top, draw.left, draw.size,
               [&](int64_t first, int64_t count, int64_t) { std::copy_n(other + first, count, own + first); });
  if (draw.kind != BatchDraw::Kind::kMixUp) return;
  STOKER_CHECK((std::is_same_v<T, float>));
  const float of_own = static_cast<float>(draw.lambda), of_other = static_cast<float>(1 - draw.lambda);
  for (int64_t i = 0; i < program.out.height * program.out.width * program.channels; ++i)
    own[i] = static_cast<T>(static_cast<float>(other[i]) * of_other + static_cast<float>(own[i]) * of_own);
}

template void MixImages(const ImageProgram&, const BatchDraw&, const float*, float*);
template void MixImages(const ImageProgram&, const BatchDraw&, const uint8_t*, uint8_t*);

void RoundTo(v1::Dtype dtype, std::span<const float> values, void* out) {
  switch (dtype) {
    case v1::DTYPE_FLOAT32: std::memcpy(out, values.data(), values.size_bytes()); return;
    case v1::DTYPE_FLOAT16: return RoundAll<ToFloat16>(values, out);
    case v1::DTYPE_BFLOAT16: return RoundAll<ToBfloat16>(values, out);
    default: STOKER_CHECK(false);
  }
}

}  // namespace stoker
