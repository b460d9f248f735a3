#include "server/augment/smooth.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/server/augment/every_target.h"
#include "tests/unit/server/augment/golden_pixels.h"
#include "tests/unit/server/augment/noise.h"
#include "tests/unit/server/augment/op_golden.h"

namespace stoker {
namespace {

Bytes Run(Smoother& smoother, const BlurParameters& blur, const ImageView& in, const Region& at, ImageSize whole,
          const Region& wanted) {
  Bytes out(wanted.size.height * wanted.size.width * 3);
  smoother.Blur(blur, in, at, whole, wanted, out.data());
  return out;
}

Bytes Run(Smoother& smoother, const SharpnessParameters& sharpness, const ImageView& in, const Region& at,
          ImageSize whole, const Region& wanted) {
  Bytes out(wanted.size.height * wanted.size.width * 3);
  smoother.Sharpen(sharpness, in, at, whole, wanted, out.data());
  return out;
}

template <typename Op>
Bytes OfWhole(const Op& op, const Bytes& pixels, ImageSize size) {
  Smoother smoother;
  return Run(smoother, op, ViewOf(pixels, size), WholeOf(size), size, WholeOf(size));
}

TEST(SmootherTest, SharpensToPillowsBytes) {
  for (const GoldenSharpness& golden : kGoldenSharpness)
    EXPECT_EQ(OfWhole(golden.sharpness, Noise(golden.size), golden.size), FromHex(golden.pixels))
        << golden.size.height << "x" << golden.size.width << " by " << golden.sharpness.factor;
}

TEST(SmootherTest, BlursWithinOneLevelOfTorchvision) {
  for (const GoldenBlur& golden : kGoldenBlurs)
    EXPECT_LE(LargestDifference(OfWhole(golden.blur, Noise(golden.size), golden.size), FromHex(golden.pixels)), 1)
        << golden.size.height << "x" << golden.size.width << " by " << golden.blur.kernel_width << "x"
        << golden.blur.kernel_height;
}

TEST(SmootherTest, IdentitiesChangeNothing) {
  const ImageSize size = {19, 23};
  const Bytes noise = Noise(size);
  EXPECT_EQ(OfWhole(SharpnessParameters{1}, noise, size), noise);
  EXPECT_EQ(OfWhole(BlurParameters{1, 1, 3.0}, noise, size), noise);
  EXPECT_EQ(OfWhole(BlurParameters{9, 9, 0.01}, noise, size), noise);
}

TEST(SmootherTest, OneColorStaysThatColor) {
  const ImageSize size = {600, 16};
  for (uint8_t level : {0, 1, 100, 254, 255}) {
    const Bytes flat(size.height * size.width * 3, level);
    for (const BlurParameters& blur :
         {BlurParameters{3, 3, 0.5}, BlurParameters{31, 23, 1.3}, BlurParameters{5, 1001, 1e6}})
      EXPECT_EQ(OfWhole(blur, flat, size), flat) << blur.kernel_height;
    for (double factor : {0.0, 2.5}) EXPECT_EQ(OfWhole(SharpnessParameters{factor}, flat, size), flat);
  }
}

TEST(SmootherTest, SmallImagesAreAllBorder) {
  for (ImageSize size : {ImageSize{1, 1}, ImageSize{2, 30}, ImageSize{30, 2}, ImageSize{1, 9}})
    EXPECT_EQ(OfWhole(SharpnessParameters{0}, Noise(size), size), Noise(size));
}

Bytes Cut(const Bytes& pixels, int64_t width, const Region& region) {
  Bytes out;
  for (int64_t y = region.top; y < region.bottom(); ++y)
    out.insert(out.end(), pixels.begin() + (y * width + region.left) * 3,
               pixels.begin() + (y * width + region.right()) * 3);
  return out;
}

// The pixels of `region` with a fourth byte that says nothing, and no byte more.
Bytes CutRgbx(const Bytes& pixels, int64_t width, const Region& region) {
  Bytes out;
  const Bytes rgb = Cut(pixels, width, region);
  for (size_t i = 0; i < rgb.size(); i += 3) {
    out.insert(out.end(), rgb.begin() + i, rgb.begin() + i + 3);
    out.push_back(static_cast<uint8_t>(i * 7));
  }
  return out;
}

template <typename Op>
void ExpectPartsToEqualTheWhole(const Op& op) {
  const ImageSize whole = {26, 33};
  const Bytes pixels = Noise(whole), expected = OfWhole(op, pixels, whole);
  const ImageSize halo = Smoother::Halo(op);
  Smoother smoother;
  for (const Region& wanted : {Region{0, 0, {1, 1}}, Region{25, 32, {1, 1}}, Region{0, 5, {9, 28}},
                               Region{12, 0, {14, 12}}, Region{13, 16, {2, 1}}, WholeOf(whole)}) {
    const Region at =
        WholeOf(whole).Intersection({wanted.top - halo.height,
                                     wanted.left - halo.width,
                                     {wanted.size.height + 2 * halo.height, wanted.size.width + 2 * halo.width}});
    const Bytes rgb = Cut(pixels, whole.width, at), rgbx = CutRgbx(pixels, whole.width, at);
    for (int pixel_bytes : {3, 4}) {
      const ImageView part = {pixel_bytes == 3 ? rgb.data() : rgbx.data(), at.size,
                              static_cast<ptrdiff_t>(at.size.width * pixel_bytes), pixel_bytes};
      EXPECT_EQ(Run(smoother, op, part, at, whole, wanted), Cut(expected, whole.width, wanted))
          << pixel_bytes << " bytes, from " << wanted.top << ", " << wanted.left;
    }
  }
}

TEST(SmootherTest, PartsEqualTheWholesPixels) {
  ExpectPartsToEqualTheWhole(BlurParameters{3, 3, 0.8});
  ExpectPartsToEqualTheWhole(BlurParameters{9, 5, 2.5});
  ExpectPartsToEqualTheWhole(BlurParameters{23, 23, 4});
  ExpectPartsToEqualTheWhole(SharpnessParameters{0.2});
  ExpectPartsToEqualTheWhole(SharpnessParameters{1.9});
}

TEST(SmootherTest, GivesTheSameBytesOnEveryTarget) {
  ExpectSameOnEveryTarget([] {
    std::vector<Bytes> made;
    for (ImageSize size : {ImageSize{13, 12}, ImageSize{21, 47}, ImageSize{12, 128}}) {
      for (const BlurParameters& blur : {BlurParameters{1, 3, 1}, BlurParameters{3, 5, 0.7}, BlurParameters{23, 23, 3}})
        made.push_back(OfWhole(blur, Noise(size), size));
      for (double factor : {0.0, 0.7, 3.0}) made.push_back(OfWhole(SharpnessParameters{factor}, Noise(size), size));
    }
    return made;
  });
}

}  // namespace
}  // namespace stoker
