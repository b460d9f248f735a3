// The files of label maps and binary maps.

#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/decode/decoder.h"
#include "server/decode/flaw.h"
#include "tests/support/made_png.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr DecodeOptions kMap = {.content = DecodeOptions::Content::kMap};

// Values that use all bits.
std::vector<uint16_t> Values(ImageSize size, int bits) {
  std::vector<uint16_t> values(size.height * size.width);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<uint16_t>(i * 40503 >> 3) & static_cast<uint16_t>((1 << bits) - 1);
  return values;
}

class PngMapTest : public testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(PngMapTest, AnyPartHasTheFilesValues) {
  const auto [bits, palette] = GetParam();
  const ImageSize size = {13, 21};
  const std::vector<uint16_t> values = Values(size, bits);
  const std::vector<uint8_t> file = MapPng(size, values, bits, palette);
  Decoder decoder;
  ASSERT_EQ(*decoder.Open(file, kMap), size);
  EXPECT_FALSE(decoder.can_reduce());
  for (const Region& needed : {WholeOf(size), Region{3, 5, {4, 7}}, Region{12, 20, {1, 1}}, Region{0, 0, {1, 21}}}) {
    DecodedImage image;
    ASSERT_TRUE(decoder.Decode({needed}, image).ok());
    ASSERT_TRUE(image.region.Contains(needed));
    for (int64_t y = needed.top; y < needed.bottom(); ++y)
      for (int64_t x = needed.left; x < needed.right(); ++x) {
        const uint8_t* pixel = image.view().At(y - image.region.top, x - image.region.left);
        const uint16_t value = values[y * size.width + x];
        ASSERT_EQ(pixel[0] | pixel[1] << 8, value) << y << ", " << x;
        ASSERT_EQ(pixel[2], value > 32767 ? 1 : 0);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Depths, PngMapTest,
                         testing::Values(std::tuple(1, false), std::tuple(2, false), std::tuple(4, false),
                                         std::tuple(8, false), std::tuple(16, false), std::tuple(1, true),
                                         std::tuple(2, true), std::tuple(4, true), std::tuple(8, true)));

TEST(PngMapsTest, OtherFilesAreRefusedAndSayWhatAMapIs) {
  Decoder decoder;
  const std::vector<uint8_t> colors = ColorPng({2, 2}, std::vector<uint8_t>(12));
  EXPECT_TRUE(decoder.Open(colors, {}).ok());
  EXPECT_EQ(decoder.Open(colors, kMap).status().message(),
            "this PNG has colors or transparency; a map has one channel, gray or numbers of a palette");
  const std::vector<uint8_t> jpeg = {0xff, 0xd8, 0xff, 0xe0};
  EXPECT_THAT(decoder.Open(jpeg, kMap).status().message(), HasSubstr("not a PNG, as the file of a map must be"));
  EXPECT_EQ(FlawOf(decoder.Open({}, kMap).status()), Flaw::kTruncated);
}

TEST(PngMapsTest, AFileThatEndsEarlyIsRefused) {
  const ImageSize size = {64, 64};
  std::vector<uint8_t> file = MapPng(size, Values(size, 16), 16);
  file.resize(file.size() / 2);
  Decoder decoder;
  DecodedImage image;
  ASSERT_TRUE(decoder.Open(file, kMap).ok());
  EXPECT_EQ(FlawOf(decoder.Decode({WholeOf(size)}, image)), Flaw::kTruncated);
}

TEST(PngMapsTest, LimitsHold) {
  Decoder decoder;
  const std::vector<uint8_t> file = MapPng({8, 8}, Values({8, 8}, 8), 8);
  DecodeOptions options = kMap;
  options.max_pixels = 63;
  EXPECT_EQ(FlawOf(decoder.Open(file, options).status()), Flaw::kOverLimits);
}

}  // namespace
}  // namespace stoker
