#include "server/augment/elastic.h"

#include <cmath>
#include <utility>

#include "common/identity/draws.h"
#include "common/ops/elastic.h"
#include "gtest/gtest.h"
#include "server/augment/affine.h"
#include "tests/unit/server/augment/golden_pixels.h"
#include "tests/unit/server/augment/noise.h"

namespace stoker {
namespace {

constexpr DrawKey kElasticKey = {.seed = 3, .epoch = 1, .position = 44, .op = 2};

ElasticParameters Elastic(double across, double down, double sigma_across, double sigma_down) {
  return {.length_across = across,
          .length_down = down,
          .sigma_across = sigma_across,
          .sigma_down = sigma_down,
          .fill = {1, 2, 3},
          .key = kElasticKey};
}

// The noise of a pixel, straight from the contract.
double NoiseAt(ImageSize size, int64_t y, int64_t x, bool down) {
  Draws draws(kElasticKey);
  uint32_t word = 0;
  for (int64_t i = 0; i <= y * size.width + x; ++i) word = draws.Bits();
  return ((down ? word >> 16 : word & 0xffff) + 0.5) / 32768 - 1;
}

int64_t Mirrored(int64_t i, int64_t extent) { return i < 0 ? -i : i < extent ? i : 2 * (extent - 1) - i; }

// The displacement by torchvision's formula, in doubles.
double Expected(const ElasticParameters& elastic, ImageSize size, int64_t y, int64_t x, bool down) {
  double sum = 0, weights = 0;
  const int64_t reach_y = ElasticReach(elastic.sigma_down), reach_x = ElasticReach(elastic.sigma_across);
  for (int64_t j = -reach_y; j <= reach_y; ++j)
    for (int64_t i = -reach_x; i <= reach_x; ++i) {
      const double weight =
          std::exp(-0.5 * (static_cast<double>(i * i) / (elastic.sigma_across * elastic.sigma_across) +
                           static_cast<double>(j * j) / (elastic.sigma_down * elastic.sigma_down)));
      sum += weight * NoiseAt(size, Mirrored(y + j, size.height), Mirrored(x + i, size.width), down);
      weights += weight;
    }
  return sum / weights * (down ? elastic.length_down : elastic.length_across);
}

TEST(ElasticTest, DisplacementsAreSmoothedNoise) {
  const ImageSize size = {9, 12};
  const ElasticParameters elastic = Elastic(20, 30, 1.2, 0.7);
  const Displacements displacements(elastic, size);
  for (const auto& [y, x] : {std::pair{0, 0}, {8, 11}, {4, 6}, {0, 11}, {7, 1}}) {
    EXPECT_NEAR(displacements.Across(y, x), Expected(elastic, size, y, x, false), 1e-4) << y << ", " << x;
    EXPECT_NEAR(displacements.Down(y, x), Expected(elastic, size, y, x, true), 1e-4) << y << ", " << x;
  }
}

TEST(ElasticTest, WithoutSmoothingEachPixelHasItsOwnNoise) {
  const ImageSize size = {3, 5};
  const Displacements displacements(Elastic(10, 10, 0, 0), size);
  EXPECT_FLOAT_EQ(displacements.Across(2, 3), static_cast<float>(10 * NoiseAt(size, 2, 3, false)));
  EXPECT_FLOAT_EQ(displacements.Down(1, 4), static_cast<float>(10 * NoiseAt(size, 1, 4, true)));
}

TEST(ElasticTest, PixelsComeFromWhereTheDisplacementsLead) {
  const ImageSize size = {24, 31};
  ElasticParameters elastic = Elastic(40, 40, 2, 2);
  elastic.interpolation = v1::INTERPOLATION_NEAREST;
  const Bytes noise = Noise(size);
  Bytes out(noise.size());
  ApplyElastic(elastic, ViewOf(noise, size), out.data());
  const Displacements displacements(elastic, size);
  int inside = 0;
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t x = 0; x < size.width; ++x) {
      const double from_x = std::floor(static_cast<double>(x) + 0.5 + displacements.Across(y, x));
      const double from_y = std::floor(static_cast<double>(y) + 0.5 + displacements.Down(y, x));
      const bool is_inside = from_x >= 0 && from_x < 31 && from_y >= 0 && from_y < 24;
      inside += is_inside;
      const int64_t from = (static_cast<int64_t>(from_y) * size.width + static_cast<int64_t>(from_x)) * 3;
      for (int64_t channel = 0; channel < 3; ++channel)
        ASSERT_EQ(out[(y * size.width + x) * 3 + channel], is_inside ? noise[from + channel] : channel + 1);
    }
  EXPECT_GT(inside, 600);
}

// The test of bilinear pixels is that of ApplyAffine, which takes them in the same way.
TEST(ElasticTest, WithoutLengthChangesNothing) {
  const ImageSize size = {24, 31};
  const Bytes noise = Noise(size);
  Bytes out(noise.size());
  ApplyElastic(Elastic(0, 0, 2, 2), ViewOf(noise, size), out.data());
  EXPECT_EQ(out, noise);
}

// Taken once: a CPU or a compiler that gives others breaks digests.
TEST(ElasticTest, BitsNeverChange) {
  const Displacements displacements(Elastic(25, 25, 5, 5), {40, 50});
  EXPECT_EQ(displacements.Across(20, 30), 0x1.047ecap+0F);
  EXPECT_EQ(displacements.Down(39, 0), -0x1.5c9caap-1F);
}

}  // namespace
}  // namespace stoker
