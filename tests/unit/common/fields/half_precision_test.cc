#include "common/fields/half_precision.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace stoker {
namespace {

// What the bits of a binary16 mean.
double Float16(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 != 0 ? -magnitude : magnitude;
}

double Bfloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// Every finite value of the 16 bits, and what lies a quarter, half and three quarters of the way to the next.
template <uint16_t (*kRound)(float), double (*kValue)(uint16_t)>
void ExpectNearestEven(uint16_t last_finite) {
  for (uint32_t bits = 0; bits < last_finite; ++bits) {
    const double from = kValue(static_cast<uint16_t>(bits)), to = kValue(static_cast<uint16_t>(bits + 1));
    for (uint16_t sign : {0, 0x8000}) {
      const double factor = sign == 0 ? 1 : -1;
      const auto rounded = [&](double part) {
        return kRound(static_cast<float>(factor * (from + part * (to - from))));
      };
      ASSERT_EQ(rounded(0), bits | sign);
      ASSERT_EQ(rounded(0.25), bits | sign);
      ASSERT_EQ(rounded(0.5), (bits + bits % 2) | sign) << bits;
      ASSERT_EQ(rounded(0.75), (bits + 1) | sign);
    }
  }
}

TEST(HalfPrecisionTest, Float16IsTheNearestHalvesToEven) { ExpectNearestEven<ToFloat16, Float16>(0x7bff); }

// Below 2^-126 its neighbors' quarters are no float32s.
TEST(HalfPrecisionTest, Bfloat16IsTheNearestHalvesToEven) { ExpectNearestEven<ToBfloat16, Bfloat16>(0x7f7f); }

TEST(HalfPrecisionTest, WhatIsTooLargeIsInfiniteAndNanStaysNan) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(ToFloat16(65519.996f), 0x7bff);
  EXPECT_EQ(ToFloat16(65520), 0x7c00);
  EXPECT_EQ(ToFloat16(infinity), 0x7c00);
  EXPECT_EQ(ToFloat16(-infinity), 0xfc00);
  EXPECT_EQ(ToFloat16(0x1p-25f), 0);  // Half of the smallest: to even.
  EXPECT_EQ(ToFloat16(0x1.000002p-25f), 1);
  EXPECT_GT(ToFloat16(nan) & 0x7fff, 0x7c00);
  EXPECT_EQ(ToBfloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(ToBfloat16(-infinity), 0xff80);
  EXPECT_GT(ToBfloat16(nan) & 0x7fff, 0x7f80);
  EXPECT_GT(ToBfloat16(std::bit_cast<float>(0x7f800001u)) & 0x7fff, 0x7f80);  // A NaN in the lower half only.
}

}  // namespace
}  // namespace stoker
