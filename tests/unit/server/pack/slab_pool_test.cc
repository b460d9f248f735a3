#include "server/pack/slab_pool.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kOverhead = SlabPool::kStreamOverheadBytes;

// Takes slabs of 1 MiB until none is given.
std::vector<SlabPool::Slab> TakeAll(SlabPool::Account& account) {
  std::vector<SlabPool::Slab> slabs;
  while (auto slab = account.TryTake(kMiB)) slabs.push_back(*std::move(slab));
  return slabs;
}

TEST(SlabPoolTest, AReturnedSlabIsTakenAgain) {
  SlabPool pool(2 * kOverhead + 16 * kMiB, [] {});
  auto account = *pool.OpenAccount(kMiB);
  auto slab = account->TryTake(kMiB);
  ASSERT_TRUE(slab.has_value());
  ASSERT_EQ(slab->bytes().size(), kMiB);
  const uint8_t* address = slab->bytes().data();
  EXPECT_EQ(pool.held_bytes(), kMiB);
  slab.reset();
  EXPECT_EQ(pool.held_bytes(), 0);
  EXPECT_EQ(account->TryTake(kMiB)->bytes().data(), address);
}

TEST(SlabPoolTest, ADroppedBufferServesAnotherSlabAndItsRoomStaysTaken) {
  SlabPool pool(2 * kOverhead + 16 * kMiB, [] {});
  auto account = *pool.OpenAccount(kMiB);
  auto slab = account->TryTake(kMiB);
  const uint8_t* address = slab->bytes().data();
  slab->DropBuffer();
  EXPECT_TRUE(slab->bytes().empty());
  EXPECT_EQ(pool.held_bytes(), kMiB);
  EXPECT_EQ(account->TryTake(kMiB)->bytes().data(), address);
  slab.reset();
  EXPECT_EQ(pool.held_bytes(), 0);
}

TEST(SlabPoolTest, ABufferIsLentToItsOwnNodeWhileThereIsRoomForOthers) {
  SlabPool pool(2 * kOverhead + 16 * kMiB, [] {});
  auto account = *pool.OpenAccount(kMiB);
  auto at_first = account->TryTake(kMiB, 0), at_second = account->TryTake(kMiB, 1);
  const uint8_t *const first = at_first->bytes().data(), *const second = at_second->bytes().data();
  at_first.reset();
  at_second.reset();
  EXPECT_EQ(account->TryTake(kMiB, 1)->bytes().data(), second);
  EXPECT_EQ(account->TryTake(kMiB, 0)->bytes().data(), first);
  EXPECT_THAT(account->TryTake(kMiB, 2)->bytes().data(), testing::AllOf(testing::Ne(first), testing::Ne(second)));
  pool.SetBudget(kOverhead + 2 * kMiB);  // The idle buffers fill it, so there is no room for a new one.
  EXPECT_THAT(account->TryTake(kMiB, 3)->bytes().data(), testing::AnyOf(first, second));
}

TEST(SlabPoolTest, NoStreamCanTakeAnothersLastSpan) {
  SlabPool pool(4 * kOverhead + 16 * kMiB, [] {});
  auto greedy = *pool.OpenAccount(kMiB), modest = *pool.OpenAccount(kMiB);
  const auto taken = TakeAll(*greedy);
  EXPECT_GT(taken.size(), 16);
  EXPECT_LT(taken.size() * kMiB, pool.budget_bytes() / 2);
  EXPECT_TRUE(modest->TryTake(kMiB).has_value());
}

TEST(SlabPoolTest, StreamsThatStallInTurnNeverTakeAllThatIsShared) {
  SlabPool pool(10 * kOverhead + 64 * kMiB, [] {});
  std::vector<std::unique_ptr<SlabPool::Account>> accounts;
  std::vector<std::vector<SlabPool::Slab>> taken;
  for (int i = 0; i < 4; ++i) {
    accounts.push_back(*pool.OpenAccount(kMiB));
    taken.push_back(TakeAll(*accounts.back()));
    EXPECT_GT(taken.back().size(), 1) << "stream " << i;
  }
  auto last = *pool.OpenAccount(kMiB);
  EXPECT_GT(TakeAll(*last).size(), 1);
}

TEST(SlabPoolTest, HeldBytesNeverExceedTheBudget) {
  const uint64_t budget = 6 * kOverhead + 20 * kMiB;
  SlabPool pool(budget, [] {});
  auto a = *pool.OpenAccount(kMiB), b = *pool.OpenAccount(2 * kMiB), c = *pool.OpenAccount(kMiB);
  std::vector<SlabPool::Slab> held;
  for (bool any = true; any;) {
    any = false;
    for (auto* account : {a.get(), b.get(), c.get()})
      if (auto slab = account->TryTake(kMiB)) held.push_back(*std::move(slab)), any = true;
  }
  EXPECT_LE(pool.held_bytes(), budget - 3 * kOverhead);
  EXPECT_GE(pool.held_bytes(), budget / 3);
}

TEST(SlabPoolTest, RefusesAStreamThatHasNoRoomAndSaysTheFigures) {
  SlabPool pool(4 * kOverhead, [] {});
  auto first = pool.OpenAccount(kMiB);
  EXPECT_TRUE(first.ok());
  const auto second = pool.OpenAccount(kMiB);
  EXPECT_TRUE(absl::IsResourceExhausted(second.status()));
  EXPECT_THAT(second.status().message(), testing::HasSubstr("memory_limit"));
  first->reset();
  EXPECT_TRUE(pool.OpenAccount(kMiB).ok());
}

TEST(SlabPoolTest, SlabsOfAClosedAccountCountUntilTheyReturn) {
  SlabPool pool(4 * kOverhead + 16 * kMiB, [] {});
  auto closed = *pool.OpenAccount(kMiB);
  auto taken = TakeAll(*closed);
  closed.reset();
  auto open = *pool.OpenAccount(kMiB);
  const size_t while_held = TakeAll(*open).size();
  taken.clear();
  EXPECT_GT(TakeAll(*open).size(), while_held);
}

TEST(SlabPoolTest, ALargerSpanReservesMoreOrIsRefused) {
  SlabPool pool(4 * kOverhead + 32 * kMiB, [] {});
  auto large = *pool.OpenAccount(kMiB), greedy = *pool.OpenAccount(kMiB);
  ASSERT_TRUE(large->Reserve(8 * kMiB).ok());
  const auto taken = TakeAll(*greedy);
  EXPECT_TRUE(large->TryTake(8 * kMiB).has_value());
  EXPECT_TRUE(absl::IsResourceExhausted(large->Reserve(pool.max_span_bytes())));
}

// An account that rests lends what it reserved, and no other does: one that holds a slab, or that wants one.
TEST(SlabPoolTest, OnlyAccountsThatRestLend) {
  std::chrono::steady_clock::time_point now;
  SlabPool pool(
      6 * kOverhead + 12 * kMiB, [] {}, absl::Seconds(10), [&] { return now; });
  auto holds = *pool.OpenAccount(kMiB), wants = *pool.OpenAccount(kMiB), rests = *pool.OpenAccount(kMiB);
  ASSERT_TRUE(holds->Reserve(kMiB).ok() && wants->Reserve(kMiB).ok());
  auto slab = holds->TryTake(kMiB);
  holds->Rest();
  EXPECT_FALSE(pool.OpenAccount(kMiB).ok());
  now += std::chrono::seconds(10);
  auto taker = *pool.OpenAccount(kMiB);
  ASSERT_TRUE(taker->Reserve(kMiB).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(rests->Reserve(kMiB)));  // Nobody else rests.
  slab.reset();
  EXPECT_TRUE(absl::IsResourceExhausted(rests->Reserve(kMiB)));  // It has not rested for long.
  now += std::chrono::seconds(10);
  EXPECT_TRUE(rests->Reserve(kMiB).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(holds->Reserve(kMiB)));
  taker.reset();
  EXPECT_TRUE(holds->Reserve(kMiB).ok());
}

TEST(SlabPoolTest, TellsThatMemoryCameFreeWithoutHoldingALock) {
  int released = 0;
  SlabPool* pointer = nullptr;
  SlabPool pool(2 * kOverhead + 16 * kMiB, [&] {
    pointer->held_bytes();  // Would deadlock under the pool's lock.
    ++released;
  });
  pointer = &pool;
  auto account = *pool.OpenAccount(kMiB);
  account->TryTake(kMiB).reset();
  EXPECT_EQ(released, 1);
}

TEST(SlabPoolTest, SlabsOutliveThePool) {
  auto pool = std::make_unique<SlabPool>(2 * kOverhead + 16 * kMiB, [] {});
  auto account = *pool->OpenAccount(kMiB);
  auto slab = account->TryTake(kMiB);
  pool.reset();
  account.reset();
  slab->bytes()[kMiB - 1] = 1;
}

}  // namespace
}  // namespace stoker
