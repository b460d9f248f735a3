// RandomPerspective, and ElasticTransform's draws.

#include "common/ops/perspective.h"

#include <cmath>
#include <set>

#include "common/ops/elastic.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/common/ops/drawn_ops.h"

namespace stoker {
namespace {

constexpr ImageSize kSeen = {480, 640};

// Where the coefficients lead from an output position.
Corner From(const std::array<double, 8>& c, Corner at) {
  const double w = c[6] * at.x + c[7] * at.y + 1;
  return {(c[0] * at.x + c[1] * at.y + c[2]) / w, (c[3] * at.x + c[4] * at.y + c[5]) / w};
}

TEST(PerspectiveTest, LeadsFromCornersToCorners) {
  const Corners from = {{{0, 0}, {639, 0}, {639, 479}, {0, 479}}};
  const Corners to = {{{100, 20}, {600, 7}, {555, 400}, {3, 333}}};
  const auto coefficients = PerspectiveOf(from, to);
  ASSERT_TRUE(coefficients.has_value());
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(From(*coefficients, to[i]).x, from[i].x, 1e-8);
    EXPECT_NEAR(From(*coefficients, to[i]).y, from[i].y, 1e-8);
  }
}

// torchvision 0.29.2's _get_perspective_coeffs for the same corners.
TEST(PerspectiveTest, HasTorchvisionsCoefficients) {
  const auto coefficients =
      PerspectiveOf({{{0, 0}, {639, 0}, {639, 479}, {0, 479}}}, {{{100, 20}, {600, 7}, {555, 400}, {3, 333}}});
  ASSERT_TRUE(coefficients.has_value());
  const std::array<double, 8> expected = {1.6771624088287354,    0.5197595953941345,   -178.11141967773438,
                                          0.04778161272406578,   1.8377543687820435,   -41.53324890136719,
                                          0.0004962860839441419, 0.0005696875159628689};
  for (size_t i = 0; i < 8; ++i) EXPECT_NEAR((*coefficients)[i], expected[i], 1e-6 * std::abs(expected[i])) << i;
}

TEST(PerspectiveTest, ThereIsNoneOfCornersOnALine) {
  const Corners from = {{{0, 0}, {9, 0}, {9, 9}, {0, 9}}};
  EXPECT_FALSE(PerspectiveOf(from, {{{0, 0}, {5, 5}, {9, 9}, {0, 9}}}).has_value());
  EXPECT_FALSE(PerspectiveOf(from, {{{4, 4}, {4, 4}, {9, 9}, {0, 9}}}).has_value());
  EXPECT_FALSE(PerspectiveOf({{{0, 0}, {0, 0}, {0, 9}, {0, 9}}}, from).has_value());
}

// Of an image of 640×480, half of half of each side: torchvision's bounds.
TEST(PerspectiveTest, CornersMoveInwardByUpToTheScale) {
  std::set<int> lefts, tops;
  for (int position = 0; position < 4000; ++position) {
    const auto drawn = Drawn("random_perspective { p: 1 fill: 7 map_fill: 9 }", kSeen, position);
    ASSERT_EQ(drawn.size(), 1);
    const auto& warp = std::get<PerspectiveParameters>(drawn[0]);
    EXPECT_EQ(warp.fill, (Color{7, 7, 7}));
    EXPECT_EQ(warp.map_fill, 9);
    EXPECT_EQ(warp.interpolation, v1::INTERPOLATION_BILINEAR);
    // The output's corner that shows the input's (0, 0), by the inverse of the matrix.
    const auto& [a, b, c, d, e, f, g, h] = warp.coefficients;
    const double w = a * e - b * d, x = (b * f - c * e) / w, y = (c * d - a * f) / w;
    EXPECT_NEAR(x, std::round(x), 1e-6);
    EXPECT_NEAR(y, std::round(y), 1e-6);
    lefts.insert(static_cast<int>(std::round(x)));
    tops.insert(static_cast<int>(std::round(y)));
  }
  EXPECT_EQ(*lefts.begin(), 0);
  EXPECT_EQ(*lefts.rbegin(), 160);
  EXPECT_GE(lefts.size(), 160);
  EXPECT_EQ(*tops.begin(), 0);
  EXPECT_EQ(*tops.rbegin(), 120);
}

TEST(PerspectiveTest, WithoutDistortionOrPixelsTheImageStays) {
  for (const auto& [y, x] : {std::pair{480, 640}, {2, 2}}) {
    const auto drawn = Drawn("random_perspective { p: 1 distortion_scale: 0 }", {y, x});
    ASSERT_EQ(drawn.size(), 1);
    for (const Corner& at : {Corner{1, 1}, {0.5, 1.5}}) {
      EXPECT_NEAR(From(std::get<PerspectiveParameters>(drawn[0]).coefficients, at).x, at.x, 1e-9);
      EXPECT_NEAR(From(std::get<PerspectiveParameters>(drawn[0]).coefficients, at).y, at.y, 1e-9);
    }
  }
  EXPECT_THAT(Drawn("random_perspective { p: 1 }", {1, 5}), testing::IsEmpty());
}

TEST(ElasticOpTest, MovesByHalfOfAlpha) {
  const auto drawn = Drawn("elastic_transform { alpha: [30, 50] sigma: [2, 3] fill: 7 map_fill: 9 }", kSeen, 5);
  EXPECT_THAT(drawn, testing::ElementsAre(ElasticParameters{
                         15, 25, 2, 3, v1::INTERPOLATION_BILINEAR, {7, 7, 7}, 9, DrawKey{.seed = 1, .position = 5}}));
  EXPECT_THAT(Drawn("elastic_transform { alpha: 0 }", {1, 1}), testing::IsEmpty());
}

TEST(ElasticOpTest, NeedsAnImageToReflect) {
  EXPECT_EQ(ElasticReach(5), 20);
  EXPECT_EQ(ElasticReach(0), 0);
  EXPECT_EQ(ElasticReach(0.7), 3);
  EXPECT_EQ(Drawn("elastic_transform {}", {21, 21}).size(), 1);
  EXPECT_EQ(Refusal("elastic_transform {}", {21, 20}),
            "ElasticTransform.sigma: an image of 20×21 is not larger than the 20 pixels across and 20 down that four "
            "deviations are; lower sigma, or resize before");
}

}  // namespace
}  // namespace stoker
