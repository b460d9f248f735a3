// These tests expect that any part of a JPEG has the pixels that libjpeg gives it when it decodes the whole image.

#include "server/decode/jpeg.h"

#include <cmath>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/targets.h"
#include "tests/unit/server/decode/made_jpeg.h"
#include "tests/unit/server/decode/pixels.h"

namespace stoker {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes Part(const Bytes& whole, ImageSize size, const Region& region) {
  Bytes pixels;
  for (int64_t y = region.top; y < region.bottom(); ++y) {
    const auto row = whole.begin() + (y * size.width + region.left) * 3;
    pixels.insert(pixels.end(), row, row + region.size.width * 3);
  }
  return pixels;
}

Region SomeRegion(ImageSize size, std::mt19937& random) {
  const auto below = [&](int64_t bound) { return static_cast<int64_t>(random() % bound); };
  const int64_t top = below(size.height), left = below(size.width);
  return {top, left, {1 + below(size.height - top), 1 + below(size.width - left)}};
}

struct Kind {
  const char* name;
  JpegRecipe recipe;
  bool by_region;  // Whether the region decoder takes it.
};

std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

const Kind kKinds[] = {
    {"Of420", {.horizontal = 2, .vertical = 2}, true},
    {"Of422", {.horizontal = 2, .vertical = 1}, true},
    {"Of444", {.horizontal = 1, .vertical = 1}, true},
    {"Of440", {.horizontal = 1, .vertical = 2}, true},
    {"Gray", {.components = 1, .horizontal = 1, .vertical = 1}, true},
    {"GrayWithSampling", {.components = 1, .horizontal = 2, .vertical = 2}, true},
    {"OwnTables", {.quality = 95, .optimize = true}, true},
    {"Coarse", {.quality = 10, .optimize = true}, true},
    {"Finest", {.horizontal = 1, .vertical = 1, .quality = 100}, true},
    {"Restarts", {.restart_interval = 3}, true},
    {"RestartsEachMcu", {.horizontal = 2, .vertical = 1, .quality = 95, .restart_interval = 1}, true},
    {"Restarts444", {.horizontal = 1, .vertical = 1, .optimize = true, .restart_interval = 7}, true},
    {"Of410", {.horizontal = 4, .vertical = 2}, false},
    {"Of411", {.horizontal = 4, .vertical = 1}, false},
    {"Cmyk", {.components = 4, .horizontal = 1, .vertical = 1}, false},
    {"Progressive", {.progressive = true}, false},
    {"Progressive444", {.horizontal = 1, .vertical = 1, .quality = 95, .progressive = true}, false},
    {"ProgressiveRestarts", {.horizontal = 2, .vertical = 1, .progressive = true, .restart_interval = 5}, false},
};

class JpegTest : public testing::TestWithParam<Kind> {
 protected:
  // A JPEG of the kind, of odd sizes.
  Bytes Make(std::mt19937& random, ImageSize& size) {
    JpegRecipe recipe = GetParam().recipe;
    size = recipe.size = {1 + static_cast<int64_t>(random() % 120), 1 + static_cast<int64_t>(random() % 150)};
    return MakeJpeg(recipe, static_cast<uint32_t>(random()));
  }

  // RGB of all of `file`; of CMYK by a whole decode of ours, whose colors decoder_test checks.
  Bytes Reference(const Bytes& file, int eighths, ImageSize& size) {
    Bytes whole = DecodeByLibjpeg(file, eighths, size);
    if (GetParam().recipe.components != 4) return whole;
    DecodedImage image;
    JpegDecoder decoder;
    const auto full = decoder.Open(file, {});
    EXPECT_TRUE(full.ok() && decoder.Decode({WholeOf(*full), eighths}, image).ok());
    EXPECT_EQ(image.region, WholeOf(size));
    return Pixels(image, image.region);
  }

  void ExpectPartsOfTheWhole(int eighths, int images) {
    std::mt19937 random(static_cast<uint32_t>(20261121 + eighths));
    JpegDecoder decoder;  // One for all: no image may change the next.
    DecodedImage image;
    for (int i = 0; i < images; ++i) {
      ImageSize size, reduced;
      const Bytes file = Make(random, size);
      const Bytes whole = Reference(file, eighths, reduced);
      ASSERT_TRUE(decoder.Open(file, {}).ok());
      for (int part = 0; part < 6; ++part) {
        const Region needed = part == 0 ? WholeOf(size) : SomeRegion(size, random);
        const absl::Status status = decoder.Decode({needed, eighths}, image);
        ASSERT_TRUE(status.ok()) << status;
        ASSERT_EQ(image.eighths, eighths);
        ASSERT_TRUE(WholeOf(reduced).Contains(image.region));
        const Region shown = Reduced(needed, eighths);
        ASSERT_TRUE(image.region.Contains(shown));
        ASSERT_EQ(Pixels(image, shown), Part(whole, reduced, shown))
            << size.width << "×" << size.height << ", part " << needed.left << "," << needed.top << " "
            << needed.size.width << "×" << needed.size.height;
      }
    }
  }
};

TEST_P(JpegTest, AnyPartHasLibjpegsPixels) { ExpectPartsOfTheWhole(8, 60); }

TEST_P(JpegTest, AnyPartAtAReducedSizeHasLibjpegsPixels) {
  for (int eighths : {1, 2, 4}) ExpectPartsOfTheWhole(eighths, 15);
}

TEST_P(JpegTest, TheRegionDecoderTakesWhatItIsFor) {
  std::mt19937 random(7);
  JpegRegionDecoder decoder;
  DecodedImage image;
  JpegRecipe recipe = GetParam().recipe;
  recipe.size = {50, 70};
  const Bytes file = MakeJpeg(recipe, 1);
  ASSERT_EQ(decoder.Open(file).has_value(), GetParam().by_region);
  if (!GetParam().by_region) return;
  for (int eighths : {2, 4, 8}) EXPECT_TRUE(decoder.Decode({{10, 10, {20, 20}}, eighths}, image)) << eighths;
}

TEST_P(JpegTest, ADataStreamThatEndsEarlyIsAnErrorAtEverySize) {
  JpegRecipe recipe = GetParam().recipe;
  recipe.size = {48, 64};
  const Bytes file = MakeJpeg(recipe, 1);
  JpegDecoder decoder;
  DecodedImage image;
  for (size_t cut : {3, 5, 10, 20, 40})
    for (int eighths : {1, 2, 4, 8}) {
      const Bytes part(file.begin(), file.end() - static_cast<ptrdiff_t>(cut));
      ASSERT_TRUE(decoder.Open(part, {}).ok());
      const absl::Status status = decoder.Decode({WholeOf(recipe.size), eighths}, image);
      EXPECT_TRUE(absl::IsDataLoss(status)) << cut << " bytes, " << eighths << ": " << status;
    }
}

TEST_P(JpegTest, EveryDispatchTargetMakesTheSameBytes) {
  std::mt19937 random(3);
  ImageSize size;
  const Bytes file = Make(random, size);
  JpegDecoder decoder;
  for (int eighths : {1, 2, 4, 8}) {
    Bytes expected;
    for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
      hwy::SetSupportedTargetsForTest(target);
      DecodedImage image;
      ASSERT_TRUE(decoder.Open(file, {}).ok());
      ASSERT_TRUE(decoder.Decode({WholeOf(size), eighths}, image).ok());
      const Bytes pixels = Pixels(image, Reduced(WholeOf(size), eighths));
      if (expected.empty()) expected = pixels;
      EXPECT_EQ(pixels, expected) << hwy::TargetName(target) << " " << eighths;
    }
    hwy::SetSupportedTargetsForTest(0);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, JpegTest, testing::ValuesIn(kKinds), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace stoker
