// GaussianNoise and JPEG.

#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/common/ops/drawn_ops.h"

namespace stoker {
namespace {

TEST(DegradeOpsTest, NoiseHasTheKeyOfItsOp) {
  const DrawKey key = {.seed = 1, .position = 7};
  EXPECT_THAT(Drawn("gaussian_noise { mean: 0.25 sigma: 0.5 }", {3, 4}, 7),
              testing::ElementsAre(NoiseParameters{0.25, 0.5, key}));
  EXPECT_EQ(std::get<NoiseParameters>(Drawn("gaussian_noise {}", {3, 4}).at(0)).deviation, 0.1);
}

TEST(DegradeOpsTest, EachQualityIsAsLikely) {
  std::map<int, int> counts;
  for (int position = 0; position < 6000; ++position)
    ++counts[std::get<RecompressParameters>(Drawn("jpeg { quality: [30, 35] }", {8, 8}, position).at(0)).quality];
  ASSERT_EQ(counts.size(), 6);
  for (const auto& [quality, count] : counts) {
    EXPECT_TRUE(quality >= 30 && quality <= 35);
    EXPECT_NEAR(count, 1000, 145) << quality;  // Five standard deviations.
  }
}

TEST(DegradeOpsTest, OneQualityIsThatOne) {
  EXPECT_THAT(Drawn("jpeg { quality: 42 }", {8, 8}), testing::ElementsAre(RecompressParameters{42}));
}

TEST(DegradeOpsTest, JpegsHaveNoLongerSides) {
  EXPECT_EQ(Drawn("jpeg { quality: 42 }", {1, 65500}).size(), 1);
  EXPECT_EQ(Refusal("jpeg { quality: 42 }", {1, 65501}),
            "JPEG: an image of 65501×1 has a side of more than 65500 pixels, which no JPEG has; resize it before");
}

}  // namespace
}  // namespace stoker
