#include "client/device/host/host_resample.h"

#include <algorithm>

#include "client/device/resample_arithmetic.h"

namespace stoker {
namespace {

// Makes pixel after pixel of a row: sum(x, c) is what becomes of pixel x's channel c.
template <typename Sum>
void ForEachValue(int64_t width, int64_t channels, uint8_t* out, const Sum& sum) {
  for (int64_t x = 0; x < width; ++x)
    for (int64_t c = 0; c < channels; ++c) *out++ = sum(x, c);
}

}  // namespace

void HostResampler::Run(const DeviceStep& step, const ResampleDraw& draw, int64_t channels, const uint8_t* in,
                        uint8_t* out) {
  const ResampledAxis across = {draw.size.width, step.out.width}, down = {draw.size.height, step.out.height};
  across_.taps = TapCount(step.resampling, across), down_.taps = TapCount(step.resampling, down);
  const bool blended = IsBlended(step.resampling, across_.taps, down_.taps);
  const auto fill = [&](const ResampledAxis& axis, Axis& filled) {
    filled.first.resize(axis.outputs);
    filled.weights.resize(axis.outputs * filled.taps);
    for (int64_t i = 0; i < axis.outputs; ++i)
      filled.first[i] = WriteWeights(step.resampling, blended, axis, i, &filled.weights[i * filled.taps]);
  };
  fill(across, across_);
  fill(down, down_);
  const int64_t stride = step.in.width * channels;
  const Box box = {in + draw.top * stride + draw.left * channels, stride, draw.size};
  return blended ? Blend(box, step.out, channels, out) : Convolve(box, step.out, channels, out);
}

void HostResampler::Blend(const Box& box, ImageSize to, int64_t channels, uint8_t* out) {
  const int64_t values = box.size.width * channels;
  sums_.resize(values);
  uint32_t* const sums = sums_.data();
  for (int64_t y = 0; y < to.height; ++y, out += to.width * channels) {
    std::fill_n(sums, values, FirstBlendStart(down_.taps));
    for (int64_t tap = 0; tap < down_.taps; ++tap) {
      const uint8_t* row = box.pixels + (down_.first[y] + tap) * box.stride;
      const int32_t weight = down_.weights[y * down_.taps + tap];
      for (int64_t i = 0; i < values; ++i) sums[i] += Blended(uint32_t{row[i]} << 8, weight);
    }
    ForEachValue(to.width, channels, out, [&](int64_t x, int64_t c) {
      uint32_t sum = SecondBlendStart(across_.taps);
      const uint32_t* from = sums + across_.first[x] * channels + c;
      const int32_t* weights = &across_.weights[x * across_.taps];
      for (int64_t tap = 0; tap < across_.taps; ++tap) sum += Blended(from[tap * channels], weights[tap]);
      return static_cast<uint8_t>(sum >> 8);
    });
  }
}

void HostResampler::Convolve(const Box& box, ImageSize to, int64_t channels, uint8_t* out) {
  const int64_t values = to.width * channels;
  levels_.resize(box.size.height * values);
  for (int64_t y = 0; y < box.size.height; ++y)
    ForEachValue(to.width, channels, levels_.data() + y * values, [&](int64_t x, int64_t c) {
      int32_t sum = kConvolutionStart;
      const uint8_t* from = box.pixels + y * box.stride + across_.first[x] * channels + c;
      const int32_t* weights = &across_.weights[x * across_.taps];
      for (int64_t tap = 0; tap < across_.taps; ++tap) sum += weights[tap] * from[tap * channels];
      return ConvolvedLevel(sum);
    });
  convolved_.resize(values);
  int32_t* const sums = convolved_.data();
  for (int64_t y = 0; y < to.height; ++y, out += values) {
    std::fill_n(sums, values, kConvolutionStart);
    for (int64_t tap = 0; tap < down_.taps; ++tap) {
      const uint8_t* row = levels_.data() + (down_.first[y] + tap) * values;
      const int32_t weight = down_.weights[y * down_.taps + tap];
      for (int64_t i = 0; i < values; ++i) sums[i] += weight * row[i];
    }
    std::transform(sums, sums + values, out, ConvolvedLevel);
  }
}

}  // namespace stoker
