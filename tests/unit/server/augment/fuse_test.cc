#include "server/augment/fuse.h"

#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Ops = std::vector<OpParameters>;
using Axis = FlipParameters::Axis;
using Kind = ColorParameters::Kind;

constexpr ImageSize kSize = {100, 200};
constexpr CropParameters kCrop = {10, 20, {30, 40}};
constexpr ResizeParameters kResize = {{9, 8}};
constexpr FlipParameters kFlip = {Axis::kHorizontal};
constexpr ColorParameters kBrightness = {Kind::kBrightness, 0.5}, kContrast = {Kind::kContrast, 0.5};
constexpr BlurParameters kBlur = {5, 3, 1.0};

// The ops of each step.
std::vector<std::vector<int>> Merges(const Ops& ops, ImageSize size = kSize) {
  std::vector<std::vector<int>> merges;
  for (const Step& step : Fuse(size, ops).steps) merges.push_back(step.ops);
  return merges;
}

Geometry FirstGeometry(const Ops& ops) { return std::get<Geometry>(Fuse(kSize, ops).steps.front().action); }

TEST(FuseTest, CropResizeAndFlipsAreOneStep) {
  const Ops ops = {kCrop, kResize, kFlip, FlipParameters{Axis::kVertical}};
  EXPECT_THAT(Merges(ops), ElementsAre(ElementsAre(0, 1, 2, 3)));
  const Geometry geometry = FirstGeometry(ops);
  EXPECT_EQ(geometry.crop, kCrop);
  EXPECT_EQ(geometry.resize, kResize);
  EXPECT_TRUE(geometry.flip_horizontal && geometry.flip_vertical);
}

TEST(FuseTest, FlipsPassColorOpsOnTheirWayToTheResize) {
  EXPECT_THAT(Merges({kCrop, kResize, kContrast, kBrightness, kFlip}),
              ElementsAre(ElementsAre(0, 1, 4), ElementsAre(2, 3)));
}

TEST(FuseTest, TheDefaultAugmentationOfSimClrIsThreeSteps) {
  EXPECT_THAT(Merges({kCrop, kResize, kFlip, kBrightness, kContrast, ColorParameters{Kind::kGrayscale}, kBlur}),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5), ElementsAre(6)));
}

TEST(FuseTest, AFlipBeforeAResizeStaysThere) {
  EXPECT_THAT(Merges({kFlip, kResize}), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(FuseTest, CropsOfCropsAreOneCrop) {
  const Ops ops = {kCrop, CropParameters{5, 6, {7, 8}}};
  EXPECT_THAT(Merges(ops), ElementsAre(ElementsAre(0, 1)));
  EXPECT_EQ(FirstGeometry(ops).crop, (CropParameters{15, 26, {7, 8}}));
}

TEST(FuseTest, ACropOfAMirrorImageIsTakenFromTheOtherSide) {
  const Ops ops = {kFlip, kCrop};
  EXPECT_THAT(Merges(ops), ElementsAre(ElementsAre(0, 1)));
  EXPECT_EQ(FirstGeometry(ops).crop, (CropParameters{10, 200 - 20 - 40, {30, 40}}));
  EXPECT_TRUE(FirstGeometry(ops).flip_horizontal);
}

TEST(FuseTest, CropsMergeWithPaddingOnlyWhereNoPixelIsLost) {
  const CropParameters pad = {-4, -4, {108, 208}, {1, 2, 3}}, beyond = {-9, 0, {50, 50}, {1, 2, 3}};
  CropParameters other_fill = beyond;
  other_fill.fill = {9, 9, 9};
  EXPECT_THAT(Merges({pad, CropParameters{0, 0, {100, 100}}}), ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(Merges({pad, beyond}), ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(Merges({pad, other_fill}), ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(Merges({kCrop, beyond}), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(FuseTest, PaddingIsNotResizedFromTheImage) {
  EXPECT_THAT(Merges({CropParameters{-4, -4, {108, 208}}, kResize}), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(FuseTest, CropsGoBeforeOpsOnSinglePixels) {
  EXPECT_THAT(Merges({kBrightness, kCrop}), ElementsAre(ElementsAre(1), ElementsAre(0)));
  EXPECT_THAT(Merges({kCrop, kBrightness, kCrop}, {400, 400}).front(), ElementsAre(0));
  EXPECT_THAT(Merges({kCrop, kBrightness, CropParameters{1, 1, {5, 5}}}),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
}

TEST(FuseTest, CropsStayAfterOpsThatLookAtTheWholeImage) {
  EXPECT_THAT(Merges({kContrast, kBrightness, kCrop}),
              ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(2), ElementsAre(1)));
}

TEST(FuseTest, PaddingIsNotColored) {
  EXPECT_THAT(Merges({kBrightness, CropParameters{-4, -4, {108, 208}}}),
              ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(1)));
  const CropParameters edge = {-4, -4, {108, 208}, {}, v1::PADDING_MODE_EDGE};
  EXPECT_THAT(Merges({kBrightness, edge}), ElementsAre(ElementsAre(1), ElementsAre(0)));
}

TEST(FuseTest, WhatIsUndoneIsLeftOut) {
  EXPECT_THAT(Fuse(kSize, Ops{kFlip, kBrightness, kFlip}).undone, ElementsAre(0, 2));
  EXPECT_THAT(Merges({kFlip, kBrightness, kFlip}), ElementsAre(IsEmpty(), ElementsAre(1)));
  const CropParameters pad = {-4, -4, {108, 208}}, back = {4, 4, kSize};
  EXPECT_THAT(Fuse(kSize, Ops{pad, back, kBlur}).undone, ElementsAre(0, 1));
}

TEST(FuseTest, EachStepTakesTheSizeThatTheOneBeforeItMade) {
  const auto steps =
      Fuse(kSize, Ops{kBrightness, kCrop, kResize, kContrast, kFlip, kBlur, CropParameters{1, 1, {5, 5}}}).steps;
  ImageSize size = kSize;
  for (const Step& step : steps) {
    EXPECT_EQ(step.in, size);
    size = step.out;
  }
  EXPECT_EQ(size, (ImageSize{5, 5}));
}

}  // namespace
}  // namespace stoker
