#include "common/identity/elementary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(ElementaryTest, AgreesWithTheMathLibraryToTheLastBits) {
  for (double x = -700; x <= 700; x += 0.37) EXPECT_NEAR(DeterministicExp(x) / std::exp(x), 1, 4e-16) << "x = " << x;
  for (double x = 1e-9; x < 1e9; x *= 1.037)
    EXPECT_NEAR(DeterministicLog(x), std::log(x), 4e-16 * std::max(1.0, std::abs(std::log(x)))) << "x = " << x;
}

TEST(ElementaryTest, SinesAgreeWithTheMathLibrarysLongDoubles) {
  for (double x = -3600; x <= 3600; x += 0.037) {
    const long double radians = static_cast<long double>(x) * std::numbers::pi_v<long double> / 180;
    EXPECT_NEAR(DeterministicSinDegrees(x), static_cast<double>(std::sin(radians)), 4e-16) << "x = " << x;
    EXPECT_NEAR(DeterministicCosDegrees(x), static_cast<double>(std::cos(radians)), 4e-16) << "x = " << x;
  }
}

TEST(ElementaryTest, RightAnglesAreExact) {
  for (int quarter = -9; quarter <= 9; ++quarter) {
    const int turn = ((quarter % 4) + 4) % 4;
    EXPECT_EQ(DeterministicSinDegrees(90.0 * quarter), (turn == 1) - (turn == 3)) << quarter;
    EXPECT_EQ(DeterministicCosDegrees(90.0 * quarter), (turn == 0) - (turn == 2)) << quarter;
  }
}

TEST(ElementaryTest, KnowsItsFixedPoints) {
  EXPECT_EQ(DeterministicExp(0), 1);
  EXPECT_EQ(DeterministicLog(1), 0);
}

TEST(ElementaryTest, NormalQuantilesAreWhatTheErrorFunctionComesBackFrom) {
  EXPECT_EQ(DeterministicNormalQuantile(0.5), 0);
  for (double p = 1e-10; p < 0.5; p *= 1.01) {
    const double quantile = DeterministicNormalQuantile(p);
    EXPECT_NEAR(std::erfc(-quantile / std::numbers::sqrt2) / 2 / p, 1, 1e-13) << "p = " << p;
    EXPECT_NEAR(DeterministicNormalQuantile(1 - p), -quantile, 1e-6 * std::abs(quantile)) << "p = " << p;
  }
}

// Bits taken once: a compiler or a CPU that gives others breaks every digest.
TEST(ElementaryTest, BitsNeverChange) {
  EXPECT_EQ(DeterministicExp(0.25), 0x1.48b5e3c3e8186p+0);
  EXPECT_EQ(DeterministicLog(0.75), -0x1.269621134db92p-2);
  EXPECT_EQ(DeterministicSinDegrees(30.5), 0x1.03dc117cc3616p-1);
  EXPECT_EQ(DeterministicCosDegrees(-77.25), 0x1.c3fd044dd3d44p-3);
  EXPECT_EQ(DeterministicNormalQuantile(0.3), -0x1.0c7e39582c5fap-1);
  EXPECT_EQ(DeterministicNormalQuantile(0.999), 0x1.8b8cbb7204470p+1);
}

}  // namespace
}  // namespace stoker
