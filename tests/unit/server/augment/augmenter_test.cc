#include "server/augment/augmenter.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/server/augment/noise.h"

namespace stoker {
namespace {

using Bytes = std::vector<uint8_t>;
using Ops = std::vector<OpParameters>;

struct Image {
  ImageSize size;
  Bytes pixels;

  const uint8_t* At(int64_t y, int64_t x) const { return &pixels[(y * size.width + x) * 3]; }
};

Image NoiseImage(ImageSize size) { return {size, Noise(size)}; }

// An image of `size` whose pixel at y, x is the one `at` points to.
template <typename At>
Image Map(ImageSize size, const At& at) {
  Image out = {size, {}};
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t x = 0; x < size.width; ++x) out.pixels.insert(out.pixels.end(), at(y, x), at(y, x) + 3);
  return out;
}

// The ops pixel by pixel on the whole image; resize_test.cc answers for Resizer.
struct Reference {
  const Image& in;

  Image operator()(const CropParameters& crop) const {
    return Map(crop.size, [&](int64_t y, int64_t x) {
      const int64_t row = crop.top + y, column = crop.left + x;
      const bool inside = row >= 0 && column >= 0 && row < in.size.height && column < in.size.width;
      return inside ? in.At(row, column) : crop.fill.data();
    });
  }
  Image operator()(const ResizeParameters& resize) const {
    Image out = {resize.size, Bytes(resize.size.height * resize.size.width * 3)};
    Resizer().Resize(ViewOf(in.pixels, in.size), resize, out.pixels.data());
    return out;
  }
  Image operator()(const FlipParameters& flip) const {
    return Map(in.size, [&](int64_t y, int64_t x) {
      return flip.axis == FlipParameters::Axis::kHorizontal ? in.At(y, in.size.width - 1 - x)
                                                            : in.At(in.size.height - 1 - y, x);
    });
  }
};

Image Expected(Image image, const Ops& ops) {
  for (const OpParameters& op : ops) image = std::visit(Reference{image}, op);
  return image;
}

// Applies `ops` given only `region` of `image`, in a buffer that holds nothing else.
Bytes Applied(Augmenter& augmenter, const Image& image, const Region& region, const Ops& ops, size_t out_bytes) {
  const Image part = Map(region.size, [&](int64_t y, int64_t x) { return image.At(region.top + y, region.left + x); });
  Bytes out(out_bytes, 0xcd);
  augmenter.Apply(ViewOf(part.pixels, part.size), region, image.size, ops, out);
  return out;
}

class RandomOps {
 public:
  explicit RandomOps(uint32_t seed) : random_(seed) {}

  int64_t Between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }

  ImageSize Size() { return {Between(1, 24), Between(1, 24)}; }

  OpParameters Op() {
    switch (Between(0, 5)) {
      case 0:
      case 1:
      case 2: return CropParameters{Between(-12, 16), Between(-12, 16), Size(), {1, 22, 233}};
      case 3: return ResizeParameters{Size(), static_cast<v1::Interpolation>(Between(1, 3)), Between(0, 1) == 1};
      case 4: return FlipParameters{FlipParameters::Axis::kHorizontal};
      default: return FlipParameters{FlipParameters::Axis::kVertical};
    }
  }

  // Some rectangle of the image that contains `inner`.
  Region Around(const Region& inner, ImageSize whole) {
    const int64_t top = Between(0, inner.top), left = Between(0, inner.left);
    return {top, left, {Between(inner.bottom(), whole.height) - top, Between(inner.right(), whole.width) - left}};
  }

 private:
  std::mt19937 random_;
};

TEST(AugmenterTest, AppliesOpsAsTheirDefinitionsSay) {
  Augmenter augmenter;
  for (uint32_t seed = 0; seed < 5000; ++seed) {
    RandomOps random(seed);
    const Image image = NoiseImage(random.Size());
    Ops ops;
    for (int64_t n = random.Between(0, 5); n > 0; --n) ops.push_back(random.Op());
    const Image expected = Expected(image, ops);
    const Region needed = Augmenter::Needed(image.size, ops);
    ASSERT_TRUE(WholeOf(image.size).Contains(needed) && !needed.empty());
    for (const Region& region : {needed, random.Around(needed, image.size), WholeOf(image.size)})
      ASSERT_EQ(Applied(augmenter, image, region, ops, expected.pixels.size()), expected.pixels) << "seed " << seed;
  }
}

TEST(AugmenterTest, NeedsOnlyWhatTheFirstCropsLeave) {
  const ImageSize size = {100, 200};
  const CropParameters crop = {10, 20, {30, 40}};
  EXPECT_EQ(Augmenter::Needed(size, Ops{crop}), (Region{10, 20, {30, 40}}));
  EXPECT_EQ(Augmenter::Needed(size, Ops{crop, FlipParameters{}}), (Region{10, 20, {30, 40}}));
  EXPECT_EQ(Augmenter::Needed(size, Ops{crop, CropParameters{5, 6, {7, 8}}}), (Region{15, 26, {7, 8}}));
  EXPECT_EQ(Augmenter::Needed(size, Ops{crop, ResizeParameters{{9, 9}}, CropParameters{0, 0, {1, 1}}}),
            (Region{10, 20, {30, 40}}));
  EXPECT_EQ(Augmenter::Needed(size, Ops{CropParameters{-4, 190, {10, 20}}}), (Region{0, 190, {6, 10}}));
}

TEST(AugmenterTest, NeedsTheWholeImageWhereNoCropComesFirst) {
  const ImageSize size = {100, 200};
  EXPECT_EQ(Augmenter::Needed(size, {}), WholeOf(size));
  EXPECT_EQ(Augmenter::Needed(size, Ops{ResizeParameters{{9, 9}}, CropParameters{0, 0, {1, 1}}}), WholeOf(size));
}

TEST(AugmenterTest, ACropOfPaddingAloneIsFill) {
  Augmenter augmenter;
  const Image image = NoiseImage({5, 6});
  const Ops ops = {CropParameters{2, 6, {2, 1}, {7, 8, 9}}};
  const Region needed = Augmenter::Needed(image.size, ops);
  EXPECT_EQ(needed.size, (ImageSize{1, 1}));
  EXPECT_EQ(Applied(augmenter, image, needed, ops, 6), (Bytes{7, 8, 9, 7, 8, 9}));
}

}  // namespace
}  // namespace stoker
