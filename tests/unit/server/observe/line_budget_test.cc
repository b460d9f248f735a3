#include "server/observe/line_budget.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/observe/peer.h"

namespace stoker {
namespace {

using testing::Eq;
using testing::Optional;

TEST(LineBudgetTest, AHostHasABurstAndThenALineNowAndThen) {
  std::chrono::steady_clock::time_point now;
  LineBudget budget([&] { return now; });
  for (int i = 0; i < LineBudget::kBurst; ++i) EXPECT_THAT(budget.Take("a", "failed"), Optional(0));
  for (int i = 0; i < 7; ++i) EXPECT_THAT(budget.Take("a", "failed"), Eq(std::nullopt));
  EXPECT_THAT(budget.Take("a", "refused"), Optional(0));
  EXPECT_THAT(budget.Take("b", "failed"), Optional(0));
  now += LineBudget::kPause;
  EXPECT_THAT(budget.Take("a", "failed"), Optional(7));
  EXPECT_THAT(budget.Take("a", "failed"), Eq(std::nullopt));
  now += 1000 * LineBudget::kPause;
  for (int i = 0; i < LineBudget::kBurst; ++i) EXPECT_THAT(budget.Take("a", "failed"), Optional(i == 0 ? 1 : 0));
  EXPECT_THAT(budget.Take("a", "failed"), Eq(std::nullopt));
}

TEST(LineBudgetTest, ForgetsTheHostThatWasQuietForLongest) {
  std::chrono::steady_clock::time_point now;
  LineBudget budget([&] { return now; });
  for (int i = 0; i < LineBudget::kBurst; ++i) budget.Take("first", "failed");
  for (size_t i = 1; i < LineBudget::kMostKeys; ++i) {
    now += std::chrono::microseconds(1);
    budget.Take(absl::StrCat("host ", i), "failed");
  }
  EXPECT_THAT(budget.Take("first", "failed"), Eq(std::nullopt));
  budget.Take("one more", "failed");
  EXPECT_THAT(budget.Take("first", "failed"), Optional(0));
}

TEST(PeerTest, HasAHost) {
  EXPECT_EQ(HostOfPeer("ipv4:10.0.0.1:5000"), "ipv4:10.0.0.1");
  EXPECT_EQ(HostOfPeer("ipv6:%5B::1%5D:5000"), "ipv6:%5B::1%5D");
  EXPECT_EQ(HostOfPeer("unix:"), "unix");
  EXPECT_EQ(HostOfPeer("unix:/run/a"), "unix");
}

}  // namespace
}  // namespace stoker
