#include "server/work/fair_shares.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

auto About(double share) { return DoubleNear(share, 1e-9); }

TEST(FairSharesTest, WithoutBoundsAllHaveAsMuch) {
  EXPECT_THAT(FairShares({}), ElementsAre());
  EXPECT_THAT(FairShares({0}), ElementsAre(About(1)));
  EXPECT_THAT(FairShares({0, 0, 0, 0}), ElementsAre(About(0.25), About(0.25), About(0.25), About(0.25)));
}

TEST(FairSharesTest, WhatABoundLeavesGoesToTheOthers) {
  EXPECT_THAT(FairShares({10, 0}), ElementsAre(About(0.1), About(0.9)));
  EXPECT_THAT(FairShares({0, 10, 0}), ElementsAre(About(0.45), About(0.1), About(0.45)));
  EXPECT_THAT(FairShares({60, 0}), ElementsAre(About(0.5), About(0.5))) << "a bound promises nothing";
  EXPECT_THAT(FairShares({5, 30, 0, 0}), ElementsAre(About(0.05), About(0.3), About(0.325), About(0.325)));
  EXPECT_THAT(FairShares({10, 20}), ElementsAre(About(0.1), About(0.2)));
}

}  // namespace
}  // namespace stoker
