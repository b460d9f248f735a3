#include "server/augment/recompress.h"

#include <cstdlib>
#include <memory>

#include "gtest/gtest.h"
#include "tests/unit/server/augment/golden_pixels.h"
#include "tests/unit/server/augment/noise.h"
#include "tests/unit/server/augment/pillow_golden.h"

namespace stoker {
namespace {

Bytes Recompressed(Recompressor& recompressor, int quality, ImageSize size) {
  Bytes pixels = Noise(size);
  const absl::Status status = recompressor.Run({quality}, size, pixels.data());
  EXPECT_TRUE(status.ok()) << status;
  return pixels;
}

TEST(RecompressTest, GivesPillowsBytes) {
  Recompressor recompressor;
  for (const GoldenJpeg& golden : kGoldenJpegs)
    EXPECT_EQ(Recompressed(recompressor, golden.recompress.quality, golden.size), FromHex(golden.pixels))
        << golden.size.height << "x" << golden.size.width << ", quality " << golden.recompress.quality;
}

TEST(RecompressTest, WhatCameBeforeChangesNothing) {
  Recompressor used;
  Recompressed(used, 5, {40, 30});
  EXPECT_EQ(Recompressed(used, 80, {9, 14}), Recompressed(*std::make_unique<Recompressor>(), 80, {9, 14}));
}

TEST(RecompressTest, HigherQualityComesNearer) {
  Recompressor recompressor;
  const ImageSize size = {64, 48};
  double before = 1e9;
  for (int quality : {1, 10, 50, 90, 100}) {
    const Bytes pixels = Recompressed(recompressor, quality, size), original = Noise(size);
    double sum = 0;
    for (size_t i = 0; i < pixels.size(); ++i) sum += std::abs(pixels[i] - original[i]);
    EXPECT_LT(sum, before) << quality;
    before = sum;
  }
}

TEST(RecompressTest, TakesTheSmallestAndLongImages) {
  Recompressor recompressor;
  EXPECT_EQ(Recompressed(recompressor, 100, {1, 1}).size(), 3);
  EXPECT_EQ(Recompressed(recompressor, 50, {1, 65500}).size(), 3 * 65500);
}

}  // namespace
}  // namespace stoker
