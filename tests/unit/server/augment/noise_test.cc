#include "server/augment/noise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/identity/draws.h"
#include "common/identity/elementary.h"
#include "gtest/gtest.h"
#include "tests/unit/server/augment/golden_pixels.h"

namespace stoker {
namespace {

constexpr DrawKey kNoiseKey = {.seed = 3, .epoch = 1, .position = 44, .op = 2};

Bytes WithNoise(Bytes values, double mean, double deviation, const DrawKey& key = kNoiseKey) {
  AddNoise({mean, deviation, key}, values);
  return values;
}

// Straight from the contract.
TEST(NoiseTest, AddsWhatTheKeyDraws) {
  Bytes values(5001);
  std::iota(values.begin(), values.end(), uint8_t{0});
  Draws draws(kNoiseKey);
  Bytes expected = values;
  uint32_t word = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    word = i % 2 == 0 ? draws.Bits() : word >> 16;
    const double noise = 0.02 + 0.3 * DeterministicNormalQuantile(((word & 0xffff) + 0.5) / 65536);
    expected[i] = static_cast<uint8_t>(std::clamp(values[i] + static_cast<int>(noise * 255), 0, 255));
  }
  EXPECT_EQ(WithNoise(values, 0.02, 0.3), expected);
}

TEST(NoiseTest, HasTheMeanAndTheDeviationThatAreAskedFor) {
  const Bytes noisy = WithNoise(Bytes(300'000, 128), 0.05, 0.1);
  double sum = 0, squares = 0;
  for (const uint8_t value : noisy) {
    sum += value - 128;
    squares += (value - 128) * (value - 128);
  }
  const auto count = static_cast<double>(noisy.size());
  const double mean = sum / count, deviation = std::sqrt(squares / count - mean * mean);
  // Cutting fractions off takes about half a level from each value's distance to 0, and so 0.4 from the deviation.
  EXPECT_NEAR(mean, 0.05 * 255 - 0.2, 0.3);
  EXPECT_NEAR(deviation, 0.1 * 255 - 0.35, 0.15);
}

TEST(NoiseTest, EndsAtBlackAndWhite) {
  const Bytes dark = WithNoise(Bytes(1000, 3), 0, 1), light = WithNoise(Bytes(1000, 250), 0, 1);
  EXPECT_GT(std::count(dark.begin(), dark.end(), 0), 300);
  EXPECT_GT(std::count(light.begin(), light.end(), 255), 300);
  EXPECT_EQ(WithNoise(Bytes(10, 100), 10, 0), Bytes(10, 255));
  EXPECT_EQ(WithNoise(Bytes(10, 100), -10, 10)[0], 0);
}

TEST(NoiseTest, WithoutStrengthChangesNothing) { EXPECT_EQ(WithNoise(Bytes(100, 77), 0, 0), Bytes(100, 77)); }

TEST(NoiseTest, DiffersByKey) {
  DrawKey next = kNoiseKey;
  ++next.position;
  EXPECT_NE(WithNoise(Bytes(100, 77), 0, 0.1), WithNoise(Bytes(100, 77), 0, 0.1, next));
}

}  // namespace
}  // namespace stoker
