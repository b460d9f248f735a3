#include "server/augment/erase.h"

#include "gtest/gtest.h"
#include "tests/unit/server/augment/every_target.h"
#include "tests/unit/server/augment/golden_pixels.h"
#include "tests/unit/server/augment/noise.h"

namespace stoker {
namespace {

constexpr DrawKey kKey = {.seed = 3, .epoch = 1, .position = 44, .op = 2};

Bytes White(ImageSize size) { return Bytes(size.height * size.width * 3, 255); }

Bytes Masked(Bytes pixels, ImageSize size, const MaskParameters& mask) {
  MaskPixels(mask, size, pixels.data());
  return pixels;
}

TEST(EraseTest, PaintsTheRectangleAndNothingElse) {
  const ImageSize size = {9, 11};
  const Region erased = {2, 3, {4, 5}};
  Bytes pixels = Noise(size);
  EraseRectangle({erased.top, erased.left, erased.size, {1, 2, 3}}, size, pixels.data());
  for (int64_t y = 0; y < 9; ++y)
    for (int64_t x = 0; x < 11; ++x)
      for (int64_t channel = 0; channel < 3; ++channel) {
        const int64_t i = (y * 11 + x) * 3 + channel;
        ASSERT_EQ(pixels[i], erased.Contains({y, x, {1, 1}}) ? channel + 1 : Noise(size)[i]);
      }
}

TEST(EraseTest, PaintsTheWholeAndNothing) {
  const ImageSize size = {3, 5};
  Bytes pixels = Noise(size);
  EraseRectangle({3, 5, {0, 0}, {9, 9, 9}}, size, pixels.data());
  EXPECT_EQ(pixels, Noise(size));
  EraseRectangle({0, 0, size, {255, 255, 255}}, size, pixels.data());
  EXPECT_EQ(pixels, White(size));
}

// Straight from the contract.
Bytes Reference(const Bytes& in, ImageSize size, const MaskParameters& mask) {
  Draws draws(mask.key);
  std::vector<uint32_t> bits;
  for (int64_t i = 0; i < size.height * size.width; i += 2) {
    const uint32_t both = draws.Bits();
    bits.push_back(both & 0xffff);
    bits.push_back(both >> 16);
  }
  const auto drawn = [&](int64_t y, int64_t x) {
    return y >= 0 && x >= 0 && y < size.height && x < size.width && bits[y * size.width + x] < mask.ratio * 65536;
  };
  Bytes out = in;
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t x = 0; x < size.width; ++x)
      if (drawn(y, x) || (mask.dilate && (drawn(y - 1, x) || drawn(y + 1, x) || drawn(y, x - 1) || drawn(y, x + 1))))
        std::fill_n(out.begin() + (y * size.width + x) * 3, 3, 0);
  return out;
}

TEST(MaskTest, BlackensThePixelsThatItsDrawsSayAndTheirNeighbors) {
  for (ImageSize size : {ImageSize{1, 1}, ImageSize{7, 5}, ImageSize{30, 67}, ImageSize{1, 130}, ImageSize{90, 3}})
    for (double ratio : {0.0, 1.0 / 65536, 0.07, 0.5, 1.0})
      for (bool dilate : {false, true}) {
        const MaskParameters mask = {ratio, dilate, kKey};
        EXPECT_EQ(Masked(Noise(size), size, mask), Reference(Noise(size), size, mask))
            << size.height << "x" << size.width << ", " << ratio << ", " << dilate;
      }
}

TEST(MaskTest, RatiosOfZeroAndOneMaskNothingAndAll) {
  const ImageSize size = {40, 41};
  EXPECT_EQ(Masked(White(size), size, {0, true, kKey}), White(size));
  EXPECT_EQ(Masked(White(size), size, {1, false, kKey}), Bytes(40 * 41 * 3, 0));
}

TEST(MaskTest, AboutTheRatioIsMasked) {
  const ImageSize size = {200, 200};
  const Bytes out = Masked(White(size), size, {0.3, false, kKey});
  EXPECT_NEAR(std::count(out.begin(), out.end(), 0) / 120000.0, 0.3, 0.02);
}

TEST(MaskTest, AnotherKeyMasksOtherPixels) {
  const ImageSize size = {20, 20};
  DrawKey other = kKey;
  other.view = 1;
  EXPECT_NE(Masked(White(size), size, {0.3, false, kKey}), Masked(White(size), size, {0.3, false, other}));
}

TEST(MaskTest, GivesTheSameBytesOnEveryTarget) {
  ExpectSameOnEveryTarget([] { return Masked(Noise({37, 91}), {37, 91}, {0.2, true, kKey}); });
}

}  // namespace
}  // namespace stoker
