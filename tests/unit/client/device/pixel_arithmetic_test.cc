#include "client/device/pixel_arithmetic.h"

#include <vector>

#include "common/identity/draws.h"
#include "common/pipeline/compose_gather.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(PixelArithmeticTest, PhiloxBlocksAreThoseOfDraws) {
  for (uint64_t position : {uint64_t{0}, uint64_t{12345}, ~uint64_t{0}}) {
    const DrawKey key = {.seed = 1, .epoch = 2, .position = position, .op = 3};
    std::vector<uint32_t> words(64);
    Draws(key).Fill(words);
    for (uint64_t block = 0; block < 16; ++block)
      for (int word = 0; word < 4; ++word)
        EXPECT_EQ(PhiloxBlock(Draws::MixedKey(key), position, block)[word], words[block * 4 + word]);
  }
}

// Of an image of 10 columns: which one each of the output's shows; -1: filled.
std::vector<int64_t> Columns(const GatherDraw& gather, int64_t width) {
  std::vector<int64_t> columns;
  for (int64_t x = 0; x < width; ++x) {
    const Taps taps = GatherAt(gather, x, 0).across;
    columns.push_back(taps.shown ? taps.first : -1);
  }
  return columns;
}

std::vector<int64_t> Padded(v1::PaddingMode mode) {
  GatherComposer composer({10, 10});
  composer.Add(CropParameters{.top = 0, .left = 3, .size = {10, 4}});
  composer.Add(CropParameters{.top = 0, .left = -3, .size = {10, 10}, .padding = mode});
  return Columns(composer.gather(), 10);
}

// The crop's columns are 3 to 6.
TEST(PixelArithmeticTest, PaddingShowsWhatWasCroppedOnly) {
  EXPECT_EQ(Padded(v1::PADDING_MODE_CONSTANT), (std::vector<int64_t>{-1, -1, -1, 3, 4, 5, 6, -1, -1, -1}));
  EXPECT_EQ(Padded(v1::PADDING_MODE_EDGE), (std::vector<int64_t>{3, 3, 3, 3, 4, 5, 6, 6, 6, 6}));
  EXPECT_EQ(Padded(v1::PADDING_MODE_REFLECT), (std::vector<int64_t>{6, 5, 4, 3, 4, 5, 6, 5, 4, 3}));
  EXPECT_EQ(Padded(v1::PADDING_MODE_SYMMETRIC), (std::vector<int64_t>{5, 4, 3, 3, 4, 5, 6, 6, 5, 4}));
}

TEST(PixelArithmeticTest, FlipsAndCropsFollowEachOther) {
  GatherComposer composer({1, 10});
  composer.Add(FlipParameters{FlipParameters::Axis::kHorizontal});
  composer.Add(CropParameters{.top = 0, .left = 1, .size = {1, 4}});
  composer.Add(FlipParameters{FlipParameters::Axis::kHorizontal});
  EXPECT_EQ(Columns(composer.gather(), 4), (std::vector<int64_t>{5, 6, 7, 8}));
  EXPECT_EQ(composer.gather().window, (Window{5, 0, 9, 1}));
}

TEST(PixelArithmeticTest, ACropOutsideOfTheImageIsFilled) {
  GatherComposer composer({10, 10});
  composer.Add(CropParameters{.top = 0, .left = 12, .size = {10, 4}});
  EXPECT_EQ(Columns(composer.gather(), 4), (std::vector<int64_t>{-1, -1, -1, -1}));
}

TEST(PixelArithmeticTest, NoPixelOutsideOfACropHasASayInItsResize) {
  GatherComposer composer({10, 10});
  composer.Add(CropParameters{.top = 0, .left = 3, .size = {10, 2}});
  composer.Add(ResizeParameters{.size = {10, 8}});
  for (int64_t x = 0; x < 8; ++x) {
    const Taps taps = GatherAt(composer.gather(), x, 0).across;
    EXPECT_TRUE(taps.shown && taps.first >= 3 && taps.second <= 4 && taps.share >= 0 && taps.share < 1) << x;
  }
  EXPECT_EQ(GatherAt(composer.gather(), 0, 0).across.first, 3);
  EXPECT_EQ(GatherAt(composer.gather(), 7, 0).across.second, 4);
}

}  // namespace
}  // namespace stoker
