#include "server/augment/image_plan.h"

#include <vector>

#include "gtest/gtest.h"

namespace stoker {
namespace {

using Ops = std::vector<OpParameters>;
using Kind = ColorParameters::Kind;

constexpr ImageSize kPhotograph = {100, 200};
constexpr CropParameters kPart = {10, 20, {30, 40}};

Region Needed(const Ops& ops) { return ImagePlan::Make(kPhotograph, ops, v1::JPEG_SCALING_K2).target().needed; }

TEST(ImagePlanTest, NeedsOnlyWhatTheCropsLeave) {
  const Region crop = {10, 20, {30, 40}};
  EXPECT_EQ(Needed({kPart}), crop);
  EXPECT_EQ(Needed({kPart, FlipParameters{}}), crop);
  EXPECT_EQ(Needed({kPart, CropParameters{5, 6, {7, 8}}}), (Region{15, 26, {7, 8}}));
  EXPECT_EQ(Needed({kPart, ResizeParameters{{9, 9}}, CropParameters{0, 0, {1, 1}}}), crop);
  EXPECT_EQ(Needed({CropParameters{-4, 190, {10, 20}}}), (Region{0, 190, {6, 10}}));
  EXPECT_EQ(Needed({FlipParameters{}, kPart}), (Region{10, 140, {30, 40}}));
  EXPECT_EQ(Needed({ColorParameters{Kind::kSaturation, 0.5}, kPart}), crop);
}

TEST(ImagePlanTest, NeedsWhatPaddingRepeats) {
  EXPECT_EQ(Needed({CropParameters{-5, 0, {3, 4}, {}, v1::PADDING_MODE_EDGE}}), (Region{0, 0, {1, 4}}));
  EXPECT_EQ(Needed({CropParameters{-5, 0, {3, 4}, {}, v1::PADDING_MODE_REFLECT}}), (Region{3, 0, {3, 4}}));
  EXPECT_EQ(Needed({CropParameters{-5, 0, {3, 4}, {}, v1::PADDING_MODE_SYMMETRIC}}), (Region{2, 0, {3, 4}}));
}

TEST(ImagePlanTest, SmoothingNeedsAHaloWithinTheImage) {
  EXPECT_EQ(Needed({BlurParameters{5, 3, 1.0}, kPart}), (Region{9, 18, {32, 44}}));
  EXPECT_EQ(Needed({SharpnessParameters{2}, kPart}), (Region{9, 19, {32, 42}}));
  EXPECT_EQ(Needed({BlurParameters{5, 3, 1.0}, CropParameters{0, 199, {1, 1}}}), (Region{0, 197, {2, 3}}));
}

TEST(ImagePlanTest, WhatLooksAtAllNeedsTheWholeImage) {
  AffineParameters shift;
  shift.matrix[2] = 1;
  EXPECT_EQ(Needed({}), WholeOf(kPhotograph));
  EXPECT_EQ(Needed({ResizeParameters{{9, 9}}, CropParameters{0, 0, {1, 1}}}), WholeOf(kPhotograph));
  for (const OpParameters& op : Ops{ColorParameters{Kind::kContrast, 0.5}, ColorParameters{Kind::kAutocontrast},
                                    ColorParameters{Kind::kEqualize}, shift, EraseParameters{0, 0, {1, 1}},
                                    MaskParameters{0.5}, NoiseParameters{0, 0.1}, RecompressParameters{50},
                                    MixedChainsParameters{}, PerspectiveParameters{}, ElasticParameters{20, 20}})
    EXPECT_EQ(Needed({op, kPart}), WholeOf(kPhotograph));
}

TEST(ImagePlanTest, WhatTakesMemoryForItselfCountsMore) {
  const auto peak = [](const OpParameters& op) {
    return ImagePlan::Make(kPhotograph, Ops{op}, v1::JPEG_SCALING_K2).peak_pixels();
  };
  const auto pixels = static_cast<uint64_t>(kPhotograph.height * kPhotograph.width);
  EXPECT_EQ(peak(NoiseParameters{0, 0.1}), pixels);
  EXPECT_EQ(peak(RecompressParameters{50}), 2 * pixels);
  EXPECT_EQ(peak(ElasticParameters{20, 20}), 2 * pixels);
  EXPECT_EQ(peak(MixedChainsParameters{}), 3 * pixels);
}

int Eighths(ImageSize crop, const ResizeParameters& resize, v1::JpegScaling scaling = v1::JPEG_SCALING_K2) {
  return ImagePlan::Make({5000, 5000}, Ops{CropParameters{7, 9, crop}, resize}, scaling).target().eighths;
}

TEST(ImagePlanTest, DecodesAtTheLeastSizeThatLeavesKTimesThePixelsWanted) {
  const ResizeParameters to = {{100, 50}};
  EXPECT_EQ(Eighths({399, 4000}, to), 8);
  EXPECT_EQ(Eighths({400, 200}, to), 4);
  EXPECT_EQ(Eighths({4000, 199}, to), 8);
  EXPECT_EQ(Eighths({800, 400}, to), 2);
  EXPECT_EQ(Eighths({1600, 800}, to), 1);
  EXPECT_EQ(Eighths({200, 100}, to, v1::JPEG_SCALING_K1), 4);
  EXPECT_EQ(Eighths({199, 100}, to, v1::JPEG_SCALING_K1), 8);
  EXPECT_EQ(Eighths({4000, 4000}, to, v1::JPEG_SCALING_EXACT), 8);
}

TEST(ImagePlanTest, DecodesAtFullSizeUnlessAnAntialiasedResizeComesFirst) {
  EXPECT_EQ(Eighths({4000, 4000}, {{10, 10}, v1::INTERPOLATION_NEAREST}), 8);
  EXPECT_EQ(Eighths({4000, 4000}, {{10, 10}, v1::INTERPOLATION_BILINEAR, false}), 8);
  EXPECT_EQ(Eighths({4000, 4000}, {{10, 10}, v1::INTERPOLATION_BICUBIC}), 1);
  EXPECT_EQ(Eighths({4000, 4000}, {{10, 10}, v1::INTERPOLATION_LANCZOS}), 1);
  const auto eighths = [](const Ops& ops) {
    return ImagePlan::Make({4000, 4000}, ops, v1::JPEG_SCALING_K2).target().eighths;
  };
  const ResizeParameters small = {{10, 10}};
  EXPECT_EQ(eighths({small}), 1);
  EXPECT_EQ(eighths({CropParameters{-1, 0, {3000, 3000}}, small}), 8);
  EXPECT_EQ(eighths({BlurParameters{}, small}), 8);
  EXPECT_EQ(eighths({ColorParameters{Kind::kInvert}, small}), 8);
  EXPECT_EQ(eighths({}), 8);
}

TEST(ImagePlanTest, PeaksWhereASizeIsLargest) {
  const auto peak = [](const Ops& ops) { return ImagePlan::Make(kPhotograph, ops, v1::JPEG_SCALING_K2).peak_pixels(); };
  EXPECT_EQ(peak({kPart}), 30 * 40);
  EXPECT_EQ(peak({ResizeParameters{{400, 300}}, ResizeParameters{{5, 5}}}), 400 * 300);
  EXPECT_EQ(peak({ResizeParameters{{5, 300}}}), 100 * 300);  // Between the passes.
}

}  // namespace
}  // namespace stoker
