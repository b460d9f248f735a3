#include <algorithm>
#include <cmath>

#include "common/ops/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/common/ops/drawn_ops.h"

namespace stoker {
namespace {

// torchvision 0.29's figures for the same calls.
TEST(ShapeOpsTest, ResizeToTheShorterSideKeepsTheRatio) {
  EXPECT_EQ(OutputSize(ParseOp("resize { size: 256 }"), ImageSize{375, 500}), (ImageSize{256, 341}));
  EXPECT_EQ(OutputSize(ParseOp("resize { size: 256 }"), ImageSize{500, 375}), (ImageSize{341, 256}));
  EXPECT_EQ(OutputSize(ParseOp("resize { size: 256 max_size: 300 }"), ImageSize{375, 500}), (ImageSize{225, 300}));
  EXPECT_EQ(OutputSize(ParseOp("resize { size: 256 }"), std::nullopt), std::nullopt);
}

TEST(ShapeOpsTest, CenterCropRoundsHalvesToEvenAsPythonDoes) {
  auto crop = [](int64_t height, int64_t width) {
    return std::get<CropParameters>(Drawn(ParseOp("center_crop { size: 4 }"), {height, width}).at(0));
  };
  EXPECT_EQ(crop(7, 9), (CropParameters{.top = 2, .left = 2, .size = {4, 4}}));  // 1.5 → 2, 2.5 → 2
  EXPECT_EQ(crop(2, 10), (CropParameters{.top = -1, .left = 3, .size = {4, 4}}));
  EXPECT_EQ(crop(1, 4), (CropParameters{.top = -1, .left = 0, .size = {4, 4}}));  // 1 above, 2 below
}

TEST(ShapeOpsTest, AnOpThatChangesNothingDrawsNothing) {
  EXPECT_THAT(Drawn(ParseOp("center_crop { size: 4 }"), {4, 4}), testing::IsEmpty());
  EXPECT_THAT(Drawn(ParseOp("resize { size: 4 }"), {4, 4}), testing::IsEmpty());
}

TEST(ShapeOpsTest, RandomCropStaysWithinThePaddedImage) {
  int64_t top = 100, bottom = -100, left = 100, right = -100;
  for (uint64_t position = 0; position < 2000; ++position) {
    const auto crop = std::get<CropParameters>(
        Drawn(ParseOp("random_crop { size: 4 padding: [1, 2, 3, 4] fill: [9, 8, 7] }"), {6, 5}, position).at(0));
    EXPECT_EQ(crop.fill, (std::array<uint8_t, 3>{9, 8, 7}));
    top = std::min(top, crop.top), bottom = std::max(bottom, crop.top);
    left = std::min(left, crop.left), right = std::max(right, crop.left);
  }
  EXPECT_EQ(top, -2);
  EXPECT_EQ(bottom, 6 + 4 - 4);
  EXPECT_EQ(left, -1);
  EXPECT_EQ(right, 5 + 3 - 4);
}

TEST(ShapeOpsTest, RandomCropPadsSmallImagesOnlyIfTold) {
  ImageSize size = {3, 10};
  std::vector<OpParameters> parameters;
  const auto refused = DrawOp(ParseOp("random_crop { size: 4 }"), {}, size, parameters);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), testing::HasSubstr("RandomCrop.size: an image of 10×3"));
  // torchvision pads both sides by what is missing, then draws.
  int64_t top = 100, bottom = -100;
  for (uint64_t position = 0; position < 200; ++position) {
    const auto crop = std::get<CropParameters>(
        Drawn(ParseOp("random_crop { size: 4 pad_if_needed: true }"), {3, 10}, position).at(0));
    top = std::min(top, crop.top), bottom = std::max(bottom, crop.top);
  }
  EXPECT_EQ(top, -1);
  EXPECT_EQ(bottom, 0);
}

TEST(ShapeOpsTest, RandomResizedCropDrawsAreaUniformlyAndRatioLogUniformly) {
  const v1::Op op = ParseOp("random_resized_crop { size: 8 scale: [0.1, 0.5] ratio: [0.5, 2] }");
  constexpr int kSamples = 4000;
  double area = 0, log_ratio = 0, log_ratio2 = 0;
  for (int position = 0; position < kSamples; ++position) {
    const auto drawn = Drawn(op, {1000, 1000}, position);
    const auto& crop = std::get<CropParameters>(drawn.at(0));
    ASSERT_GE(crop.top, 0);
    ASSERT_GE(crop.left, 0);
    ASSERT_LE(crop.top + crop.size.height, 1000);
    ASSERT_LE(crop.left + crop.size.width, 1000);
    area += static_cast<double>(crop.size.height * crop.size.width) / 1e6 / kSamples;
    const double ratio = std::log(static_cast<double>(crop.size.width) / static_cast<double>(crop.size.height));
    log_ratio += ratio / kSamples, log_ratio2 += ratio * ratio / kSamples;
    EXPECT_EQ(std::get<ResizeParameters>(drawn.at(1)), (ResizeParameters{.size = {8, 8}}));
  }
  EXPECT_NEAR(area, 0.3, 0.01);                                   // Five standard errors of U[0.1, 0.5].
  EXPECT_NEAR(log_ratio, 0, 0.035);                               // Of U[−ln 2, ln 2],
  EXPECT_NEAR(log_ratio2, std::log(2) * std::log(2) / 3, 0.015);  // and of its square.
}

TEST(ShapeOpsTest, RandomResizedCropFallsBackToTheCenterOfTheNearestRatio) {
  const v1::Op op = ParseOp("random_resized_crop { size: 8 scale: [1, 1] ratio: [1, 1] }");
  const auto crop = std::get<CropParameters>(Drawn(op, {100, 400}).at(0));
  EXPECT_EQ(crop, (CropParameters{.top = 0, .left = 150, .size = {100, 100}}));
}

TEST(ShapeOpsTest, FlipsHappenWithTheirProbability) {
  int flips = 0;
  for (uint64_t position = 0; position < 10'000; ++position)
    flips += Drawn(ParseOp("random_vertical_flip { p: 0.25 }"), {4, 4}, position).size();
  EXPECT_NEAR(flips, 2500, 217);  // Five standard deviations.
}

// Python's round(side / 28) * 28, as models of patches want it.
TEST(ShapeOpsTest, ResizeRoundsBothSidesToMultiples) {
  const auto sized = [](const std::string& arguments, ImageSize image) {
    return OutputSize(ParseOp("resize { " + arguments + " }"), image);
  };
  EXPECT_EQ(sized("size: 224 multiple: 28", {300, 400}),
            (ImageSize{224, 308}));  // 298.7 lies nearer to 308 than to 280.
  EXPECT_EQ(sized("size: 100 multiple: 28", {300, 400}), (ImageSize{112, 140}));
  EXPECT_EQ(sized("size: 10 multiple: 28", {300, 400}), (ImageSize{28, 28}));
  EXPECT_EQ(sized("size: [42, 70] multiple: 28", {300, 400}), (ImageSize{56, 56}));          // 1.5 and 2.5 become 2.
  EXPECT_EQ(sized("size: 56 max_size: 100 multiple: 28", {10, 1000}), (ImageSize{28, 84}));  // 100 would become 112.
  EXPECT_EQ(sized("size: 224 multiple: 1", {300, 401}), sized("size: 224", {300, 401}));
}

TEST(ShapeOpsTest, PadIsACropBeyondTheImage) {
  EXPECT_THAT(Drawn("pad { padding: [1, 2, 3, 4] fill: [5, 6, 7] }", {10, 20}),
              testing::ElementsAre(CropParameters{-2, -1, {16, 24}, {5, 6, 7}, v1::PADDING_MODE_CONSTANT}));
  EXPECT_THAT(Drawn("pad { padding: [1, 2] padding_mode: PADDING_MODE_EDGE }", {10, 20}),
              testing::ElementsAre(CropParameters{-2, -1, {14, 22}, {0, 0, 0}, v1::PADDING_MODE_EDGE}));
  EXPECT_THAT(Drawn("pad { padding: 0 }", {10, 20}), testing::IsEmpty());
  EXPECT_EQ(OutputSize(ParseOp("pad { padding: 3 }"), std::nullopt), std::nullopt);
}

TEST(ShapeOpsTest, PadMirrorsNoMoreThanThereIs) {
  const std::string reflect = "pad { padding: [3, 0, 0, 9] padding_mode: PADDING_MODE_REFLECT }";
  EXPECT_EQ(Drawn(reflect, {10, 4}).size(), 1);
  EXPECT_EQ(Refusal(reflect, {9, 4}),
            "Pad.padding: an image of 4×9 can be mirrored for at most 3 pixels across and 8 down; Resize first, or "
            "choose another padding_mode");
  Refusal(reflect, {10, 3});
  const std::string symmetric = "pad { padding: [3, 0, 0, 9] padding_mode: PADDING_MODE_SYMMETRIC }";
  EXPECT_EQ(Drawn(symmetric, {9, 3}).size(), 1);
  Refusal(symmetric, {8, 3});
  EXPECT_EQ(Drawn("pad { padding: 9 padding_mode: PADDING_MODE_EDGE }", {1, 1}).size(), 1);
}

}  // namespace
}  // namespace stoker
