// RandomIoUCrop. tests/python/test_points.py compares what it draws with what torchvision's draws.

#include "common/ops/iou_crop.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "common/ops/ops.h"
#include "common/ops/sample_boxes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/common/ops/drawn_ops.h"

namespace stoker {
namespace {

constexpr ImageSize kCanvas = {80, 100};

// Boxes that no op moves. It keeps how many parameters had been drawn when it was asked.
class FixedBoxes : public SampleBoxes {
 public:
  explicit FixedBoxes(std::vector<BoxSides> boxes) : boxes_(std::move(boxes)) {}

  std::vector<BoxSides> After(std::span<const OpParameters> ops) const override {
    drawn_before_ = ops.size();
    return boxes_;
  }
  size_t drawn_before() const { return drawn_before_; }

 private:
  const std::vector<BoxSides> boxes_;
  mutable size_t drawn_before_ = 0;
};

const BoxSides kSmallBox = {10, 10, 30, 40}, kLargeBox = {20, 0, 90, 70};

// What the op draws; a crop at most.
std::vector<OpParameters> DrawnBy(const std::string& op, const SampleBoxes& boxes, uint64_t position) {
  ImageSize size = kCanvas;
  std::vector<OpParameters> drawn;
  EXPECT_TRUE(ValidateOp(ParseOp(op)).ok()) << ValidateOp(ParseOp(op));
  EXPECT_TRUE(DrawOp(ParseOp(op), {.seed = 1, .position = position}, size, drawn, &boxes).ok());
  EXPECT_LE(drawn.size(), 1);
  EXPECT_EQ(size, drawn.empty() ? kCanvas : std::get<CropParameters>(drawn[0]).size);
  return drawn;
}

BoxSides SidesOf(const OpParameters& drawn) {
  const auto& crop = std::get<CropParameters>(drawn);
  return {static_cast<double>(crop.left), static_cast<double>(crop.top),
          static_cast<double>(crop.left + crop.size.width), static_cast<double>(crop.top + crop.size.height)};
}

bool HasCenter(const BoxSides& crop, const BoxSides& box) {
  const double x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  return x > crop.left && x < crop.right && y > crop.top && y < crop.bottom;
}

double Overlap(const BoxSides& a, const BoxSides& b) {
  const auto area = [](const BoxSides& box) { return (box.right - box.left) * (box.bottom - box.top); };
  const BoxSides both = {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
                         std::min(a.bottom, b.bottom)};
  if (both.left >= both.right || both.top >= both.bottom) return 0;
  return area(both) / (area(a) + area(b) - area(both));
}

TEST(RandomIoUCropTest, ACropMeetsTheOverlapThatWasDrawn) {
  const FixedBoxes boxes({kSmallBox, kLargeBox});
  for (const double least : {0.0, 0.1, 0.3, 0.5, 0.7, 0.9}) {
    int found = 0;
    for (uint64_t position = 0; position < 300; ++position) {
      const auto drawn = DrawnBy(absl::StrCat("random_iou_crop { sampler_options: ", least, " }"), boxes, position);
      if (drawn.empty()) continue;  // No crop was found.
      const BoxSides crop = SidesOf(drawn[0]);
      const bool small = HasCenter(crop, kSmallBox) && Overlap(crop, kSmallBox) >= least;
      const bool large = HasCenter(crop, kLargeBox) && Overlap(crop, kLargeBox) >= least;
      EXPECT_TRUE(small || large) << least << " at " << position;
      ++found;
    }
    EXPECT_GE(found, least < 0.9 ? 290 : 200) << least;
  }
}

TEST(RandomIoUCropTest, SidesAndRatioAreWithinTheirBounds) {
  const FixedBoxes boxes({kLargeBox});
  const std::string op =
      "random_iou_crop { min_scale: 0.5 max_scale: 0.8 min_aspect_ratio: 1 max_aspect_ratio: 1.3 sampler_options: 0 }";
  for (uint64_t position = 0; position < 500; ++position) {
    const auto drawn = DrawnBy(op, boxes, position);
    ASSERT_FALSE(drawn.empty());
    const auto& crop = std::get<CropParameters>(drawn[0]);
    const auto width = static_cast<double>(crop.size.width), height = static_cast<double>(crop.size.height);
    EXPECT_TRUE(width >= 50 && width < 80 && height >= 40 && height < 64) << width << "×" << height;
    EXPECT_TRUE(width / height >= 1 && width / height <= 1.3) << width << "×" << height;
    EXPECT_TRUE(crop.left >= 0 && crop.top >= 0 && crop.left + width <= 100 && crop.top + height <= 80);
    EXPECT_TRUE(crop.leaves_out_boxes);
  }
}

// An overlap of 1 is one of two, and every first crop with the box's center in it does for the other.
TEST(RandomIoUCropTest, FromAnOverlapOfOneOnTheImageStaysWhole) {
  const FixedBoxes boxes({{40, 30, 60, 50}});
  int whole = 0;
  for (uint64_t position = 0; position < 2000; ++position)
    whole += DrawnBy("random_iou_crop { sampler_options: [ 0, 7 ] }", boxes, position).empty();
  EXPECT_NEAR(whole, 1000, 4 * std::sqrt(2000 * 0.25));
}

TEST(RandomIoUCropTest, AnImageWithoutBoxesStaysWhole) {
  const FixedBoxes none({});
  for (uint64_t position = 0; position < 20; ++position)
    EXPECT_TRUE(DrawnBy("random_iou_crop { sampler_options: 0 }", none, position).empty());
}

// No crop has the centers of these, and without a bound drawing would not end.
TEST(RandomIoUCropTest, WhatCannotBeFoundIsGivenUp) {
  const FixedBoxes boxes({{0, 0, 0, 0}, {100, 80, 100, 80}, {std::numeric_limits<double>::quiet_NaN(), 0, 9, 9}});
  EXPECT_TRUE(DrawnBy("random_iou_crop { sampler_options: 0 }", boxes, 3).empty());
  const FixedBoxes box({kSmallBox});
  EXPECT_TRUE(
      DrawnBy("random_iou_crop { sampler_options: 0 min_aspect_ratio: 900 max_aspect_ratio: 1000 }", box, 3).empty());
}

TEST(RandomIoUCropTest, ACropOfTheWholeImageStillLeavesOutBoxes) {
  const FixedBoxes boxes({kSmallBox});
  const auto drawn = DrawnBy("random_iou_crop { min_scale: 1 sampler_options: 0 }", boxes, 5);
  ASSERT_EQ(drawn.size(), 1);
  EXPECT_EQ(std::get<CropParameters>(drawn[0]).size, kCanvas);
}

TEST(RandomIoUCropTest, BoxesAreAskedForWhereTheOpsBeforeHaveMovedThem) {
  const FixedBoxes boxes({{5, 5, 20, 20}});
  ImageSize size = kCanvas;
  std::vector<OpParameters> drawn;
  const v1::Op op = ParseOp(
      "random_apply { p: 1 transforms { center_crop { size: 40 } } transforms { random_horizontal_flip { p: 1 } } "
      "transforms { random_iou_crop { sampler_options: 0 } } }");
  ASSERT_TRUE(ValidateOp(op).ok()) << ValidateOp(op);
  ASSERT_TRUE(DrawOp(op, {.seed = 1}, size, drawn, &boxes).ok());
  EXPECT_EQ(boxes.drawn_before(), 2);
  ASSERT_EQ(drawn.size(), 3);
  EXPECT_TRUE(std::get<CropParameters>(drawn[2]).size.width <= 40);
}

TEST(RandomIoUCropTest, TrialsAndBoxesCost) {
  const auto cost = [](int trials, double boxes) {
    v1::RandomIoUCrop op;
    op.set_trials(trials);
    return CostOfDrawing(op, boxes).arithmetic;
  };
  EXPECT_EQ(cost(80, 10), 2 * cost(40, 10));
  EXPECT_GT(cost(40, 1000), 50 * cost(40, 10));
}

}  // namespace
}  // namespace stoker
