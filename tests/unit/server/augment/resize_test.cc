#include "server/augment/resize.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "tests/unit/server/augment/golden.h"
#include "tests/unit/server/augment/noise.h"

namespace stoker {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes Resized(Resizer& resizer, const ImageView& in, const ResizeParameters& parameters) {
  Bytes out(parameters.size.height * parameters.size.width * 3);
  resizer.Resize(in, parameters, out.data());
  return out;
}

TEST(ResizerTest, GivesPillowsBytes) {
  Resizer resizer;
  for (const GoldenResize& golden : kGoldenResizes) {
    const std::string expected = absl::HexStringToBytes(golden.pixels);
    const Bytes in = Noise(golden.from);
    EXPECT_EQ(Resized(resizer, ViewOf(in, golden.from), {golden.to, golden.interpolation}),
              Bytes(expected.begin(), expected.end()))
        << golden.from.height << "x" << golden.from.width << " to " << golden.to.height << "x" << golden.to.width
        << ", " << v1::Interpolation_Name(golden.interpolation);
  }
}

// Bilinear interpolation of torch's interpolate(align_corners=False), from its definition.
double Interpolated(const ImageView& in, ImageSize size, int64_t y, int64_t x, int channel) {
  const auto at = [&](int64_t row, int64_t column) -> double {
    return in.Row(std::clamp<int64_t>(
        row, 0, in.size.height - 1))[std::clamp<int64_t>(column, 0, in.size.width - 1) * 3 + channel];
  };
  const double source_y = (y + 0.5) * in.size.height / size.height - 0.5;
  const double source_x = (x + 0.5) * in.size.width / size.width - 0.5;
  const int64_t top = std::floor(source_y), left = std::floor(source_x);
  const double down = source_y - top, across = source_x - left;
  return (1 - down) * ((1 - across) * at(top, left) + across * at(top, left + 1)) +
         down * ((1 - across) * at(top + 1, left) + across * at(top + 1, left + 1));
}

TEST(ResizerTest, BilinearWithoutAntialiasInterpolatesFourPixels) {
  Resizer resizer;
  const ImageSize from = {31, 44};
  const Bytes in = Noise(from);
  for (ImageSize to : {ImageSize{7, 5}, ImageSize{50, 9}, ImageSize{1, 1}, ImageSize{31, 100}}) {
    const Bytes out = Resized(resizer, ViewOf(in, from), {to, v1::INTERPOLATION_BILINEAR, false});
    for (size_t i = 0; i < out.size(); ++i) {
      const int64_t pixel = i / 3;
      // Two roundings of half a level each.
      ASSERT_NEAR(out[i], Interpolated(ViewOf(in, from), to, pixel / to.width, pixel % to.width, i % 3), 1.0001)
          << to.height << "x" << to.width;
    }
  }
}

TEST(ResizerTest, AntialiasMattersOnlyWhereAnImageShrinks) {
  Resizer resizer;
  const ImageSize from = {9, 8};
  const Bytes in = Noise(from);
  for (auto interpolation : {v1::INTERPOLATION_BILINEAR, v1::INTERPOLATION_BICUBIC}) {
    const auto resized = [&](ImageSize to, bool antialias) {
      return Resized(resizer, ViewOf(in, from), {to, interpolation, antialias});
    };
    EXPECT_EQ(resized({20, 30}, true), resized({20, 30}, false));
    EXPECT_NE(resized({4, 3}, true), resized({4, 3}, false));
  }
}

TEST(ResizerTest, OneColorStaysThatColor) {
  Resizer resizer;
  for (uint8_t level : {0, 1, 128, 255}) {
    const Bytes in(3000 * 2 * 3, level);
    for (ImageSize from : {ImageSize{3000, 2}, ImageSize{2, 3000}})
      for (ImageSize to : {ImageSize{1, 1}, ImageSize{5, 3}, ImageSize{3001, 5}})
        for (auto interpolation : {v1::INTERPOLATION_NEAREST, v1::INTERPOLATION_BILINEAR, v1::INTERPOLATION_BICUBIC})
          for (uint8_t pixel : Resized(resizer, ViewOf(in, from), {to, interpolation})) ASSERT_EQ(pixel, level);
  }
}

TEST(ResizerTest, ResizesAPartOfALargerImage) {
  Resizer resizer;
  const ImageSize whole = {20, 30}, size = {9, 11};
  const Bytes in = Noise(whole);
  const ImageView part = {ViewOf(in, whole).Row(4) + 5 * 3, size, 30 * 3};
  Bytes packed;
  for (int64_t y = 0; y < size.height; ++y) packed.insert(packed.end(), part.Row(y), part.Row(y) + size.width * 3);
  for (ImageSize to : {ImageSize{4, 4}, ImageSize{4, 11}, ImageSize{9, 4}})
    for (auto interpolation : {v1::INTERPOLATION_NEAREST, v1::INTERPOLATION_BILINEAR, v1::INTERPOLATION_BICUBIC})
      EXPECT_EQ(Resized(resizer, part, {to, interpolation}),
                Resized(resizer, ViewOf(packed, size), {to, interpolation}));
}

}  // namespace
}  // namespace stoker
