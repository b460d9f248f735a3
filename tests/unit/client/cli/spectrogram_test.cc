#include "client/cli/spectrogram.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

constexpr int64_t kHeight = 64, kWidth = 20;

// The row that is brightest in column `x`, from the bottom.
int64_t BrightestRow(const std::vector<uint8_t>& pixels, int64_t x) {
  int64_t brightest = 0, level = -1;
  for (int64_t y = 0; y < kHeight; ++y)
    if (pixels[(y * kWidth + x) * 3] > level) level = pixels[(y * kWidth + x) * 3], brightest = kHeight - 1 - y;
  return brightest;
}

std::vector<float> Tone(double cycles_a_sample, size_t count = 8000) {
  std::vector<float> samples(count);
  for (size_t i = 0; i < count; ++i)
    samples[i] = static_cast<float>(std::sin(2 * M_PI * cycles_a_sample * static_cast<double>(i)));
  return samples;
}

TEST(SpectrogramTest, AToneIsALineAtItsFrequency) {
  for (const double share : {0.1, 0.5, 0.8}) {  // of half of the sample rate
    const std::vector<uint8_t> pixels = Spectrogram(Tone(share / 2), kHeight, kWidth);
    for (int64_t x = 0; x < kWidth; ++x) EXPECT_NEAR(BrightestRow(pixels, x), share * kHeight, 1) << share;
  }
}

TEST(SpectrogramTest, LoudnessIsInDecibels) {
  std::vector<float> samples = Tone(32 / 512.0);  // a whole number of cycles in a window
  const auto brightest = [&] {
    const std::vector<uint8_t> pixels = Spectrogram(samples, kHeight, kWidth);
    return *std::max_element(pixels.begin(), pixels.end());
  };
  EXPECT_EQ(brightest(), 255);
  for (float& x : samples) x *= 0.01F;
  EXPECT_NEAR(brightest(), 255 / 2, 1) << "−40 of −80 dB";
  for (float& x : samples) x = 0;
  EXPECT_EQ(brightest(), 0);
}

TEST(SpectrogramTest, NothingIsBlack) {
  const std::vector<uint8_t> pixels = Spectrogram({}, 3, 5);
  EXPECT_THAT(pixels, testing::SizeIs(45));
  EXPECT_THAT(pixels, testing::Each(0));
}

TEST(SpectrogramTest, EachSampleIsDrawnByItsOwnRows) {
  std::vector<int16_t> values;
  for (const float x : Tone(0.1, 4000)) values.push_back(static_cast<int16_t>(x * 32767));
  for (const float x : Tone(0.3, 2000)) values.push_back(static_cast<int16_t>(x * 32767));
  const int64_t offsets[] = {0, 4000, 6000};
  Tensor rows, bounds;
  rows.dtype = v1::DTYPE_INT16, rows.shape = {6000, 1}, rows.data = values.data();
  bounds.dtype = v1::DTYPE_INT64, bounds.shape = {3}, bounds.data = offsets;
  google::protobuf::RepeatedPtrField<v1::Field> sent;
  sent.Add()->set_kind(v1::FIELD_KIND_AUDIO);
  const FieldPictures pictures = SpectrogramsOf({rows, bounds}, 2, sent, 0, kHeight, kWidth);
  EXPECT_THAT(pictures.tensor.shape, testing::ElementsAre(2, kHeight, kWidth, 3));
  EXPECT_NEAR(BrightestRow(pictures.pixels, 9), 0.2 * kHeight, 1);
  const std::vector<uint8_t> second(pictures.pixels.begin() + kHeight * kWidth * 3, pictures.pixels.end());
  EXPECT_NEAR(BrightestRow(second, 9), 0.6 * kHeight, 1);
}

}  // namespace
}  // namespace stoker
