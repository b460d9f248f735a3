#include "client/schedule/late_policy.h"

#include "gtest/gtest.h"
#include "tests/unit/client/schedule/asked_spans.h"

namespace stoker {
namespace {

constexpr SpanId kSpan = {0, 0, 1};

// A fleet of server 1, which took 10 ms for each answer, and is asked for one span more at kStart.
class LatePolicyTest : public testing::Test {
 protected:
  LatePolicyTest() {
    fleet_.Add(1, {});
    for (int i = 0; i < 100; ++i) {
      fleet_.Ask(1, kSpan, 0, 1, kStart - absl::Milliseconds(10));
      const auto settled = fleet_.Settle(1, kSpan, 0);
      policy_.Answered(1, 1);
      fleet_.Answered(1, *settled, kStart, absl::ZeroDuration());
    }
    fleet_.Ask(1, kSpan, 0, 1, kStart);
  }

  const FleetView::Server& server() const { return fleet_.at(1); }
  const FleetView::Owed& owed() const { return server().owed.begin()->second; }

  FleetView fleet_;
  LatePolicy policy_{{.least_deadline = absl::Seconds(1)}};
};

TEST_F(LatePolicyTest, AnAnswerIsLateAndItsServerSuspectAfterTheLeastHedge) {
  const auto limits = policy_.limits();
  EXPECT_FALSE(limits.IsLate(server(), owed(), kStart + absl::Milliseconds(50)));
  EXPECT_TRUE(limits.IsLate(server(), owed(), kStart + absl::Milliseconds(51)));
  EXPECT_FALSE(limits.IsSuspect(server(), kStart + absl::Milliseconds(50)));
  EXPECT_TRUE(limits.IsSuspect(server(), kStart + absl::Milliseconds(51)));
}

TEST_F(LatePolicyTest, AFleetWithLongTailsIsWaitedForLonger) {
  for (int i = 0; i < 100; ++i) policy_.Answered(1, 30);
  EXPECT_FALSE(policy_.limits().IsLate(server(), owed(), kStart + absl::Milliseconds(250)));
}

TEST_F(LatePolicyTest, ASpanIsLostAfterTheDeadlineAndItsServerHangsAfterThree) {
  EXPECT_FALSE(policy_.limits().IsLost(1, server(), owed(), kStart + absl::Milliseconds(999)));
  EXPECT_TRUE(policy_.limits().IsLost(1, server(), owed(), kStart + absl::Seconds(1)));
  EXPECT_FALSE(policy_.limits().Hangs(1, server(), kStart + absl::Milliseconds(2999)));
  EXPECT_TRUE(policy_.limits().Hangs(1, server(), kStart + absl::Seconds(3)));
}

TEST_F(LatePolicyTest, AServerThatHungHasTwiceTheTimeUntilItAnswers) {
  policy_.Hung(1);
  EXPECT_FALSE(policy_.limits().IsLost(1, server(), owed(), kStart + absl::Milliseconds(1999)));
  EXPECT_TRUE(policy_.limits().IsLost(1, server(), owed(), kStart + absl::Seconds(2)));
  policy_.Answered(1, 1);
  EXPECT_TRUE(policy_.limits().IsLost(1, server(), owed(), kStart + absl::Seconds(1)));
}

TEST_F(LatePolicyTest, BeforeAnyAnswerTheFirstDeadlineCounts) {
  const LatePolicy fresh({.first_deadline = absl::Seconds(20)});
  EXPECT_FALSE(fresh.limits().IsLost(1, server(), owed(), kStart + absl::Seconds(19)));
  EXPECT_TRUE(fresh.limits().IsLost(1, server(), owed(), kStart + absl::Seconds(20)));
}

TEST_F(LatePolicyTest, HedgesAreAPartOfTheSpansThatCameAndDoNotPileUp) {
  int hedges = 0;
  for (; policy_.MayHedge(); ++hedges) policy_.SpendHedge();
  EXPECT_EQ(hedges, 1) << "to begin with";
  for (int i = 0; i < 21; ++i) policy_.EarnHedge();
  EXPECT_TRUE(policy_.MayHedge()) << "one in twenty";
  for (int i = 0; i < 10'000; ++i) policy_.EarnHedge();
  for (hedges = 0; policy_.MayHedge(); ++hedges) policy_.SpendHedge();
  EXPECT_EQ(hedges, 8);
}

}  // namespace
}  // namespace stoker
