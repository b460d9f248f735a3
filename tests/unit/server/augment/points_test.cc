// Where boxes and keypoints go. tests/python/test_points.py compares with torchvision itself.

#include "server/augment/points.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/ops/affine_matrix.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/augment/elastic.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Numbers = std::vector<float>;
using Ops = std::vector<OpParameters>;

constexpr ImageSize kImage = {80, 100};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

const FlipParameters kAcross = {FlipParameters::Axis::kHorizontal};
const FlipParameters kDown = {FlipParameters::Axis::kVertical};

constexpr v1::BoxFormat kFormats[] = {v1::BOX_FORMAT_XYXY, v1::BOX_FORMAT_XYWH, v1::BOX_FORMAT_CXCYWH};

Numbers Boxes(const Ops& ops, Numbers boxes, v1::BoxFormat format = v1::BOX_FORMAT_XYXY) {
  MovePoints(ops, kImage, v1::FIELD_KIND_BOXES, format, boxes);
  return boxes;
}

Numbers Keypoints(const Ops& ops, Numbers points) {
  MovePoints(ops, kImage, v1::FIELD_KIND_KEYPOINTS, v1::BOX_FORMAT_UNSPECIFIED, points);
  return points;
}

// The box with these sides. Exact for halves.
Numbers InFormat(const Numbers& box, v1::BoxFormat format) {
  const float x = box[0], y = box[1], width = box[2] - x, height = box[3] - y;
  switch (format) {
    case v1::BOX_FORMAT_XYWH: return {x, y, width, height};
    case v1::BOX_FORMAT_CXCYWH: return {x + width / 2, y + height / 2, width, height};
    default: return box;
  }
}

AffineParameters Affine(const AffineMap& matrix) { return {.matrix = matrix}; }

struct Case {
  std::string name;
  OpParameters op;
  Numbers box, keypoint;  // Where the box 10, 20, 40, 60 and the point 10, 20 go.
};

// All figures are of an image of 100×80.
const Case kCases[] = {
    {"a crop within", CropParameters{5, 8, {70, 60}}, {2, 15, 32, 55}, {2, 15}},
    {"a crop that cuts", CropParameters{30, 20, {20, 10}}, {0, 0, 10, 20}, {-10, -10}},
    {"a crop that leaves the box behind", CropParameters{0, 50, {80, 50}}, {0, 20, 0, 60}, {-40, 20}},
    {"a padding", CropParameters{-3, -4, {90, 110}}, {14, 23, 44, 63}, {14, 23}},
    {"a mirroring padding",
     CropParameters{-3, -4, {90, 110}, {0, 0, 0}, v1::PADDING_MODE_REFLECT},
     {14, 23, 44, 63},
     {14, 23}},
    {"a resize", ResizeParameters{{160, 50}}, {5, 40, 20, 120}, {5, 40}},
    {"a flip across", kAcross, {60, 20, 90, 60}, {89, 20}},
    {"a flip down", kDown, {10, 20, 40, 60}, {10, 59}},
    // Output pixels show what is 5 to their right and 10 above: all moves by 5 to the left and 10 down.
    {"a shift", Affine({1, 0, 5, 0, 1, -10}), {5, 30, 35, 70}, {5, 30}},
    {"a shift that cuts", Affine({1, 0, 25, 0, 1, -40}), {0, 60, 15, 80}, {-15, 60}},
    {"twice the size", Affine({0.5, 0, 0, 0, 0.5, 0}), {20, 40, 80, 80}, {20, 40}},
    // Output (x, y) shows the input at (x + y, y), so that (x, y) goes to (x − y, y).
    {"a shear", Affine({1, 1, 0, 0, 1, 0}), {0, 20, 20, 60}, {-10, 20}},
    {"colors", ColorParameters{ColorParameters::Kind::kInvert}, {10, 20, 40, 60}, {10, 20}},
    {"a blur", BlurParameters{}, {10, 20, 40, 60}, {10, 20}},
    {"a sharpening", SharpnessParameters{2}, {10, 20, 40, 60}, {10, 20}},
    {"an erasing", EraseParameters{10, 10, {20, 20}}, {10, 20, 40, 60}, {10, 20}},
    {"noise", NoiseParameters{0, 0.1, {}}, {10, 20, 40, 60}, {10, 20}},
    {"a JPEG", RecompressParameters{50}, {10, 20, 40, 60}, {10, 20}},
    {"a mix", MixedChainsParameters{}, {10, 20, 40, 60}, {10, 20}},
    {"a mask", MaskParameters{0.5, true, {}}, {10, 20, 40, 60}, {10, 20}},
};

TEST(MovePointsTest, ABoxGoesWhereItsOpSaysInEveryFormat) {
  for (const Case& c : kCases)
    for (const v1::BoxFormat format : kFormats)
      EXPECT_EQ(Boxes({c.op}, InFormat({10, 20, 40, 60}, format), format), InFormat(c.box, format))
          << c.name << ", " << v1::BoxFormat_Name(format);
}

TEST(MovePointsTest, AKeypointGoesWhereItsOpSaysAndIsNeverCut) {
  for (const Case& c : kCases) EXPECT_EQ(Keypoints({c.op}, {10, 20}), c.keypoint) << c.name;
}

TEST(MovePointsTest, AnUnspecifiedFormatIsXyxy) {
  EXPECT_THAT(Boxes({kAcross}, {10, 20, 40, 60}, v1::BOX_FORMAT_UNSPECIFIED), ElementsAre(60, 20, 90, 60));
}

// Counter-clockwise about (50, 40): what is right of the center comes to lie above it.
TEST(MovePointsTest, ATurnGoesWithTheImage) {
  const AffineParameters turn = Affine(RotationMatrix(90, kImage));
  EXPECT_THAT(Keypoints({turn}, {60, 40, 50, 30}), ElementsAre(50, 30, 40, 40));
  EXPECT_THAT(Boxes({turn}, {60, 40, 70, 60}), ElementsAre(50, 20, 70, 30));
}

// torchvision's figures for these coefficients.
TEST(MovePointsTest, APerspectiveTakesTheCornersAlong) {
  const PerspectiveParameters perspective = {{0.9, 0.1, -1.5, 0.05, 1.1, 0.5, 0.001, -0.002}};
  const Numbers box = Boxes({perspective}, {10, 20, 40, 60}), point = Keypoints({perspective}, {10, 20});
  const float expected[] = {6.3385465F, 15.923077F, 44.923073F, 49.081829F};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(box[i], expected[i], 1e-5);
  EXPECT_NEAR(point[0], 10.652819F, 1e-5);
  EXPECT_NEAR(point[1], 16.824926F, 1e-5);
}

TEST(MovePointsTest, AnElasticMoveTakesPointsAlongTheirDisplacements) {
  const ElasticParameters elastic = {
      .length_across = 30, .length_down = 20, .sigma_across = 3, .sigma_down = 4, .key = {.seed = 5}};
  const Displacements displacements(elastic, kImage);
  const auto moved = [&](float x, float y, int64_t at_x, int64_t at_y) {
    return Numbers{x - displacements.Across(at_y, at_x), y - displacements.Down(at_y, at_x)};
  };
  EXPECT_EQ(Keypoints({elastic}, {10, 20}), moved(10, 20, 10, 20));
  EXPECT_EQ(Keypoints({elastic}, {10.25, 20.5}), moved(10.25, 20.5, 10, 20));
  EXPECT_EQ(Keypoints({elastic}, {-3, 90}), moved(-3, 90, 0, 79));  // Points outside move as the border does.
  const Numbers box = Boxes({elastic}, {29.5, 19.25, 60, 50});      // torchvision rounds corners up, but not keypoints.
  Numbers corners;
  for (const auto& [x, y] : {std::pair{29.5F, 19.25F}, {60, 19.25F}, {60, 50}, {29.5F, 50}})
    for (float number : moved(x, y, std::lround(std::ceil(x)), std::lround(std::ceil(y)))) corners.push_back(number);
  EXPECT_EQ(box[0], std::min(corners[0], corners[6]));
  EXPECT_EQ(box[1], std::min(corners[1], corners[3]));
  EXPECT_EQ(box[2], std::max(corners[2], corners[4]));
  EXPECT_EQ(box[3], std::max(corners[5], corners[7]));
  EXPECT_TRUE(std::isnan(Keypoints({elastic}, {kNaN, 1})[0]));
}

TEST(MovePointsTest, ATurnedBoxIsTheSmallestUprightOneAroundItsCorners) {
  const Numbers box = Boxes({Affine(RotationMatrix(45, kImage))}, {40, 30, 60, 50});
  const float half = std::sqrt(200.0F);
  const float expected[] = {50 - half, 40 - half, 50 + half, 40 + half};
  for (int i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(box[i], expected[i]);
}

TEST(MovePointsTest, RowsAreMovedOneByOne) {
  EXPECT_THAT(Boxes({kAcross}, {0, 0, 1, 1, 10, 20, 40, 60, 99, 79, 100, 80}),
              ElementsAre(99, 0, 100, 1, 60, 20, 90, 60, 0, 79, 1, 80));
  EXPECT_THAT(Keypoints({kDown}, {0, 0, 1, 2, 99, 79}), ElementsAre(0, 79, 1, 77, 99, 0));
}

TEST(MovePointsTest, AFieldWithoutRowsStaysEmpty) {
  EXPECT_THAT(Boxes({kAcross}, {}), IsEmpty());
  EXPECT_THAT(Keypoints({kAcross}, {}), IsEmpty());
}

// ---- Several ops ----

TEST(MovePointsTest, EveryOpFindsTheSizeThatTheOneBeforeItMade) {
  const Ops ops = {CropParameters{10, 20, {40, 50}}, kAcross, ResizeParameters{{80, 200}}, kDown};
  // 20, 30, 60, 50 → 0, 20, 40, 40 → 10, 20, 50, 40 → 40, 40, 200, 80 → 40, 0, 200, 40.
  EXPECT_THAT(Boxes(ops, {20, 30, 60, 50}), ElementsAre(40, 0, 200, 40));
  // 20, 30 → 0, 20 → 49, 20 → 196, 40 → 196, 39.
  EXPECT_THAT(Keypoints(ops, {20, 30}), ElementsAre(196, 39));
}

TEST(MovePointsTest, ABoxIsCutByEveryOpAndAKeypointComesBack) {
  const Ops away_and_back = {CropParameters{0, 50, {80, 50}}, CropParameters{0, -50, {80, 100}}};
  EXPECT_THAT(Boxes(away_and_back, {10, 20, 70, 60}), ElementsAre(50, 20, 70, 60));
  EXPECT_THAT(Keypoints(away_and_back, {10, 20}), ElementsAre(10, 20));
}

// Thirds are no float32, and rounded after each of these ops they would not come back.
TEST(MovePointsTest, NumbersAreRoundedOnceAfterAllOps) {
  Ops ops;
  for (int i = 0; i < 20; ++i) {
    ops.push_back(ResizeParameters{{27, 33}});
    ops.push_back(ResizeParameters{kImage});
  }
  EXPECT_THAT(Boxes(ops, {10.1F, 20.2F, 40.3F, 60.4F}), ElementsAre(10.1F, 20.2F, 40.3F, 60.4F));
  EXPECT_THAT(Keypoints(ops, {10.1F, 20.2F}), ElementsAre(10.1F, 20.2F));
}

TEST(MovePointsTest, TheSameBitsComeOutEverywhere) {
  const AffineMap matrix = AffineMatrix({.degrees = 33, .shift_x = 1.5, .scale = 1.3, .shear_x = 7}, kImage);
  const Ops ops = {Affine(matrix), CropParameters{3, 5, {61, 83}}, ResizeParameters{{224, 224}}};
  std::vector<uint32_t> bits;
  for (float number : Boxes(ops, {33.3F, 25.7F, 61.9F, 57.1F})) bits.push_back(std::bit_cast<uint32_t>(number));
  for (float number : Keypoints(ops, {33.3F, 25.7F})) bits.push_back(std::bit_cast<uint32_t>(number));
  EXPECT_THAT(bits, ElementsAre(0x42160279, 0x421f0cc7, 0x43410000, 0x43600000, 0x42d9b18d, 0x421f0cc7));
}

// ---- Boxes that are no boxes ----

TEST(MovePointsTest, ABoxIsCutToItsImageEvenWithoutOps) {
  EXPECT_THAT(Boxes({}, {-5, -6, 105, 86}), ElementsAre(0, 0, 100, 80));
  EXPECT_THAT(Boxes({}, {-5, -6, 20, 20}, v1::BOX_FORMAT_XYWH), ElementsAre(0, 0, 15, 14));
  EXPECT_THAT(Boxes({}, {100, 80, 20, 10}, v1::BOX_FORMAT_CXCYWH), ElementsAre(95, 77.5, 10, 5));
  EXPECT_THAT(Boxes({kAcross}, {-5, 10, 20, 30}), ElementsAre(80, 10, 100, 30));
  EXPECT_THAT(Keypoints({}, {-5, 86}), ElementsAre(-5, 86));
}

// A crop of the whole image is left out where ops are drawn, so a box must not depend on whether it is there.
TEST(MovePointsTest, ACropOfTheWholeImageChangesNothing) {
  const CropParameters whole = {0, 0, kImage};
  const Ops pad = {CropParameters{-10, -10, {100, 120}}};
  for (const Numbers& box : {Numbers{-5, -6, 105, 86}, Numbers{10, 20, 40, 60}}) {
    EXPECT_EQ(Boxes({whole}, box), Boxes({}, box));
    EXPECT_EQ(Boxes({whole, pad[0]}, box), Boxes(pad, box));
  }
}

TEST(MovePointsTest, DegenerateBoxesStayWhatTheyAre) {
  EXPECT_THAT(Boxes({kAcross}, {30, 20, 30, 20}), ElementsAre(70, 20, 70, 20));
  EXPECT_THAT(Boxes({kAcross}, {40, 60, 10, 20}), ElementsAre(90, 60, 60, 20));
  EXPECT_THAT(Boxes({ResizeParameters{{40, 50}}}, {40, 60, -8, 0}, v1::BOX_FORMAT_XYWH), ElementsAre(20, 30, -4, 0));
}

TEST(MovePointsTest, InfiniteSidesAreCutAndInfinitePointsStayAway) {
  EXPECT_THAT(Boxes({kAcross}, {-kInfinity, 10, kInfinity, 20}), ElementsAre(0, 10, 100, 20));
  EXPECT_THAT(Keypoints({kAcross}, {kInfinity, 20, -kInfinity, 20}), ElementsAre(-kInfinity, 20, kInfinity, 20));
}

TEST(MovePointsTest, WhatIsBeyondFloatsIsInfinite) {
  const float most = std::numeric_limits<float>::max();
  EXPECT_THAT(Keypoints({ResizeParameters{{160, 200}}}, {most, -most}), ElementsAre(kInfinity, -kInfinity));
  EXPECT_THAT(Keypoints({kAcross}, {most, 0}), ElementsAre(-most, 0));
  EXPECT_THAT(Boxes({kDown}, {0, 0, most, most}, v1::BOX_FORMAT_XYWH), ElementsAre(0, 0, 100, 80));
}

std::vector<bool> AreNaN(const Numbers& numbers) {
  std::vector<bool> are;
  for (float number : numbers) {
    are.push_back(std::isnan(number));
    if (are.back()) {
      EXPECT_EQ(std::bit_cast<uint32_t>(number), 0x7fc00000U);
    }
  }
  return are;
}

TEST(MovePointsTest, WhateverComesOfANaNIsTheOneNaN) {
  const AffineParameters turn = Affine(RotationMatrix(30, kImage));
  EXPECT_THAT(AreNaN(Boxes({kDown}, {10, 20, -kNaN, 60})), ElementsAre(false, false, true, false));
  EXPECT_THAT(AreNaN(Boxes({turn}, {10, 20, kNaN, 60})), ElementsAre(true, true, true, true));
  EXPECT_THAT(AreNaN(Boxes({}, {10, 20, -kNaN, 5}, v1::BOX_FORMAT_XYWH)), ElementsAre(false, false, true, false));
  EXPECT_THAT(AreNaN(Keypoints({kAcross}, {-kNaN, 7})), ElementsAre(true, false));
  EXPECT_THAT(AreNaN(Keypoints({turn}, {7, kInfinity})), ElementsAre(false, false));
  EXPECT_THAT(AreNaN(Boxes({}, {-kInfinity, 0, kInfinity, 5}, v1::BOX_FORMAT_XYWH)),
              ElementsAre(false, false, true, false));
}

TEST(MovePointsTest, AMapThatCannotBeInvertedLeavesNoPlace) {
  const AffineParameters flat = Affine({1, 1, 0, 1, 1, 0});
  EXPECT_THAT(AreNaN(Keypoints({flat}, {1, 2})), ElementsAre(true, true));
  EXPECT_THAT(AreNaN(Boxes({flat}, {1, 2, 3, 4})), ElementsAre(true, true, true, true));
}

// ---- Boxes that a crop leaves out ----

// Rows and sides of the boxes that are left.
std::vector<std::vector<double>> Left(const Ops& ops, const Numbers& boxes,
                                      v1::BoxFormat format = v1::BOX_FORMAT_XYXY) {
  std::vector<std::vector<double>> rows;
  for (const LeftBox& box : BoxesLeft(ops, kImage, format, boxes))
    rows.push_back({static_cast<double>(box.row), box.sides.left, box.sides.top, box.sides.right, box.sides.bottom});
  return rows;
}

CropParameters ByCenters(int64_t top, int64_t left, ImageSize size) {
  CropParameters crop = {top, left, size};
  crop.leaves_out_boxes = true;
  return crop;
}

TEST(BoxesLeftTest, ThoseWhoseCentersLieWithinAreLeftWhereTheyThenLie) {
  // Centers at 25, 40; at 50, 30, on the crop's border; and at 65, 30.
  const Numbers boxes = {10, 20, 40, 60, 40, 20, 60, 40, 50, 20, 80, 40};
  EXPECT_THAT(Left({ByCenters(10, 0, {60, 50})}, boxes), ElementsAre(ElementsAre(0, 10, 10, 40, 50)));
  EXPECT_THAT(Left({ByCenters(10, 0, {60, 51})}, boxes),
              ElementsAre(ElementsAre(0, 10, 10, 40, 50), ElementsAre(1, 40, 10, 51, 30)));
  EXPECT_THAT(Left({kAcross, ByCenters(0, 0, {80, 40})}, boxes), ElementsAre(ElementsAre(2, 20, 20, 40, 40)));
}

TEST(BoxesLeftTest, OtherOpsLeaveNoneOut) {
  const Numbers boxes = {10, 20, 40, 60, 40, 20, 60, 40};
  EXPECT_THAT(Left({CropParameters{0, 50, {80, 50}}, kDown}, boxes),
              ElementsAre(ElementsAre(0, 0, 20, 0, 60), ElementsAre(1, 0, 40, 10, 60)));
  EXPECT_THAT(Left({ByCenters(0, 0, kImage)}, {}), IsEmpty());
}

TEST(BoxesLeftTest, ABoxIsCutToItsImageBeforeItsCenterIsTaken) {
  EXPECT_THAT(Left({ByCenters(0, 0, {80, 20})}, {-1000, 10, 30, 20}), ElementsAre(ElementsAre(0, 0, 10, 20, 20)));
  EXPECT_THAT(Left({ByCenters(0, 0, kImage)}, {200, 10, 230, 20, kNaN, 0, 10, 10}), IsEmpty());
}

TEST(BoxesLeftTest, KnowsEveryFormat) {
  for (const v1::BoxFormat format : kFormats)
    EXPECT_THAT(Left({ByCenters(5, 5, {50, 50})}, InFormat({10, 20, 40, 60}, format), format),
                ElementsAre(ElementsAre(0, 5, 15, 35, 50)));
}

// ---- SanitizeBoundingBoxes ----

std::vector<uint32_t> Sane(const Numbers& boxes, v1::BoxFormat format = v1::BOX_FORMAT_XYXY, double min_size = 1,
                           double min_area = 1) {
  return SaneBoxes(boxes, format, kImage, min_size, min_area);
}

TEST(SaneBoxesTest, KeepsTheRowsOfBoxesInOrder) {
  const Numbers boxes = {0, 0, 100, 80, 10, 10, 10.5, 20, 10, 20, 40, 60, 40, 60, 10, 20, 99, 79, 100, 80};
  EXPECT_THAT(Sane(boxes), ElementsAre(0, 2, 4));
  EXPECT_THAT(Sane({}), IsEmpty());
}

TEST(SaneBoxesTest, KnowsEveryFormat) {
  for (const v1::BoxFormat format : kFormats) {
    EXPECT_THAT(Sane(InFormat({10, 20, 12, 23}, format), format, 2, 6), ElementsAre(0));
    EXPECT_THAT(Sane(InFormat({10, 20, 12, 23}, format), format, 2.5, 6), IsEmpty());
    EXPECT_THAT(Sane(InFormat({10, 20, 12, 23}, format), format, 2, 6.5), IsEmpty());
    EXPECT_THAT(Sane(InFormat({90, 20, 100.5, 30}, format), format), IsEmpty());
    EXPECT_THAT(Sane(InFormat({90, -0.5, 100, 30}, format), format), IsEmpty());
  }
}

TEST(SaneBoxesTest, NeitherNaNNorInfinityIsABox) {
  for (int i = 0; i < 4; ++i)
    for (const float number : {kNaN, kInfinity, -kInfinity}) {
      Numbers box = {10, 20, 40, 60};
      box[i] = number;
      for (const v1::BoxFormat format : kFormats) EXPECT_THAT(Sane(box, format), IsEmpty()) << i << " " << number;
    }
}

TEST(SaneBoxesTest, SizesAreComparedInFloat32) {
  EXPECT_THAT(Sane({0, 0, 0.1F, 10}, v1::BOX_FORMAT_XYXY, 0.1, 0), ElementsAre(0));
  EXPECT_THAT(Sane({0, 0, 0.1F, 10}, v1::BOX_FORMAT_XYXY, 0.1000001, 0), IsEmpty());
  EXPECT_THAT(Sane({0, 0, 10, 10}, v1::BOX_FORMAT_XYXY, 1e300, 0), IsEmpty());
}

// In float32, as torchvision does it, some CXCYWH boxes that a crop has cut would lie beyond the border by rounding.
TEST(SaneBoxesTest, WhatACropHasCutLiesWithin) {
  for (const v1::BoxFormat format : kFormats) {
    Numbers boxes;
    for (int i = 0; i < 1000; ++i) {
      const auto at = static_cast<float>(i);
      for (float number : InFormat({7.77F + 0.013F * at, 3.3F + 0.007F * at, 120, 99.9F}, format))
        boxes.push_back(number);
    }
    MovePoints(Ops{CropParameters{20, 3, {37, 53}}, ResizeParameters{{333, 777}}}, kImage, v1::FIELD_KIND_BOXES, format,
               boxes);
    EXPECT_EQ(SaneBoxes(boxes, format, {333, 777}, 1, 1).size(), 1000U) << v1::BoxFormat_Name(format);
  }
}

}  // namespace
}  // namespace stoker
