// How far a JPEG that was decoded at a reduced size ends up from one that was not.

#include <cmath>
#include <cstdlib>
#include <vector>

#include "gtest/gtest.h"
#include "server/augment/augmenter.h"
#include "server/decode/decoder.h"
#include "server/read/synthetic/photograph.h"

namespace stoker {
namespace {

// What a crop becomes at `size`, and the eighths that it was decoded at.
struct Result {
  std::vector<uint8_t> pixels;
  int eighths = 8;
};

Result Make(const std::vector<uint8_t>& file, const CropParameters& crop, ImageSize size, v1::JpegScaling scaling) {
  Decoder decoder;
  DecodedImage image;
  Augmenter augmenter;
  const auto whole = decoder.Open(file, {});
  EXPECT_TRUE(whole.ok()) << whole.status();
  const std::vector<OpParameters> ops = {crop, ResizeParameters{size}};
  const ImagePlan plan = ImagePlan::Make(*whole, ops, scaling);
  EXPECT_TRUE(decoder.Decode(plan.target(), image).ok());
  Result result = {std::vector<uint8_t>(size.height * size.width * 3), image.eighths};
  EXPECT_TRUE(augmenter.Apply(plan, SourceOf(image), result.pixels).ok());
  return result;
}

struct Distance {
  double mean = 0, psnr = 0;  // mean absolute error, in levels; dB
};

Distance Between(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  double absolute = 0, square = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    absolute += std::abs(difference);
    square += difference * difference;
  }
  const auto count = static_cast<double>(a.size());
  return {absolute / count, 10 * std::log10(255.0 * 255.0 / std::max(square / count, 1e-9))};
}

struct Case {
  CropParameters crop;
  int k2_eighths, k1_eighths;
};

// At 64×64 pixels, so that a k of 2 reduces from a crop of 256.
const Case kCases[] = {{{0, 0, {600, 800}}, 2, 1},
                       {{3, 11, {513, 515}}, 2, 1},
                       {{77, 201, {301, 377}}, 4, 2},
                       {{40, 40, {256, 256}}, 4, 2},
                       {{40, 41, {255, 400}}, 8, 4}};
constexpr ImageSize kSize = {64, 64};

TEST(JpegScalingTest, ExactNeverReduces) {
  const auto file = EncodeJpeg(PaintPhotograph(1, 2, {600, 800}), {600, 800}, 90);
  for (const Case& each : kCases) EXPECT_EQ(Make(file, each.crop, kSize, v1::JPEG_SCALING_EXACT).eighths, 8);
}

TEST(JpegScalingTest, ReducesToTheLeastSizeThatLeavesKTimesThePixels) {
  const auto file = EncodeJpeg(PaintPhotograph(1, 2, {600, 800}), {600, 800}, 90);
  for (const Case& each : kCases) {
    EXPECT_EQ(Make(file, each.crop, kSize, v1::JPEG_SCALING_K2).eighths, each.k2_eighths);
    EXPECT_EQ(Make(file, each.crop, kSize, v1::JPEG_SCALING_K1).eighths, each.k1_eighths);
  }
}

TEST(JpegScalingTest, K2StaysWithinALevelAnd46DecibelsOfExact) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const auto file = EncodeJpeg(PaintPhotograph(seed, seed, {600, 800}), {600, 800}, 90);
    for (const Case& each : kCases) {
      const Result exact = Make(file, each.crop, kSize, v1::JPEG_SCALING_EXACT);
      const Distance distance = Between(Make(file, each.crop, kSize, v1::JPEG_SCALING_K2).pixels, exact.pixels);
      EXPECT_LE(distance.mean, 1) << "image " << seed;
      EXPECT_GE(distance.psnr, 46) << "image " << seed;
    }
  }
}

}  // namespace
}  // namespace stoker
