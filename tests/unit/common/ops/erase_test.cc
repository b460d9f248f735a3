// RandomErasing, RandomMask, GaussianBlur, RandomAdjustSharpness.

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/common/ops/drawn_ops.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CoverOpsTest, ErasingDrawsAreaUniformlyAndRatioLogUniformly) {
  const v1::Op op = ParseOp("random_erasing { p: 1 scale: [0.1, 0.4] ratio: [0.5, 2] value: [1, 2, 3] }");
  constexpr int kSamples = 4000;
  double area = 0, log_ratio = 0, log_ratio2 = 0, top = 0;
  for (int position = 0; position < kSamples; ++position) {
    const auto drawn = Drawn(op, {1000, 1000}, position);
    const auto& erase = std::get<EraseParameters>(drawn.at(0));
    ASSERT_GE(erase.top, 0);
    ASSERT_GE(erase.left, 0);
    ASSERT_LE(erase.top + erase.size.height, 1000);
    ASSERT_LE(erase.left + erase.size.width, 1000);
    EXPECT_EQ(erase.value, (Color{1, 2, 3}));
    area += static_cast<double>(erase.size.height * erase.size.width) / 1e6 / kSamples;
    const double ratio = std::log(static_cast<double>(erase.size.height) / static_cast<double>(erase.size.width));
    log_ratio += ratio / kSamples, log_ratio2 += ratio * ratio / kSamples;
    top += static_cast<double>(erase.top) / static_cast<double>(1000 - erase.size.height) / kSamples;
  }
  EXPECT_NEAR(area, 0.25, 0.007);                                 // Five standard errors of U[0.1, 0.4],
  EXPECT_NEAR(log_ratio, 0, 0.032);                               // of U[−ln 2, ln 2],
  EXPECT_NEAR(log_ratio2, std::log(2) * std::log(2) / 3, 0.012);  // of its square,
  EXPECT_NEAR(top, 0.5, 0.023);                                   // and of U[0, 1].
}

TEST(CoverOpsTest, ErasingIsOfHeightByWidth) {
  for (uint64_t position = 0; position < 100; ++position) {
    const auto drawn = Drawn("random_erasing { p: 1 scale: [0.1, 0.1] ratio: [3, 3] }", {100, 100}, position);
    EXPECT_EQ(std::get<EraseParameters>(drawn.at(0)).size, (ImageSize{55, 18}));
  }
}

TEST(CoverOpsTest, ErasingGivesUpWhereNoRectangleIsSmallerThanTheImage) {
  for (uint64_t position = 0; position < 20; ++position) {
    EXPECT_THAT(Drawn("random_erasing { p: 1 scale: [1, 1] ratio: [1, 1] }", {10, 10}, position), IsEmpty());
    EXPECT_THAT(Drawn("random_erasing { p: 1 scale: [0.5, 0.5] ratio: [50, 50] }", {10, 10}, position), IsEmpty());
    EXPECT_THAT(Drawn("random_erasing { p: 1 scale: [0, 0] }", {10, 10}, position), IsEmpty());
  }
}

TEST(CoverOpsTest, MaskCarriesItsOwnKey) {
  ImageSize size = {4, 4};
  std::vector<OpParameters> drawn;
  const DrawKey key = {.seed = 1, .epoch = 2, .position = 3, .op = 4, .view = 5};
  ASSERT_TRUE(DrawOp(ParseOp("random_mask { ratio: 0.25 dilate: false }"), key, size, drawn).ok());
  EXPECT_THAT(drawn, ElementsAre(MaskParameters{0.25, false, key}));
  EXPECT_TRUE(std::get<MaskParameters>(Drawn("random_mask { ratio: 0.25 }", size).at(0)).dilate);
}

TEST(SmoothOpsTest, BlurDrawsSigmaUniformly) {
  constexpr int kSamples = 4000;
  double mean = 0;
  for (int position = 0; position < kSamples; ++position) {
    const auto blur = std::get<BlurParameters>(Drawn("gaussian_blur { kernel_size: [5, 3] }", {9, 9}, position).at(0));
    EXPECT_EQ(blur.kernel_width, 5);
    EXPECT_EQ(blur.kernel_height, 3);
    ASSERT_GE(blur.sigma, 0.1);
    ASSERT_LE(blur.sigma, 2);
    mean += blur.sigma / kSamples;
  }
  EXPECT_NEAR(mean, 1.05, 0.044);  // Five standard errors of U[0.1, 2].
  EXPECT_THAT(Drawn("gaussian_blur { kernel_size: 3 sigma: 1.5 }", {9, 9}), ElementsAre(BlurParameters{3, 3, 1.5}));
  EXPECT_THAT(Drawn("gaussian_blur { kernel_size: 1 }", {9, 9}), IsEmpty());
}

TEST(SmoothOpsTest, BlurNeedsAnImageToReflect) {
  EXPECT_EQ(Drawn("gaussian_blur { kernel_size: [5, 3] }", {2, 3}).size(), 1);
  EXPECT_EQ(Refusal("gaussian_blur { kernel_size: [5, 3] }", {2, 2}),
            "GaussianBlur.kernel_size: an image of 2×2 is not larger than half the kernel of 5×3; Resize first");
  Refusal("gaussian_blur { kernel_size: [5, 3] }", {1, 3});
}

TEST(SmoothOpsTest, SharpnessIsItsFactor) {
  EXPECT_THAT(Drawn("random_adjust_sharpness { sharpness_factor: 2 p: 1 }", {9, 9}),
              ElementsAre(SharpnessParameters{2}));
}

}  // namespace
}  // namespace stoker
