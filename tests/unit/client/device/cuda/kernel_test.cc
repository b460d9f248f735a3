// The kernels' threads, run one by one on the CPU, against the host device and against plain loops.

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "client/device/cuda/kernel_arguments.h"
#include "client/device/cuda/transform_kernel.h"
#include "gtest/gtest.h"
#include "tests/support/simulated_gpu.h"

namespace stoker {
namespace {

constexpr uint8_t kPoison = 0xA5;
constexpr size_t kGuard = 64;

int BytesOf(Element element) { return element == Element::kUint8 ? 1 : element == Element::kFloat32 ? 4 : 2; }

// The value that a float16 or bfloat16 stands for.
double ValueOf(uint16_t bits, int mantissa) {
  const int exponent_bits = 15 - mantissa, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> mantissa & ((1 << exponent_bits) - 1), fraction = bits & ((1 << mantissa) - 1);
  const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - bias - mantissa)
                                         : std::ldexp(fraction + (1 << mantissa), exponent - bias - mantissa);
  return bits >> 15 ? -magnitude : magnitude;
}

// Whether `bits` is the nearest to `exact` of its neighbors.
void ExpectNearest(uint16_t bits, int mantissa, double exact) {
  const double here = std::abs(ValueOf(bits, mantissa) - exact);
  EXPECT_LE(here, std::abs(ValueOf(bits + 1, mantissa) - exact));
  if ((bits & 0x7FFF) != 0) {
    EXPECT_LE(here, std::abs(ValueOf(bits - 1, mantissa) - exact));
  }
}

struct Case {
  TransformArguments arguments;
  std::vector<uint8_t> in, flips, out;  // `out` with a guard behind it.
};

void Fill(Case& c, std::mt19937& random, size_t misalignment) {
  TransformArguments& a = c.arguments;
  const size_t values = a.samples * a.height * a.width * a.channels;
  c.in.resize(values + misalignment);
  for (uint8_t& value : c.in) value = static_cast<uint8_t>(random());
  c.flips.resize(a.samples);
  for (uint8_t& flips : c.flips) flips = random() % 4;
  for (int i = 0; i < a.channels; ++i) {
    a.scale[i] = 1.0f / (30 + random() % 60);
    a.bias[i] = -1.0f * (random() % 3);
  }
  c.out.assign(values * BytesOf(a.element) + kGuard, kPoison);
  a.in = c.in.data() + misalignment;
  a.out = c.out.data();
  a.flips = random() % 4 == 0 ? nullptr : c.flips.data();
}

void ExpectRight(const Case& c) {
  const TransformArguments& a = c.arguments;
  const size_t pixels = size_t(a.height) * a.width;
  for (int64_t n = 0; n < a.samples; ++n) {
    const int flips = a.flips == nullptr ? 0 : a.flips[n];
    for (int y = 0; y < a.height; ++y)
      for (int x = 0; x < a.width; ++x)
        for (int k = 0; k < a.channels; ++k) {
          const int from_y = flips & kFlipVertical ? a.height - 1 - y : y;
          const int from_x = flips & kFlipHorizontal ? a.width - 1 - x : x;
          const uint8_t value = a.in[(n * pixels + from_y * a.width + from_x) * a.channels + k];
          const size_t at = n * pixels * a.channels +
                            (a.channels_first ? k * pixels + y * a.width + x : (y * a.width + x) * a.channels + k);
          const float product = value * a.scale[k], exact = product + a.bias[k];
          const auto* out = static_cast<const uint8_t*>(a.out) + at * BytesOf(a.element);
          if (a.element == Element::kUint8) {
            ASSERT_EQ(*out, value);
          } else if (a.element == Element::kFloat32) {
            float made;
            std::memcpy(&made, out, sizeof made);
            ASSERT_EQ(made, exact) << "sample " << n << ", row " << y << ", column " << x << ", channel " << k;
          } else {
            uint16_t bits;
            std::memcpy(&bits, out, sizeof bits);
            ExpectNearest(bits, a.element == Element::kFloat16 ? 10 : 7, exact);
          }
        }
  }
  for (size_t i = c.out.size() - kGuard; i < c.out.size(); ++i) ASSERT_EQ(c.out[i], kPoison) << "behind the output";
}

constexpr Element kElements[] = {Element::kUint8, Element::kFloat16, Element::kBfloat16, Element::kFloat32};

TEST(TransformKernelTest, AnyShapeIsRight) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    Case c;
    c.arguments.element = kElements[i % 4];
    c.arguments.channels_first = i / 4 % 2;
    c.arguments.samples = random() % 3;
    c.arguments.height = 1 + random() % 40;
    c.arguments.width = 1 + random() % 40;
    c.arguments.channels = 1 + random() % 5;
    Fill(c, random, random() % 3);
    RunOnCpu(c.arguments, random());
    ExpectRight(c);
  }
}

// Including tiles that end in mid-row and images of less and of more than a tile.
TEST(TransformKernelTest, TilesAreRight) {
  std::mt19937 random(2);
  using Tile = TileKernel<void, float, true>;
  for (int i = 0; i < 96; ++i) {
    Case c;
    c.arguments.element = kElements[i % 4];
    c.arguments.channels_first = i / 4 % 2;
    c.arguments.samples = 1 + random() % 3;
    c.arguments.height = 4 * (1 + random() % 10);
    c.arguments.width = 4 * (1 + random() % 20);
    c.arguments.channels = 3;
    Fill(c, random, 0);
    ASSERT_TRUE(Tile::Fits(c.arguments));
    RunOnCpu(c.arguments, random());
    ExpectRight(c);
  }
}

TEST(TransformKernelTest, TilesAreOnlyForWhatIsAligned) {
  alignas(16) uint8_t memory[64];
  TransformArguments a{.in = memory, .out = memory, .samples = 1, .height = 4, .width = 4, .channels = 3};
  using Tile = TileKernel<void, float, true>;
  EXPECT_TRUE(Tile::Fits(a));
  const auto without = [&](auto change) {
    TransformArguments changed = a;
    change(changed);
    return Tile::Fits(changed);
  };
  EXPECT_FALSE(without([&](TransformArguments& b) { b.in = memory + 1; }));
  EXPECT_FALSE(without([&](TransformArguments& b) { b.out = memory + 4; }));
  EXPECT_FALSE(without([](TransformArguments& b) { b.channels = 4; }));
  EXPECT_FALSE(without([](TransformArguments& b) { b.width = 6, b.height = 8; }));
  EXPECT_FALSE(without([](TransformArguments& b) { b.height = 3; }));
}

}  // namespace
}  // namespace stoker
