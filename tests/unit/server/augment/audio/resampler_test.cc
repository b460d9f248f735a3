#include "server/augment/audio/resampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using Stretch = Resampler::Stretch;

std::vector<float> Noise(size_t count) {
  std::vector<float> noise(count);
  uint32_t state = 1;
  for (float& x : noise) x = static_cast<float>((state = state * 1664525 + 1013904223) >> 8) / 8388608.0F - 1;
  return noise;
}

std::vector<double> Resample(const Resampler& resampler, const std::vector<float>& in, Stretch outputs,
                             int64_t channels = 1) {
  const auto frames = static_cast<int64_t>(in.size()) / channels;
  const Stretch needed = resampler.Needed(outputs, frames);
  const std::vector<float> part(in.begin() + needed.first * channels,
                                in.begin() + (needed.first + needed.count) * channels);
  std::vector<double> out(outputs.count * channels);
  resampler.Run(part, needed, channels, outputs, out);
  return out;
}

std::vector<double> Resample(uint32_t from, uint32_t to, const std::vector<float>& in) {
  const auto resampler = Resampler::Create(from, to);
  EXPECT_TRUE(resampler.ok()) << resampler.status();
  return Resample(*resampler, in, {0, resampler->Outputs(static_cast<int64_t>(in.size()))});
}

// torchaudio 2's formula, in its order: a kernel of 2 · width + from for each of `to` phases, in float64.
std::vector<double> Reference(int64_t from, int64_t to, const std::vector<float>& in) {
  const int64_t common = std::gcd(from, to);
  from /= common, to /= common;
  const double base = static_cast<double>(std::min(from, to)) * 0.99;
  const auto width = static_cast<int64_t>(std::ceil(6 * static_cast<double>(from) / base));
  std::vector<double> out((static_cast<int64_t>(in.size()) * to + from - 1) / from);
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i)
    for (int64_t k = 0; k < 2 * width + from; ++k) {
      const int64_t place = i / to * from + k - width;
      if (place < 0 || place >= static_cast<int64_t>(in.size())) continue;
      double t = static_cast<double>(-(i % to)) / static_cast<double>(to) +
                 static_cast<double>(k - width) / static_cast<double>(from);
      t = std::clamp(t * base, -6.0, 6.0);
      const double window = std::pow(std::cos(t * M_PI / 6 / 2), 2);
      t *= M_PI;
      out[i] += in[place] * (t == 0 ? 1 : std::sin(t) / t) * window * base / static_cast<double>(from);
    }
  return out;
}

TEST(ResamplerTest, AgreesWithTorchaudiosFormula) {
  const std::pair<int, int> rates[] = {{44100, 16000}, {16000, 44100}, {48000, 16000}, {8000, 16000},
                                       {16000, 8000},  {22050, 16000}, {11025, 8000},  {7, 5}};
  const std::vector<float> in = Noise(1500);
  for (const auto& [from, to] : rates) {
    const std::vector<double> out = Resample(from, to, in), expected = Reference(from, to, in);
    ASSERT_EQ(out.size(), expected.size());
    for (size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 1e-12) << from << " to " << to;
  }
}

TEST(ResamplerTest, AToneStaysTheTone) {
  std::vector<float> in(44100);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(std::sin(2 * M_PI * 440 * i / 44100));
  const std::vector<double> out = Resample(44100, 16000, in);
  ASSERT_EQ(out.size(), 16000u);
  for (size_t i = 100; i < out.size() - 100; ++i)
    EXPECT_NEAR(out[i], std::sin(2 * M_PI * 440 * static_cast<double>(i) / 16000), 2e-3);
}

TEST(ResamplerTest, AStretchHasTheNumbersOfTheWhole) {
  const std::vector<float> in = Noise(2000);
  for (const auto& [from, to] : {std::pair{44100, 16000}, std::pair{16000, 44100}, std::pair{3, 2}}) {
    const auto resampler = Resampler::Create(from, to);
    const int64_t all = resampler->Outputs(1000);
    const std::vector<double> whole = Resample(*resampler, in, {0, all}, 2);
    for (const Stretch stretch : {Stretch{0, 10}, Stretch{37, 101}, Stretch{all - 9, 9}, Stretch{all, 0}}) {
      const std::vector<double> part = Resample(*resampler, in, stretch, 2);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + stretch.first * 2))
          << from << " to " << to << " at " << stretch.first;
    }
  }
}

TEST(ResamplerTest, NoInputsGiveNoOutputs) {
  EXPECT_TRUE(Resample(44100, 16000, {}).empty());
  EXPECT_EQ(Resample(16000, 44100, {1}).size(), 3u);
}

TEST(ResamplerTest, RatesThatWouldNeedTooManyWeightsAreDataLoss) {
  EXPECT_TRUE(absl::IsDataLoss(Resampler::Create(767999, 768000).status()));
  EXPECT_TRUE(absl::IsDataLoss(Resampler::Create(768000, 1).status()));
  EXPECT_TRUE(Resampler::Create(44101, 48000).ok());
}

}  // namespace
}  // namespace stoker
