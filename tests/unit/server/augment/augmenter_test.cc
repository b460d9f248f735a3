#include "server/augment/augmenter.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/server/augment/noise.h"
#include "tests/unit/server/augment/random_ops.h"
#include "tests/unit/server/augment/reference.h"

namespace stoker {
namespace {

using Bytes = std::vector<uint8_t>;
using Ops = std::vector<OpParameters>;

ReferenceImage NoiseImage(ImageSize size) { return {size, Noise(size)}; }

// Only `region` of a whole image, as a decoder would give it, in a buffer that holds nothing else.
struct Part {
  Part(const ReferenceImage& image, const Region& region, int pixel_bytes, int eighths = 8)
      : region(region), eighths(eighths), pixel_bytes(pixel_bytes) {
    for (int64_t y = region.top; y < region.bottom(); ++y)
      for (int64_t x = region.left; x < region.right(); ++x) {
        pixels.insert(pixels.end(), image.At(y, x), image.At(y, x) + 3);
        if (pixel_bytes == 4) pixels.push_back(0xee);
      }
  }
  SourceImage source() const {
    return {{pixels.data(), region.size, static_cast<ptrdiff_t>(region.size.width * pixel_bytes), pixel_bytes},
            region,
            eighths};
  }

  Region region;
  int eighths, pixel_bytes;
  Bytes pixels;
};

Bytes Applied(Augmenter& augmenter, const ImagePlan& plan, const Part& part) {
  Bytes out(plan.result().height * plan.result().width * 3, 0xcd);
  EXPECT_TRUE(augmenter.Apply(plan, part.source(), out).ok());
  return out;
}

TEST(AugmenterTest, AnyPartThatAPlanNeedsBecomesWhatTheOpsMakeOneByOne) {
  Augmenter augmenter;
  for (uint32_t seed = 0; seed < 20000; ++seed) {
    RandomOps random(seed);
    const ReferenceImage image = NoiseImage(random.Size());
    const Ops ops = random.Ops(image.size, 8);
    const ReferenceImage expected = ApplyOneByOne(image, ops);
    const ImagePlan plan = ImagePlan::Make(image.size, ops, v1::JPEG_SCALING_K2);
    const Region needed = plan.target().needed;
    ASSERT_EQ(plan.result(), expected.size) << "seed " << seed;
    ASSERT_TRUE(WholeOf(image.size).Contains(needed) && !needed.empty()) << "seed " << seed;
    for (const Region& region : {needed, random.Around(needed, image.size), WholeOf(image.size)}) {
      const Part part(image, region, static_cast<int>(random.Between(3, 4)));
      ASSERT_EQ(Applied(augmenter, plan, part), expected.pixels) << "seed " << seed;
    }
  }
}

TEST(AugmenterTest, AnyPartOfAReducedImageGivesTheSameBytes) {
  Augmenter augmenter;
  int reduced = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    RandomOps random(seed);
    const ImageSize size = {random.Between(20, 150), random.Between(20, 150)};
    const CropParameters crop = {random.Between(0, 9),
                                 random.Between(0, 9),
                                 {random.Between(2, size.height - 9), random.Between(2, size.width - 9)}};
    const ImageSize to = {random.Between(1, 20), random.Between(1, 20)};
    const ImagePlan plan =
        ImagePlan::Make(size, Ops{crop, ResizeParameters{to}, FlipParameters{}}, v1::JPEG_SCALING_K1);
    const int eighths = plan.target().eighths;
    if (eighths == 8) continue;
    ++reduced;
    const ReferenceImage image = NoiseImage(Reduced(WholeOf(size), eighths).size);
    const Region needed = Reduced(plan.target().needed, eighths);
    const Bytes expected = Applied(augmenter, plan, Part(image, WholeOf(image.size), 4, eighths));
    for (const Region& region : {needed, random.Around(needed, image.size)})
      ASSERT_EQ(Applied(augmenter, plan, Part(image, region, 4, eighths)), expected) << "seed " << seed;
  }
  EXPECT_GT(reduced, 1000);
}

TEST(AugmenterTest, AReducedImageIsResizedFromTheSamePlace) {
  // A quarter of a ramp whose value tells the place: the crop's middle must come out either way.
  const ImageSize size = {64, 256};
  const auto ramp = [](ImageSize of, int step) {
    ReferenceImage image = {of, {}};
    for (int64_t i = 0; i < of.height * of.width; ++i)
      image.pixels.insert(image.pixels.end(), 3, static_cast<uint8_t>(i % of.width * step + step / 2));
    return image;
  };
  const ImagePlan plan =
      ImagePlan::Make(size, Ops{CropParameters{3, 101, {51, 77}}, ResizeParameters{{5, 7}}}, v1::JPEG_SCALING_K2);
  ASSERT_EQ(plan.target().eighths, 2);
  Augmenter augmenter;
  const ReferenceImage full = ramp(size, 1), quarter = ramp({16, 64}, 4);
  const Bytes expected = Applied(augmenter, plan, Part(full, WholeOf(size), 3));
  const Bytes found = Applied(augmenter, plan, Part(quarter, WholeOf(quarter.size), 3, 2));
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1) << i;
}

TEST(AugmenterTest, ACropOfPaddingAloneIsFill) {
  Augmenter augmenter;
  const ReferenceImage image = NoiseImage({5, 6});
  const ImagePlan plan = ImagePlan::Make(image.size, Ops{CropParameters{2, 6, {2, 1}, {7, 8, 9}}}, v1::JPEG_SCALING_K2);
  EXPECT_EQ(plan.target().needed.size, (ImageSize{2, 1}));
  EXPECT_EQ(Applied(augmenter, plan, Part(image, plan.target().needed, 4)), (Bytes{7, 8, 9, 7, 8, 9}));
}

}  // namespace
}  // namespace stoker
