#include "client/cli/spectrogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "common/check.h"
#include "common/fields/cast.h"
#include "common/fields/schema.h"

namespace stoker {
namespace {

constexpr size_t kWindow = 512;  // samples, a power of two
constexpr double kLeastDecibels = -80;

using Spectrum = std::array<std::complex<double>, kWindow>;

// The discrete Fourier transform, in place: Cooley and Tukey's, radix 2.
void Transform(Spectrum& values) {
  for (size_t i = 1, j = 0; i < kWindow; ++i) {
    size_t bit = kWindow / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j |= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  for (size_t half = 1; half < kWindow; half *= 2)
    for (size_t i = 0; i < half; ++i) {
      const auto turn = std::polar(1.0, -std::numbers::pi * static_cast<double>(i) / static_cast<double>(half));
      for (size_t at = i; at < kWindow; at += 2 * half) {
        const std::complex<double> other = values[at + half] * turn;
        values[at + half] = values[at] - other;
        values[at] += other;
      }
    }
}

// Returns the spectrum of the window around sample `center`, under Hann's window; 1 is a sine of amplitude 1.
std::array<double, kWindow / 2> LoudnessAround(std::span<const float> samples, int64_t center) {
  Spectrum values = {};
  for (size_t i = 0; i < kWindow; ++i) {
    const int64_t place = center - static_cast<int64_t>(kWindow / 2) + static_cast<int64_t>(i);
    if (place < 0 || place >= std::ssize(samples)) continue;
    values[i] = samples[place] * (0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / kWindow));
  }
  Transform(values);
  std::array<double, kWindow / 2> loudness = {};
  for (size_t i = 0; i < loudness.size(); ++i) loudness[i] = std::abs(values[i]) / (kWindow / 4.0);
  return loudness;
}

uint8_t LevelOf(double loudness) {
  const double decibels = loudness > 0 ? 20 * std::log10(loudness) : kLeastDecibels;
  return static_cast<uint8_t>(std::lround(255 * std::clamp(1 - decibels / kLeastDecibels, 0.0, 1.0)));
}

// Returns the mean of the channels of frames [begin, end).
std::vector<float> SamplesOf(const Tensor& tensor, int64_t begin, int64_t end, int64_t channels) {
  std::vector<float> samples;
  const float scale = tensor.dtype == v1::DTYPE_INT16 ? ScaleOf(tensor.dtype) : 1;
  const auto* bytes = static_cast<const uint8_t*>(tensor.data);
  for (int64_t frame = begin; frame < end; ++frame) {
    float sum = 0;
    for (int64_t c = 0; c < channels; ++c)
      sum += LoadNumber(NumberOf(tensor.dtype), bytes + (frame * channels + c) * ByteSize(tensor.dtype));
    samples.push_back(sum * scale / static_cast<float>(channels));
  }
  return samples;
}

}  // namespace

std::vector<uint8_t> Spectrogram(std::span<const float> samples, int64_t height, int64_t width) {
  std::vector<uint8_t> pixels(height * width * 3);
  for (int64_t x = 0; x < width; ++x) {
    const auto loudness = LoudnessAround(samples, (2 * x + 1) * std::ssize(samples) / (2 * width));
    for (int64_t y = 0; y < height; ++y) {
      const auto bins = static_cast<int64_t>(loudness.size());
      const int64_t first = (height - 1 - y) * bins / height, last = std::max((height - y) * bins / height, first + 1);
      const double loudest = *std::max_element(loudness.begin() + first, loudness.begin() + last);
      std::fill_n(&pixels[(y * width + x) * 3], 3, LevelOf(loudest));
    }
  }
  return pixels;
}

bool IsAudio(const v1::Field& field) { return field.kind() == v1::FIELD_KIND_AUDIO || field.sample_rate() != 0; }

FieldPictures SpectrogramsOf(const std::vector<Tensor>& fields, int64_t count,
                             const google::protobuf::RepeatedPtrField<v1::Field>& sent, int field, int64_t height,
                             int64_t width) {
  const Tensor& tensor = fields[field];
  const int64_t* offsets = nullptr;
  if (IsVariable(sent[field].kind())) {
    const auto before = std::count_if(sent.begin(), sent.begin() + field,
                                      [](const v1::Field& other) { return IsVariable(other.kind()); });
    offsets = static_cast<const int64_t*>(fields[sent.size() + before].data);
  }
  const int64_t channels = tensor.shape.back(), frames = offsets == nullptr ? tensor.shape[1] : 0;
  FieldPictures pictures;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = offsets == nullptr ? i * frames : offsets[i];
    const int64_t end = offsets == nullptr ? begin + frames : offsets[i + 1];
    const std::vector<uint8_t> drawn = Spectrogram(SamplesOf(tensor, begin, end, channels), height, width);
    pictures.pixels.insert(pictures.pixels.end(), drawn.begin(), drawn.end());
  }
  pictures.tensor.dtype = v1::DTYPE_UINT8;
  pictures.tensor.shape = {count, height, width, 3};
  pictures.tensor.data = pictures.pixels.data();
  return pictures;
}

}  // namespace stoker
