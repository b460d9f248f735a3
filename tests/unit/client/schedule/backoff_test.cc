#include "client/schedule/backoff.h"

#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(BackoffTest, PausesDoubleUpToTheLongestWithHalfOfEachRandom) {
  Backoff low, high;
  absl::Duration expected = Backoff::kFirst;
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(low.Pause(absl::Seconds(1), 0), expected / 2);
    EXPECT_EQ(high.Pause(absl::Seconds(1), 1), expected);
    expected = std::min(2 * expected, Backoff::kLongest);
  }
}

TEST(BackoffTest, AServerThatServedForLongIsForgiven) {
  Backoff backoff;
  for (int i = 0; i < 10; ++i) backoff.Pause(absl::Seconds(29), 0.5);
  EXPECT_GT(backoff.Pause(absl::Seconds(29), 0.5), absl::Seconds(2)) << "it comes and goes";
  EXPECT_LE(backoff.Pause(absl::Seconds(30), 0.5), Backoff::kFirst);
}

}  // namespace
}  // namespace stoker
