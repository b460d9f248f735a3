#include "server/augment/color/color.h"

#include <vector>

#include "gtest/gtest.h"
#include "server/augment/color/color_table.h"
#include "tests/unit/server/augment/every_target.h"
#include "tests/unit/server/augment/golden_pixels.h"
#include "tests/unit/server/augment/noise.h"
#include "tests/unit/server/augment/op_golden.h"

namespace stoker {
namespace {

using Kind = ColorParameters::Kind;

Bytes Colored(Bytes pixels, ImageSize size, const std::vector<ColorParameters>& ops) {
  ApplyColors(ops, size, pixels.data());
  return pixels;
}

TEST(ApplyColorsTest, GivesTorchvisionsBytes) {
  for (const GoldenColors& golden : kGoldenColors)
    EXPECT_EQ(Colored(Noise(golden.size), golden.size, golden.ops), FromHex(golden.pixels))
        << golden.size.height << "x" << golden.size.width << ", first op " << static_cast<int>(golden.ops[0].kind)
        << " of " << golden.ops[0].value;
}

// The colors of one red level, by green and then blue.
Bytes ColorsOfRed(int red) {
  Bytes pixels;
  for (int i = 0; i < 256 * 256; ++i)
    for (int level : {red, i >> 8, i & 255}) pixels.push_back(static_cast<uint8_t>(level));
  return pixels;
}

TEST(ApplyColorsTest, EveryColorBecomesTorchvisions) {
  std::vector<uint64_t> sums(std::size(kGoldenDigests));
  for (int red = 0; red < 256; ++red) {
    const Bytes colors = ColorsOfRed(red);
    for (size_t i = 0; i < sums.size(); ++i) {
      uint64_t factor = 2 * red * colors.size() + 1;
      for (uint8_t level : Colored(colors, {256, 256}, {kGoldenDigests[i].op})) {
        sums[i] += level * factor;
        factor += 2;
      }
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i], kGoldenDigests[i].sum) << "digest " << i;
}

TEST(ApplyColorsTest, IdentitiesChangeNothing) {
  const ImageSize size = {29, 37};
  const Bytes noise = Noise(size);
  for (ColorParameters op : {ColorParameters{Kind::kBrightness, 1},
                             {Kind::kContrast, 1},
                             {Kind::kSaturation, 1},
                             {Kind::kPosterize, 8},
                             {Kind::kSolarize, 256},
                             {Kind::kAutocontrast}})  // Noise has all levels.
    EXPECT_EQ(Colored(noise, size, {op}), noise) << static_cast<int>(op.kind);
  EXPECT_EQ(Colored(noise, size, {}), noise);
  EXPECT_EQ(Colored(noise, size, {{Kind::kInvert}, {Kind::kInvert}}), noise);
}

TEST(ApplyColorsTest, ExtremesReachBlackGrayAndWhite) {
  const ImageSize size = {5, 6};
  const Bytes noise = Noise(size), black(noise.size(), 0);
  EXPECT_EQ(Colored(noise, size, {{Kind::kBrightness, 0}}), black);
  EXPECT_EQ(Colored(noise, size, {{Kind::kPosterize, 0}}), black);
  EXPECT_EQ(Colored(noise, size, {{Kind::kSaturation, 0}}), Colored(noise, size, {{Kind::kGrayscale}}));
  EXPECT_EQ(Colored(noise, size, {{Kind::kSolarize, 0}}), Colored(noise, size, {{Kind::kInvert}}));
  const Bytes flat = Colored(noise, size, {{Kind::kContrast, 0}});
  EXPECT_EQ(flat, Bytes(flat.size(), flat[0]));
  EXPECT_EQ(Colored(Bytes(3, 200), {1, 1}, {{Kind::kBrightness, 1e30}}), Bytes(3, 255));
}

TEST(ApplyColorsTest, OneColorIsLeftByAutocontrastAndEqualize) {
  const Bytes gray(30 * 30 * 3, 77);
  EXPECT_EQ(Colored(gray, {30, 30}, {{Kind::kAutocontrast}}), gray);
  EXPECT_EQ(Colored(gray, {30, 30}, {{Kind::kEqualize}}), gray);
}

TEST(ApplyColorsTest, OpsInOneCallAreOpsOneAfterTheOther) {
  const ImageSize size = {31, 45};
  const std::vector<ColorParameters> ops = {{Kind::kContrast, 1.3}, {Kind::kBrightness, 0.8}, {Kind::kPosterize, 6},
                                            {Kind::kHue, -0.2},     {Kind::kContrast, 0.9},   {Kind::kSaturation, 1.5},
                                            {Kind::kEqualize},      {Kind::kSolarize, 130}};
  Bytes one_by_one = Noise(size);
  for (const ColorParameters& op : ops) one_by_one = Colored(one_by_one, size, {op});
  EXPECT_EQ(Colored(Noise(size), size, ops), one_by_one);
}

TEST(ApplyColorsTest, WritesNothingBeyondTheImage) {
  for (int64_t width = 1; width < 70; ++width) {
    Bytes pixels = Noise({1, width + 5});
    const Bytes beyond(pixels.begin() + width * 3, pixels.end());
    ApplyColors(std::vector<ColorParameters>{{Kind::kInvert}, {Kind::kSaturation, 0.3}}, {1, width}, pixels.data());
    ASSERT_EQ(Bytes(pixels.begin() + width * 3, pixels.end()), beyond);
  }
}

TEST(ApplyColorsTest, GivesTheSameBytesOnEveryTarget) {
  ExpectSameOnEveryTarget([] {
    std::vector<Bytes> made;
    for (ImageSize size : {ImageSize{1, 1}, ImageSize{23, 51}, ImageSize{40, 64}})
      for (const GoldenColors& golden : kGoldenColors) made.push_back(Colored(Noise(size), size, golden.ops));
    return made;
  });
}

TEST(ColorTableTest, ComposedTablesAreOneAfterTheOther) {
  const ColorTable first = BlendTable(90, 1.6), second = SolarizeTable(100), both = Compose(first, second);
  for (int level = 0; level < 256; ++level) EXPECT_EQ(both[1][level], second[1][first[1][level]]);
}

}  // namespace
}  // namespace stoker
