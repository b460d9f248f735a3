#include "server/work/span_cache.h"

#include <thread>

#include "gtest/gtest.h"

namespace stoker {
namespace {

using Bytes = std::vector<uint8_t>;

SpanCache::Key KeyOf(uint64_t start, uint64_t stream = 1) { return {stream, {0, start, 1}}; }

v1::SpanHeader HeaderOf(uint64_t start) {
  v1::SpanHeader header;
  header.set_start(start);
  return header;
}

void Keep(SpanCache& cache, uint64_t start, const Bytes& payload) {
  ASSERT_TRUE(cache.Begin(KeyOf(start)));
  cache.Put(KeyOf(start), HeaderOf(start), payload);
}

TEST(SpanCacheTest, GivesBackWhatWasKept) {
  SpanCache cache(1 << 20);
  Keep(cache, 7, {1, 2, 3});
  Bytes payload(3);
  const auto header = cache.Get(KeyOf(7), payload);
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->start(), 7u);
  EXPECT_EQ(payload, (Bytes{1, 2, 3}));
  EXPECT_FALSE(cache.Get(KeyOf(7, 2), payload).has_value()) << "another stream's";
  EXPECT_EQ(cache.stats().hits, 1u);
  EXPECT_EQ(cache.stats().misses, 1u);
}

TEST(SpanCacheTest, TheLeastRecentlyUsedGoesFirstAndTheBudgetHolds) {
  const Bytes payload(1000);
  SpanCache one(1 << 20);
  Keep(one, 0, payload);
  const uint64_t budget = 3 * one.stats().bytes;
  SpanCache cache(budget);
  Bytes out(1000);
  for (uint64_t start = 0; start < 3; ++start) Keep(cache, start, payload);
  EXPECT_TRUE(cache.Get(KeyOf(0), out).has_value());
  Keep(cache, 3, payload);
  EXPECT_TRUE(cache.Get(KeyOf(0), out).has_value());
  EXPECT_FALSE(cache.Get(KeyOf(1), out).has_value());
  EXPECT_LE(cache.stats().bytes, budget);
  EXPECT_GT(cache.stats().evictions, 0u);
  Keep(cache, 9, Bytes(budget));  // More than it may hold at all.
  EXPECT_LE(cache.stats().bytes, budget);
  EXPECT_TRUE(cache.Get(KeyOf(3), out).has_value());
}

TEST(SpanCacheTest, ASpanIsBegunByOneUntilItIsKeptOrGivenUp) {
  SpanCache cache(1 << 20);
  EXPECT_TRUE(cache.Begin(KeyOf(0)));
  EXPECT_FALSE(cache.Begin(KeyOf(0)));
  EXPECT_TRUE(cache.Begin(KeyOf(1)));
  cache.GiveUp(KeyOf(0));
  EXPECT_TRUE(cache.Begin(KeyOf(0)));
  cache.Put(KeyOf(0), HeaderOf(0), Bytes{1});
  EXPECT_TRUE(cache.Begin(KeyOf(0))) << "it is kept: anyone may copy it";
  EXPECT_TRUE(cache.Begin(KeyOf(0)));
}

TEST(SpanCacheTest, WithoutABudgetItKeepsNothingAndHoldsNoOneUp) {
  SpanCache cache(0);
  EXPECT_FALSE(cache.enabled());
  EXPECT_TRUE(cache.Begin(KeyOf(0)));
  EXPECT_TRUE(cache.Begin(KeyOf(0)));
  cache.Put(KeyOf(0), HeaderOf(0), Bytes{1});
  Bytes out(1);
  EXPECT_FALSE(cache.Get(KeyOf(0), out).has_value());
}

TEST(SpanCacheTest, ThreadsThatShareItGetWholeSpans) {
  SpanCache cache(20'000);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < 500; ++i) {
        const uint64_t start = (i * 7 + thread) % 30;
        if (!cache.Begin(KeyOf(start))) continue;
        Bytes out(1000);
        if (cache.Get(KeyOf(start), out).has_value()) {
          EXPECT_EQ(out, Bytes(1000, static_cast<uint8_t>(start)));
        } else {
          cache.Put(KeyOf(start), HeaderOf(start), Bytes(1000, static_cast<uint8_t>(start)));
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace stoker
