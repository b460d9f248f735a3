#include "server/work/span_cache.h"

#include <thread>

#include "gtest/gtest.h"

namespace stoker {
namespace {

using Bytes = std::vector<uint8_t>;

SpanCache::Key KeyOf(uint64_t start, uint8_t stream = 1) { return {{stream}, {0, start, 1}}; }

v1::SpanHeader HeaderOf(uint64_t start) {
  v1::SpanHeader header;
  header.set_start(start);
  return header;
}

void Keep(SpanCache& cache, uint64_t start, const Bytes& payload) {
  ASSERT_TRUE(cache.Begin(KeyOf(start)));
  cache.Put(KeyOf(start), HeaderOf(start), payload, start);
}

TEST(SpanCacheTest, GivesBackWhatWasKept) {
  SpanCache cache(1 << 20);
  Keep(cache, 7, {1, 2, 3});
  const auto span = cache.Get(KeyOf(7));
  ASSERT_NE(span, nullptr);
  EXPECT_EQ(span->header.start(), 7u);
  EXPECT_EQ(span->payload, (Bytes{1, 2, 3}));
  EXPECT_EQ(span->payload_hash, 7u);
  EXPECT_EQ(cache.Get(KeyOf(7, 2)), nullptr) << "another stream's";
  EXPECT_EQ(cache.stats().hits, 1u);
  EXPECT_EQ(cache.stats().misses, 1u);
}

TEST(SpanCacheTest, WhatIsEvictedStaysForThoseWhoHaveIt) {
  SpanCache cache(3000);
  Keep(cache, 0, Bytes(1000, 7));
  const auto span = cache.Get(KeyOf(0));
  for (uint64_t start = 1; start < 5; ++start) Keep(cache, start, Bytes(1000));
  EXPECT_EQ(cache.Get(KeyOf(0)), nullptr);
  EXPECT_EQ(span->payload, Bytes(1000, 7));
}

TEST(SpanCacheTest, TheLeastRecentlyUsedGoesFirstAndTheBudgetHolds) {
  const Bytes payload(1000);
  SpanCache one(1 << 20);
  Keep(one, 0, payload);
  const uint64_t budget = 3 * one.stats().bytes;
  SpanCache cache(budget);
  for (uint64_t start = 0; start < 3; ++start) Keep(cache, start, payload);
  EXPECT_NE(cache.Get(KeyOf(0)), nullptr);
  Keep(cache, 3, payload);
  EXPECT_NE(cache.Get(KeyOf(0)), nullptr);
  EXPECT_EQ(cache.Get(KeyOf(1)), nullptr);
  EXPECT_LE(cache.stats().bytes, budget);
  EXPECT_GT(cache.stats().evictions, 0u);
  Keep(cache, 9, Bytes(budget));  // More than it may hold at all.
  EXPECT_LE(cache.stats().bytes, budget);
  EXPECT_NE(cache.Get(KeyOf(3)), nullptr);
}

TEST(SpanCacheTest, ASpanIsBegunByOneUntilItIsKeptOrGivenUp) {
  SpanCache cache(1 << 20);
  EXPECT_TRUE(cache.Begin(KeyOf(0)));
  EXPECT_FALSE(cache.Begin(KeyOf(0)));
  EXPECT_TRUE(cache.Begin(KeyOf(1)));
  cache.GiveUp(KeyOf(0));
  EXPECT_TRUE(cache.Begin(KeyOf(0)));
  cache.Put(KeyOf(0), HeaderOf(0), Bytes{1}, 0);
  EXPECT_TRUE(cache.Begin(KeyOf(0))) << "it is kept: anyone may have it";
  EXPECT_TRUE(cache.Begin(KeyOf(0)));
}

TEST(SpanCacheTest, WithoutABudgetItKeepsNothingAndHoldsNoOneUp) {
  SpanCache cache(0);
  EXPECT_FALSE(cache.enabled());
  EXPECT_TRUE(cache.Begin(KeyOf(0)));
  EXPECT_TRUE(cache.Begin(KeyOf(0)));
  cache.Put(KeyOf(0), HeaderOf(0), Bytes{1}, 0);
  EXPECT_EQ(cache.Get(KeyOf(0)), nullptr);
}

TEST(SpanCacheTest, ThreadsThatShareItGetWholeSpans) {
  SpanCache cache(20'000);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < 500; ++i) {
        const uint64_t start = (i * 7 + thread) % 30;
        if (!cache.Begin(KeyOf(start))) continue;
        if (const auto span = cache.Get(KeyOf(start))) {
          EXPECT_EQ(span->payload, Bytes(1000, static_cast<uint8_t>(start)));
        } else {
          cache.Put(KeyOf(start), HeaderOf(start), Bytes(1000, static_cast<uint8_t>(start)), start);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace stoker
