#include <cmath>

#include "common/ops/affine_matrix.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/common/ops/drawn_ops.h"

namespace stoker {
namespace {

using testing::IsEmpty;

void ExpectNear(const AffineMap& matrix, const AffineMap& expected) {
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(matrix[i], expected[i], 1e-9) << "element " << i;
}

// What Pillow 9.4's Image.rotate passes to transform.
TEST(WarpMatrixTest, TurnsAsPillowDoes) {
  ExpectNear(RotationMatrix(30, {480, 640}),
             {0.866025403784439, -0.5, 162.8718707889795, 0.5, 0.866025403784439, -127.8460969082654});
  ExpectNear(RotationMatrix(-12.5, {224, 224}), {0.976296007119933, 0.216439613938103, -21.58638955850003,
                                                 -0.216439613938103, 0.976296007119933, 26.89608396363502});
  ExpectNear(RotationMatrix(135, {500, 375}), {-0.707106781186547, -0.707106781186548, 496.8592167691146,
                                               0.707106781186548, -0.707106781186547, 294.19417382415895});
  ExpectNear(RotationMatrix(359.25, {17, 33}), {0.999914327574007, 0.013089595571345, -0.10984796732754631,
                                                -0.013089595571345, 0.999914327574007, 0.21670654254813293});
}

TEST(WarpMatrixTest, RightAnglesAreExact) {
  EXPECT_EQ(RotationMatrix(90, {375, 500}), (AffineMap{0, -1, 437.5, 1, 0, -62.5}));
  EXPECT_EQ(RotationMatrix(-270, {375, 500}), (AffineMap{0, -1, 437.5, 1, 0, -62.5}));
  EXPECT_EQ(RotationMatrix(180, {375, 500}), (AffineMap{-1, 0, 500, 0, -1, 375}));
  EXPECT_EQ(RotationMatrix(720, {375, 500}), (AffineMap{1, 0, 0, 0, 1, 0}));
}

// torchvision 0.14's _get_inverse_affine_matrix.
TEST(WarpMatrixTest, AffineIsTorchvisions) {
  ExpectNear(AffineMatrix({.degrees = 30}, {480, 640}), {0.8660254037844387, 0.49999999999999994, -77.1281292110204,
                                                         -0.49999999999999994, 0.8660254037844387, 192.1539030917347});
  ExpectNear(AffineMatrix({.degrees = -17.25, .shift_x = 13, .shift_y = -7, .scale = 0.8, .shear_x = 11.5}, {375, 500}),
             {1.2691900122008648, -0.12780071410032834, -60.728944313718216, 0.37067696871946365, 1.1937749305714833,
              -125.46441774137168});
  ExpectNear(
      AffineMatrix({.degrees = 203, .shift_x = -31, .shift_y = 64, .scale = 1.75, .shear_x = -20, .shear_y = 33.3},
                   {224, 224}),
      {-0.4815094831794702, 0.02155583123091314, 147.20844184089637, -0.12224431020197828, -0.6726669896229668,
       240.2911793000024});
  ExpectNear(AffineMatrix({.scale = 0.5}, {33, 17}), {2, 0, -8.5, 0, 2, -16.5});
  ExpectNear(AffineMatrix({.shear_y = 45}, {20, 10}), {1, 0, 0, 1, 1, -5});
}

double AngleOf(const OpParameters& parameters) {
  const auto& m = std::get<AffineParameters>(parameters).matrix;
  return std::atan2(m[3], m[0]) * 180 / M_PI;
}

TEST(GeometryOpsTest, RotationDrawsAnglesUniformly) {
  constexpr int kSamples = 4000;
  const v1::Op op = ParseOp("random_rotation { degrees: [-30, 90] interpolation: INTERPOLATION_BILINEAR fill: 7 }");
  double mean = 0, square = 0;
  for (int position = 0; position < kSamples; ++position) {
    const auto drawn = Drawn(op, {40, 60}, position);
    const double angle = AngleOf(drawn.at(0));
    ASSERT_GE(angle, -30 - 1e-9);
    ASSERT_LE(angle, 90 + 1e-9);
    mean += angle / kSamples, square += (angle - 30) * (angle - 30) / kSamples;
    EXPECT_EQ(std::get<AffineParameters>(drawn.at(0)).interpolation, v1::INTERPOLATION_BILINEAR);
    EXPECT_EQ(std::get<AffineParameters>(drawn.at(0)).fill, (Color{7, 7, 7}));
  }
  EXPECT_NEAR(mean, 30, 2.8);                    // Five standard errors of U[−30, 90],
  EXPECT_NEAR(square / (3600 / 3.0), 1, 0.071);  // and of its variance.
}

TEST(GeometryOpsTest, ATurnIsCounterClockwise) {
  // A pixel right of the center comes from where a quarter turn clockwise would bring it: from below.
  const auto turn = std::get<AffineParameters>(Drawn("random_rotation { degrees: [90, 90] }", {100, 100}).at(0));
  const auto& m = turn.matrix;
  EXPECT_EQ(m[0] * 90 + m[1] * 50 + m[2], 50);
  EXPECT_EQ(m[3] * 90 + m[4] * 50 + m[5], 90);
  EXPECT_EQ(turn.interpolation, v1::INTERPOLATION_NEAREST);
}

TEST(GeometryOpsTest, WhatMovesNothingDrawsNothing) {
  EXPECT_THAT(Drawn("random_rotation { degrees: 0 }", {7, 9}), IsEmpty());
  EXPECT_THAT(Drawn("random_rotation { degrees: [360, 360] }", {7, 9}), IsEmpty());
  EXPECT_THAT(Drawn("random_affine { degrees: 0 }", {7, 9}), IsEmpty());
}

TEST(GeometryOpsTest, AShiftByWholePixelsIsACrop) {
  int64_t least = 100, most = -100;
  for (uint64_t position = 0; position < 1000; ++position) {
    for (const OpParameters& shift :
         Drawn("random_affine { degrees: 0 translate: [0.25, 0] fill: 9 }", {8, 20}, position)) {
      const auto crop = std::get<CropParameters>(shift);
      EXPECT_EQ(crop, (CropParameters{.left = crop.left, .size = {8, 20}, .fill = {9, 9, 9}}));
      least = std::min(least, crop.left), most = std::max(most, crop.left);
    }
  }
  EXPECT_EQ(least, -5);
  EXPECT_EQ(most, 5);
}

TEST(GeometryOpsTest, AffineDrawsWithinItsArguments) {
  const v1::Op op = ParseOp("random_affine { degrees: 0 scale: [0.5, 2] shear: [-10, 10, 0, 0] }");
  double least = 10, most = 0;
  for (uint64_t position = 0; position < 2000; ++position) {
    const AffineMap m = std::get<AffineParameters>(Drawn(op, {100, 100}, position).at(0)).matrix;
    const double scale = 1 / m[4];
    least = std::min(least, scale), most = std::max(most, scale);
    EXPECT_LE(std::abs(m[1] * scale), std::tan(10 * M_PI / 180) + 1e-9);
    EXPECT_EQ(m[3], 0);
    EXPECT_NEAR(m[3] * 50 + m[4] * 50 + m[5], 50, 1e-9);  // The center stays.
    EXPECT_NEAR(m[0] * 50 + m[1] * 50 + m[2], 50, 1e-9);
  }
  EXPECT_NEAR(least, 0.5, 0.01);
  EXPECT_NEAR(most, 2, 0.01);
}

TEST(GeometryOpsTest, AnArgumentMovesNoOtherDraw) {
  for (uint64_t position = 0; position < 50; ++position) {
    const auto plain = std::get<AffineParameters>(Drawn("random_affine { degrees: 30 }", {50, 50}, position).at(0));
    const auto shifted = std::get<AffineParameters>(
        Drawn("random_affine { degrees: 30 translate: [0.5, 0.5] }", {50, 50}, position).at(0));
    for (int i : {0, 1, 3, 4}) EXPECT_EQ(plain.matrix[i], shifted.matrix[i]);
  }
}

}  // namespace
}  // namespace stoker
