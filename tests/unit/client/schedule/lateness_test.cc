#include "client/schedule/lateness.h"

#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(LatenessTest, IsWhatOneInAHundredExceedsWithinAQuarterOctave) {
  Lateness lateness;
  for (int i = 0; i < 400; ++i) lateness.Add(i % 100 == 7 ? 6 : 1);
  EXPECT_LE(lateness.ExceededBy(0.01), 2);
  for (int i = 0; i < 400; ++i) lateness.Add(i % 20 == 7 ? 6 : 1);
  EXPECT_GE(lateness.ExceededBy(0.01), 6);
  EXPECT_LE(lateness.ExceededBy(0.01), 8);
  EXPECT_LE(lateness.ExceededBy(0.1), 2);
}

TEST(LatenessTest, ForgetsAndIsNeverBelowOne) {
  Lateness lateness;
  for (int i = 0; i < 100; ++i) lateness.Add(50);
  EXPECT_GE(lateness.ExceededBy(0.01), 50);
  for (int i = 0; i < 4000; ++i) lateness.Add(0.1);
  EXPECT_EQ(lateness.ExceededBy(0.01), 1);
  for (double factor : {0.0, -1.0, 1e30}) lateness.Add(factor);
  EXPECT_GE(lateness.ExceededBy(0.01), 1);
}

}  // namespace
}  // namespace stoker
