#include "common/pipeline/ops.h"

#include <algorithm>
#include <cmath>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

v1::Op Parse(const std::string& text) {
  v1::Op op;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &op)) << text;
  return op;
}

std::vector<OpParameters> Drawn(const v1::Op& op, ImageSize size, uint64_t position = 0) {
  std::vector<OpParameters> parameters;
  const auto status = DrawOp(op, Draws({.seed = 1, .position = position}), size, parameters);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(!OutputSize(op, size).has_value() || *OutputSize(op, size) == size);
  return parameters;
}

TEST(OpsTest, RefusesArgumentsByName) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "no op, or one that this build does not know"},
      {"random_resized_crop {}", "RandomResizedCrop.size: give one number or height and width; found 0 numbers"},
      {"random_resized_crop { size: -3 }", "RandomResizedCrop.size: -3 is not between 1 and 16384"},
      {"random_resized_crop { size: 8 scale: 0.5 }", "RandomResizedCrop.scale: give two numbers, from and to; found 1"},
      {"random_resized_crop { size: 8 scale: 0.5 scale: 2 }",
       "RandomResizedCrop.scale: [0.5, 2] is not an ascending range above 0 and up to 1"},
      {"resize { size: 8 size: 8 max_size: 9 }", "Resize.max_size: needs a size of one number, the shorter side"},
      {"resize { size: 8 max_size: 8 }", "Resize.max_size: 8 is not above size 8 and up to 16384"},
      {"random_crop { size: 8 padding: [1, 2, 3] }", "RandomCrop.padding: give 1, 2 or 4 numbers; found 3"},
      {"random_crop { size: 8 fill: 256 }", "RandomCrop.fill: 256 is not between 0 and 255"},
      {"random_horizontal_flip { p: 1.5 }", "RandomHorizontalFlip.p: 1.5 is not a probability"},
      {"to_dtype { dtype: DTYPE_INT32 }", "ToDtype.dtype: must be float32 or uint8"},
      {"normalize { mean: 0 std: [1, 0, 1] }", "Normalize.std: 0 is not above 0"},
      {"normalize { mean: [0, 0] std: 1 }", "Normalize.mean: give one number or one a channel (3); found 2"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(ValidateOp(Parse(text)).message(), message) << text;
}

TEST(OpsTest, DefaultsWrittenOutAreEqualOps) {
  EXPECT_EQ(
      WithDefaults(Parse("random_resized_crop { size: 224 }")).SerializeAsString(),
      WithDefaults(Parse("placement: PLACEMENT_SERVER random_resized_crop { size: [224, 224] scale: [0.08, 1] "
                         "ratio: [0.75, 1.3333333333333333] interpolation: INTERPOLATION_BILINEAR antialias: true }"))
          .SerializeAsString());
}

// torchvision 0.29's figures for the same calls.
TEST(OpsTest, ResizeToTheShorterSideKeepsTheRatio) {
  EXPECT_EQ(OutputSize(Parse("resize { size: 256 }"), ImageSize{375, 500}), (ImageSize{256, 341}));
  EXPECT_EQ(OutputSize(Parse("resize { size: 256 }"), ImageSize{500, 375}), (ImageSize{341, 256}));
  EXPECT_EQ(OutputSize(Parse("resize { size: 256 max_size: 300 }"), ImageSize{375, 500}), (ImageSize{225, 300}));
  EXPECT_EQ(OutputSize(Parse("resize { size: 256 }"), std::nullopt), std::nullopt);
}

TEST(OpsTest, CenterCropRoundsHalvesToEvenAsPythonDoes) {
  auto crop = [](int64_t height, int64_t width) {
    return std::get<CropParameters>(Drawn(Parse("center_crop { size: 4 }"), {height, width}).at(0));
  };
  EXPECT_EQ(crop(7, 9), (CropParameters{.top = 2, .left = 2, .size = {4, 4}}));  // 1.5 → 2, 2.5 → 2
  EXPECT_EQ(crop(2, 10), (CropParameters{.top = -1, .left = 3, .size = {4, 4}}));
  EXPECT_EQ(crop(1, 4), (CropParameters{.top = -1, .left = 0, .size = {4, 4}}));  // 1 above, 2 below
}

TEST(OpsTest, AnOpThatChangesNothingDrawsNothing) {
  EXPECT_THAT(Drawn(Parse("center_crop { size: 4 }"), {4, 4}), testing::IsEmpty());
  EXPECT_THAT(Drawn(Parse("resize { size: 4 }"), {4, 4}), testing::IsEmpty());
}

TEST(OpsTest, RandomCropStaysWithinThePaddedImage) {
  int64_t top = 100, bottom = -100, left = 100, right = -100;
  for (uint64_t position = 0; position < 2000; ++position) {
    const auto crop = std::get<CropParameters>(
        Drawn(Parse("random_crop { size: 4 padding: [1, 2, 3, 4] fill: [9, 8, 7] }"), {6, 5}, position).at(0));
    EXPECT_EQ(crop.fill, (std::array<uint8_t, 3>{9, 8, 7}));
    top = std::min(top, crop.top), bottom = std::max(bottom, crop.top);
    left = std::min(left, crop.left), right = std::max(right, crop.left);
  }
  EXPECT_EQ(top, -2);
  EXPECT_EQ(bottom, 6 + 4 - 4);
  EXPECT_EQ(left, -1);
  EXPECT_EQ(right, 5 + 3 - 4);
}

TEST(OpsTest, RandomCropPadsSmallImagesOnlyIfTold) {
  ImageSize size = {3, 10};
  std::vector<OpParameters> parameters;
  const auto refused = DrawOp(Parse("random_crop { size: 4 }"), Draws({}), size, parameters);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), testing::HasSubstr("RandomCrop.size: an image of 10×3"));
  // torchvision pads both sides by what is missing, then draws.
  int64_t top = 100, bottom = -100;
  for (uint64_t position = 0; position < 200; ++position) {
    const auto crop =
        std::get<CropParameters>(Drawn(Parse("random_crop { size: 4 pad_if_needed: true }"), {3, 10}, position).at(0));
    top = std::min(top, crop.top), bottom = std::max(bottom, crop.top);
  }
  EXPECT_EQ(top, -1);
  EXPECT_EQ(bottom, 0);
}

TEST(OpsTest, RandomResizedCropDrawsAreaUniformlyAndRatioLogUniformly) {
  const v1::Op op = Parse("random_resized_crop { size: 8 scale: [0.1, 0.5] ratio: [0.5, 2] }");
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

TEST(OpsTest, RandomResizedCropFallsBackToTheCenterOfTheNearestRatio) {
  const v1::Op op = Parse("random_resized_crop { size: 8 scale: [1, 1] ratio: [1, 1] }");
  const auto crop = std::get<CropParameters>(Drawn(op, {100, 400}).at(0));
  EXPECT_EQ(crop, (CropParameters{.top = 0, .left = 150, .size = {100, 100}}));
}

TEST(OpsTest, FlipsHappenWithTheirProbability) {
  int flips = 0;
  for (uint64_t position = 0; position < 10'000; ++position)
    flips += Drawn(Parse("random_vertical_flip { p: 0.25 }"), {4, 4}, position).size();
  EXPECT_NEAR(flips, 2500, 217);  // Five standard deviations.
}

}  // namespace
}  // namespace stoker
