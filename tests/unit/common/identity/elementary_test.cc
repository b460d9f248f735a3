#include "common/identity/elementary.h"

#include <cmath>

#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(ElementaryTest, AgreesWithTheMathLibraryToTheLastBits) {
  for (double x = -700; x <= 700; x += 0.37) EXPECT_NEAR(DeterministicExp(x) / std::exp(x), 1, 4e-16) << "x = " << x;
  for (double x = 1e-9; x < 1e9; x *= 1.037)
    EXPECT_NEAR(DeterministicLog(x), std::log(x), 4e-16 * std::max(1.0, std::abs(std::log(x)))) << "x = " << x;
}

TEST(ElementaryTest, KnowsItsFixedPoints) {
  EXPECT_EQ(DeterministicExp(0), 1);
  EXPECT_EQ(DeterministicLog(1), 0);
}

// Bits taken once: a compiler or a CPU that gives others breaks every digest.
TEST(ElementaryTest, BitsNeverChange) {
  EXPECT_EQ(DeterministicExp(0.25), 0x1.48b5e3c3e8186p+0);
  EXPECT_EQ(DeterministicLog(0.75), -0x1.269621134db92p-2);
}

}  // namespace
}  // namespace stoker
