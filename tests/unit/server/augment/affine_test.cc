#include "server/augment/affine.h"

#include "gtest/gtest.h"
#include "tests/unit/server/augment/golden_pixels.h"
#include "tests/unit/server/augment/noise.h"
#include "tests/unit/server/augment/op_golden.h"
#include "tests/unit/server/augment/pillow_golden.h"

namespace stoker {
namespace {

constexpr std::array<double, 6> kQuarterTurnOfASquareOf20 = {0, 1, 0, -1, 0, 20};

Bytes Warped(const AffineParameters& warp, const ImageView& in) {
  Bytes out(in.size.height * in.size.width * 3);
  ApplyAffine(warp, in, out.data());
  return out;
}

TEST(WarpTest, GivesPillowsBytes) {
  for (const GoldenWarp& golden : kGoldenWarps) {
    const Bytes in = Noise(golden.size);
    EXPECT_EQ(Warped(golden.warp, ViewOf(in, golden.size)), FromHex(golden.pixels))
        << golden.size.height << "x" << golden.size.width << ", " << &golden - kGoldenWarps;
  }
}

Bytes Seen(const PerspectiveParameters& warp, const ImageView& in) {
  Bytes out(in.size.height * in.size.width * 3);
  ApplyPerspective(warp, in, out.data());
  return out;
}

TEST(WarpTest, GivesPillowsPerspectivesWithinOneLevel) {
  for (const GoldenPerspective& golden : kGoldenPerspectives) {
    const Bytes in = Noise(golden.size);
    EXPECT_LE(LargestDifference(Seen(golden.warp, ViewOf(in, golden.size)), FromHex(golden.pixels)), 1)
        << golden.size.height << "x" << golden.size.width << ", " << &golden - kGoldenPerspectives;
  }
}

TEST(WarpTest, APerspectiveWithoutDepthIsAnAffineMap) {
  const ImageSize size = {11, 13};
  const Bytes noise = Noise(size);
  const std::array<double, 6> m = {0.9, 0.3, -1, -0.2, 1.1, 2};
  EXPECT_EQ(Seen({{m[0], m[1], m[2], m[3], m[4], m[5], 0, 0}}, ViewOf(noise, size)),
            Warped({m, v1::INTERPOLATION_BILINEAR}, ViewOf(noise, size)));
}

TEST(WarpTest, IgnoresTheFourthByte) {
  const ImageSize size = {11, 13};
  const Bytes rgb = Noise(size);
  Bytes rgbx;
  for (size_t i = 0; i < rgb.size(); i += 3) rgbx.insert(rgbx.end(), {rgb[i], rgb[i + 1], rgb[i + 2], 99});
  for (auto interpolation : {v1::INTERPOLATION_NEAREST, v1::INTERPOLATION_BILINEAR})
    for (const std::array<double, 6>& matrix :
         {std::array<double, 6>{0.9, 0.3, 0, -0.3, 0.9, 3}, std::array<double, 6>{1, 0, 3, 0, 1, -2.5}}) {
      const AffineParameters warp = {matrix, interpolation, {1, 2, 3}};
      EXPECT_EQ(Warped(warp, {rgbx.data(), size, 13 * 4, 4}), Warped(warp, ViewOf(rgb, size)));
    }
}

TEST(WarpTest, TheIdentityChangesNothing) {
  const ImageSize size = {17, 9};
  const Bytes noise = Noise(size);
  for (auto interpolation : {v1::INTERPOLATION_NEAREST, v1::INTERPOLATION_BILINEAR})
    EXPECT_EQ(Warped({.interpolation = interpolation}, ViewOf(noise, size)), noise);
}

TEST(WarpTest, AQuarterTurnMovesEveryPixel) {
  const ImageSize size = {20, 20};
  const Bytes noise = Noise(size);
  const Bytes out = Warped({kQuarterTurnOfASquareOf20}, ViewOf(noise, size));
  for (int64_t y = 0; y < 20; ++y)
    for (int64_t x = 0; x < 20; ++x) ASSERT_EQ(out[(y * 20 + x) * 3], noise[((19 - x) * 20 + y) * 3]);
}

TEST(WarpTest, TheFillShowsWhereTheInputEnds) {
  const ImageSize size = {6, 8};
  const Bytes noise = Noise(size);
  for (auto interpolation : {v1::INTERPOLATION_NEAREST, v1::INTERPOLATION_BILINEAR})
    for (const std::array<double, 6>& matrix :
         {std::array<double, 6>{1, 0, 8, 0, 1, 0}, std::array<double, 6>{1, 0.1, -40, 0.1, 1, 0},
          std::array<double, 6>{1, 1e9, 1e12, 1e9, 1, 1e12}}) {
      Bytes filled;
      for (int i = 0; i < 48; ++i) filled.insert(filled.end(), {7, 8, 9});
      EXPECT_EQ(Warped({matrix, interpolation, {7, 8, 9}}, ViewOf(noise, size)), filled);
    }
}

}  // namespace
}  // namespace stoker
