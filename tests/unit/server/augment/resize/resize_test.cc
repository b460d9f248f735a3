#include "server/augment/resize/resize.h"

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

constexpr v1::Interpolation kInterpolations[] = {v1::INTERPOLATION_NEAREST, v1::INTERPOLATION_BILINEAR,
                                                 v1::INTERPOLATION_BICUBIC, v1::INTERPOLATION_LANCZOS};
constexpr v1::Interpolation kKernels[] = {v1::INTERPOLATION_BILINEAR, v1::INTERPOLATION_BICUBIC,
                                          v1::INTERPOLATION_LANCZOS};

Box BoxOf(ImageSize size) { return {0, 0, static_cast<double>(size.height), static_cast<double>(size.width)}; }

Bytes Resized(const ResizeTask& task) {
  Resizer resizer;
  Bytes out(task.size.height * task.size.width * 3);
  resizer.Resize(task, out.data());
  return out;
}

Bytes Resized(const ImageView& in, ImageSize size, v1::Interpolation interpolation, bool antialias = true) {
  return Resized({in, BoxOf(in.size), size, interpolation, antialias});
}

int LargestDifference(const Bytes& a, const Bytes& b) {
  int largest = a.size() == b.size() ? 0 : 256;
  for (size_t i = 0; largest < 256 && i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST(ResizerTest, GivesPillowsBytesAndForBilinearWithinALevel) {
  Resizer resizer;
  for (const GoldenResize& golden : kGoldenResizes) {
    const std::string expected = absl::HexStringToBytes(golden.pixels);
    const Bytes in = Noise(golden.from);
    Bytes out(expected.size());
    resizer.Resize({ViewOf(in, golden.from), golden.box, golden.to, golden.interpolation}, out.data());
    EXPECT_LE(LargestDifference(out, Bytes(expected.begin(), expected.end())),
              golden.interpolation == v1::INTERPOLATION_BILINEAR ? 1 : 0)
        << golden.from.height << "x" << golden.from.width << " at " << golden.box.top << ", " << golden.box.left
        << " to " << golden.to.height << "x" << golden.to.width << ", " << v1::Interpolation_Name(golden.interpolation);
  }
}

// The weights of a triangle about `center`, its half-width `reach`, over `pixels` pixels.
std::vector<double> TriangleWeights(double center, double reach, int64_t pixels) {
  std::vector<double> weights(pixels);
  double sum = 0;
  for (int64_t i = 0; i < pixels; ++i) sum += weights[i] = std::max(0.0, 1 - std::abs(i + 0.5 - center) / reach);
  for (double& weight : weights) weight /= sum;
  return weights;
}

TEST(ResizerTest, AntialiasedBilinearIsTheTriangleWithoutRoundingBetweenPasses) {
  const ImageSize from = {67, 61};
  Bytes in = Noise(from);
  for (uint8_t& value : in) value = value < 128 ? 0 : 255;
  for (ImageSize to : {ImageSize{67, 61}, ImageSize{46, 43}, ImageSize{20, 100}, ImageSize{5, 4}, ImageSize{1, 3}}) {
    const Bytes out = Resized(ViewOf(in, from), to, v1::INTERPOLATION_BILINEAR);
    const double down = static_cast<double>(from.height) / to.height;
    const double across = static_cast<double>(from.width) / to.width;
    for (size_t i = 0; i < out.size(); ++i) {
      const int64_t y = i / 3 / to.width, x = i / 3 % to.width;
      const auto rows = TriangleWeights((y + 0.5) * down, std::max(down, 1.0), from.height);
      const auto columns = TriangleWeights((x + 0.5) * across, std::max(across, 1.0), from.width);
      double sum = 0;
      for (int64_t row = 0; row < from.height; ++row)
        for (int64_t column = 0; rows[row] > 0 && column < from.width; ++column)
          sum += rows[row] * columns[column] * in[(row * from.width + column) * 3 + i % 3];
      // Above 32 taps (of the two smallest) the image between the passes is rounded as Pillow's is.
      ASSERT_NEAR(out[i], sum, std::max(down, across) > 16 ? 1.01 : 0.6) << to.height << "x" << to.width;
    }
  }
}

// Interpolation of torch's interpolate(align_corners=False) along an axis of `pixels`, about `center`.
template <typename Value>
double Interpolated(double center, int64_t pixels, v1::Interpolation interpolation, Value value) {
  const double position = center - 0.5;
  const int64_t before = static_cast<int64_t>(std::floor(position));
  const auto weight = [&](double x) {
    if (interpolation == v1::INTERPOLATION_BILINEAR) return std::max(0.0, 1 - x);
    const double a = -0.75;
    return x < 1 ? (a + 2) * x * x * x - (a + 3) * x * x + 1 : a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a;
  };
  double sum = 0;
  for (int64_t i = before - 1; i <= before + 2; ++i)
    sum += weight(std::abs(i - position)) * value(std::clamp<int64_t>(i, 0, pixels - 1));
  return sum;
}

TEST(ResizerTest, WithoutAntialiasInterpolatesAsTorchDoes) {
  const ImageSize from = {31, 44};
  const Bytes in = Noise(from);
  for (auto interpolation : {v1::INTERPOLATION_BILINEAR, v1::INTERPOLATION_BICUBIC})
    for (ImageSize to : {ImageSize{7, 5}, ImageSize{50, 9}, ImageSize{1, 1}, ImageSize{31, 100}}) {
      const Bytes out = Resized(ViewOf(in, from), to, interpolation, false);
      for (size_t i = 0; i < out.size(); ++i) {
        const int64_t y = i / 3 / to.width, x = i / 3 % to.width;
        const auto across = [&](int64_t row) {
          const double value =
              Interpolated((x + 0.5) * from.width / to.width, from.width, interpolation,
                           [&](int64_t column) { return in[(row * from.width + column) * 3 + i % 3]; });
          return interpolation == v1::INTERPOLATION_BICUBIC ? std::clamp(std::round(value), 0.0, 255.0) : value;
        };
        const double value = Interpolated((y + 0.5) * from.height / to.height, from.height, interpolation, across);
        // A half between the passes may be rounded either way.
        ASSERT_NEAR(out[i], std::clamp(value, 0.0, 255.0), interpolation == v1::INTERPOLATION_BICUBIC ? 1.51 : 0.6)
            << to.height << "x" << to.width;
      }
    }
}

TEST(ResizerTest, AntialiasMattersToBilinearOnlyWhereAnImageShrinks) {
  const ImageSize from = {9, 8};
  const Bytes in = Noise(from);
  const auto resized = [&](ImageSize to, bool antialias) {
    return Resized(ViewOf(in, from), to, v1::INTERPOLATION_BILINEAR, antialias);
  };
  EXPECT_EQ(resized({20, 30}, true), resized({20, 30}, false));
  EXPECT_NE(resized({4, 3}, true), resized({4, 3}, false));
}

TEST(ResizerTest, OneColorStaysThatColor) {
  for (uint8_t level : {0, 1, 128, 254, 255}) {
    const Bytes in(3000 * 2 * 3, level);
    for (ImageSize from : {ImageSize{3000, 2}, ImageSize{2, 3000}, ImageSize{1, 1}, ImageSize{70, 85}})
      for (ImageSize to : {ImageSize{1, 1}, ImageSize{5, 3}, ImageSize{3001, 5}, ImageSize{47, 64}})
        for (auto interpolation : kInterpolations)
          for (bool antialias : {true, false})
            ASSERT_EQ(Resized(ViewOf(in, from), to, interpolation, antialias), Bytes(to.height * to.width * 3, level))
                << from.height << "x" << from.width << " to " << to.height << "x" << to.width << ", "
                << v1::Interpolation_Name(interpolation);
  }
}

TEST(ResizerTest, PixelsOutsideOfTheBoxHaveNoSay) {
  const ImageSize size = {20, 30};
  const Bytes in = Noise(size);
  for (const Box& box : {Box{4, 5, 9, 11}, Box{4.25, 5.5, 8.5, 10.25}, Box{3.5, 7, 1, 16.75}, Box{9, 9, 0.5, 0.25}}) {
    Bytes masked = in;
    for (int64_t y = 0; y < size.height; ++y)
      for (int64_t x = 0; x < size.width; ++x)
        if (y < std::floor(box.top) || y >= box.top + box.height || x < std::floor(box.left) ||
            x >= box.left + box.width)
          for (int channel = 0; channel < 3; ++channel) masked[(y * size.width + x) * 3 + channel] ^= 0xff;
    for (ImageSize to : {ImageSize{4, 4}, ImageSize{4, 11}, ImageSize{9, 4}, ImageSize{30, 21}})
      for (auto interpolation : kInterpolations)
        for (bool antialias : {true, false})
          EXPECT_EQ(Resized({ViewOf(in, size), box, to, interpolation, antialias}),
                    Resized({ViewOf(masked, size), box, to, interpolation, antialias}))
              << v1::Interpolation_Name(interpolation);
  }
}

TEST(ResizerTest, ABoxOfWholePixelsIsACrop) {
  const ImageSize whole = {20, 30}, size = {9, 11};
  const Bytes in = Noise(whole);
  const ImageView part = {ViewOf(in, whole).At(4, 5), size, 30 * 3};
  Bytes packed;
  for (int64_t y = 0; y < size.height; ++y) packed.insert(packed.end(), part.Row(y), part.Row(y) + size.width * 3);
  for (ImageSize to : {ImageSize{4, 4}, ImageSize{4, 11}, ImageSize{9, 4}})
    for (auto interpolation : kInterpolations) {
      const Bytes expected = Resized(ViewOf(packed, size), to, interpolation);
      EXPECT_EQ(Resized({ViewOf(in, whole), {4, 5, 9, 11}, to, interpolation}), expected);
      EXPECT_EQ(Resized(part, to, interpolation), expected);
    }
}

TEST(ResizerTest, FlipsAreExactMirrorImages) {
  const ImageSize size = {41, 53};
  const Bytes in = Noise(size);
  for (ImageSize to : {ImageSize{23, 30}, ImageSize{6, 1}, ImageSize{1, 7}, ImageSize{64, 61}})
    for (auto interpolation : kKernels) {
      const ResizeTask task = {ViewOf(in, size), {1.5, 2, 33.25, 47.5}, to, interpolation};
      const Bytes plain = Resized(task);
      for (int flips = 1; flips < 4; ++flips) {
        ResizeTask flipped = task;
        flipped.flip_horizontal = flips & 1;
        flipped.flip_vertical = flips & 2;
        Bytes expected(plain.size());
        for (size_t i = 0; i < plain.size(); ++i) {
          const int64_t y = i / 3 / to.width, x = i / 3 % to.width;
          const int64_t row = flips & 2 ? to.height - 1 - y : y, column = flips & 1 ? to.width - 1 - x : x;
          expected[i] = plain[(row * to.width + column) * 3 + i % 3];
        }
        EXPECT_EQ(Resized(flipped), expected) << flips;
      }
    }
}

TEST(ResizerTest, NearestFlipsToo) {
  const Bytes in = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};  // 2x2
  ResizeTask task = {ViewOf(in, {2, 2}), {0, 0, 2, 2}, {2, 2}, v1::INTERPOLATION_NEAREST};
  task.flip_horizontal = true;
  EXPECT_EQ(Resized(task), (Bytes{4, 5, 6, 1, 2, 3, 10, 11, 12, 7, 8, 9}));
  task.flip_vertical = true;
  EXPECT_EQ(Resized(task), (Bytes{10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3}));
}

TEST(ResizerTest, SidesOfAMillionPixelsKeepTheirMean) {
  for (auto interpolation : kKernels) {
    const int64_t side = interpolation == v1::INTERPOLATION_BILINEAR ? 1 << 20 : 1 << 17;
    Bytes in(side * 3);
    for (int64_t i = 0; i < side; ++i) std::fill_n(&in[i * 3], 3, i % 2 == 0 ? 0 : 255);
    for (ImageSize from : {ImageSize{1, side}, ImageSize{side, 1}})
      for (ImageSize to : {ImageSize{1, 1}, ImageSize{2, 3}, ImageSize{40, 50}})
        for (uint8_t value : Resized(ViewOf(in, from), to, interpolation))
          ASSERT_NEAR(value, 127.5, 1) << v1::Interpolation_Name(interpolation);
  }
}

}  // namespace
}  // namespace stoker
