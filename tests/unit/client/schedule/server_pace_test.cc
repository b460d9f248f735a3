#include "client/schedule/server_pace.h"

#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(ServerPaceTest, AShareHoldsForLittleAndForMuchWork) {
  // Four workers that take 20 ms each: the 12th span of a full queue takes 60 ms, a lone one 20.
  ServerPace busy(4), idle(4);
  for (int i = 0; i < 50; ++i) {
    busy.Arrived(absl::Milliseconds(60), absl::Milliseconds(40), 12);
    idle.Arrived(absl::Milliseconds(20), absl::ZeroDuration(), 1);
  }
  for (const ServerPace& pace : {busy, idle}) {
    EXPECT_NEAR(pace.rate(), 200, 1);
    EXPECT_NEAR(absl::ToDoubleMilliseconds(pace.Estimate(1)), 20, 0.1);
    EXPECT_NEAR(absl::ToDoubleMilliseconds(pace.Estimate(12)), 60, 0.1);
  }
}

TEST(ServerPaceTest, TheWindowHoldsWhatIsInWorkOnTheWayAndNext) {
  ServerPace near(4), far(4);
  EXPECT_EQ(near.Window(), 10) << "before any answer";
  for (int i = 0; i < 200; ++i) near.Arrived(absl::Milliseconds(20), {}, 4);
  EXPECT_EQ(near.Window(), 10);
  // 100 ms on the way: a depth of 24 keeps four workers busy.
  for (int i = 0; i < 200; ++i) far.Arrived(absl::Milliseconds(120), {}, 24);
  EXPECT_EQ(far.Window(), 4 + 2 + 24);
}

TEST(ServerPaceTest, WaitingInTheServersQueueWidensNoWindow) {
  ServerPace pace(2);
  for (int i = 0; i < 200; ++i) pace.Arrived(absl::Seconds(1), absl::Milliseconds(980), 100);
  EXPECT_LE(pace.Window(), 2 + 2 + 3);
}

TEST(ServerPaceTest, AServerThatIsSharedByManyIsAskedForLittle) {
  // Four workers that take 20 ms each, for 32 clients: every 160 ms a span for each.
  ServerPace pace(4);
  for (int i = 0; i < 200; ++i) pace.Arrived(absl::Milliseconds(640), absl::Milliseconds(620), 4);
  EXPECT_EQ(pace.Window(), 3);
}

TEST(ServerPaceTest, WhatAServerClaimsToHaveWaitedIsBoundedByTheLatency) {
  ServerPace honest(2), lying(2);
  for (int i = 0; i < 50; ++i) honest.Arrived(absl::Milliseconds(20), absl::ZeroDuration(), 2);
  for (int i = 0; i < 50; ++i) lying.Arrived(absl::Milliseconds(20), -absl::Hours(1), 2);
  EXPECT_EQ(lying.Window(), honest.Window());
  lying.Arrived(absl::Milliseconds(20), absl::Hours(1), 2);
  EXPECT_LE(lying.Window(), honest.Window());
}

TEST(ServerPaceTest, SilenceIsLearnedFromAndOneAnswerForgivesIt) {
  ServerPace pace(1);
  for (int i = 0; i < 50; ++i) pace.Arrived(absl::Milliseconds(10), {}, 1);
  pace.Outstanding(absl::Milliseconds(5), 1);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(pace.Estimate(1)), 10, 0.1);
  pace.Outstanding(absl::Seconds(3), 1);
  EXPECT_GE(pace.Estimate(1), absl::Seconds(3));
}

TEST(ServerPaceTest, AssumesWhatIsKnownOfOthersUntilTheFirstAnswer) {
  ServerPace pace(4);
  pace.Assume(absl::Milliseconds(40));
  EXPECT_NEAR(pace.rate(), 100, 0.1);
  pace.Arrived(absl::Milliseconds(20), {}, 1);
  pace.Assume(absl::Seconds(1));
  EXPECT_NEAR(pace.rate(), 200, 0.1);
}

}  // namespace
}  // namespace stoker
