#include "server/read/stores/curl/pace.h"

#include "gtest/gtest.h"

namespace stoker {
namespace {

const absl::Time kStart = absl::UnixEpoch();

TEST(PaceTest, ThrottlingHalvesOnceForThoseInFlightTogether) {
  Pace pace(64);
  for (int i = 0; i < 20; ++i) pace.OnThrottled(kStart, kStart + absl::Seconds(1));
  EXPECT_EQ(pace.allowed(), 32);
  pace.OnThrottled(kStart + absl::Seconds(2), kStart + absl::Seconds(3));
  EXPECT_EQ(pace.allowed(), 16);
}

TEST(PaceTest, AnswersLetItGrowByOneARoundUpToItsMost) {
  Pace pace(8);
  pace.OnThrottled(kStart, kStart);
  for (int i = 0; i < 5; ++i) pace.OnAnswer();
  EXPECT_EQ(pace.allowed(), 5);
  for (int i = 0; i < 100; ++i) pace.OnAnswer();
  EXPECT_EQ(pace.allowed(), 8);
}

TEST(PaceTest, OneRequestMayAlwaysStart) {
  Pace pace(2);
  for (int i = 0; i < 10; ++i) pace.OnThrottled(kStart + absl::Seconds(i), kStart + absl::Seconds(i));
  EXPECT_TRUE(pace.MayStart(0));
  EXPECT_FALSE(pace.MayStart(1));
}

TEST(BackOffTest, DoublesUpToTheLongestAndIsJittered) {
  std::minstd_rand random(1);
  for (int i = 0; i < 100; ++i) {
    const absl::Duration third = BackOff(3, absl::Milliseconds(100), absl::Seconds(10), random);
    EXPECT_GE(third, absl::Milliseconds(200));
    EXPECT_LE(third, absl::Milliseconds(400));
    EXPECT_LE(BackOff(1000, absl::Milliseconds(100), absl::Seconds(10), random), absl::Seconds(10));
  }
  EXPECT_NE(BackOff(3, absl::Milliseconds(100), absl::Seconds(10), random),
            BackOff(3, absl::Milliseconds(100), absl::Seconds(10), random));
}

}  // namespace
}  // namespace stoker
