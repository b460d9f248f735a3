#include "server/read/cached/memory_tier.h"

#include <thread>

#include "gtest/gtest.h"
#include "tests/unit/server/read/cached/sample_keys.h"

namespace stoker {
namespace {

constexpr uint64_t kSampleBytes = 1000, kCost = kSampleBytes + MemoryTier::kEntryBytes;

bool Put(MemoryTier& tier, uint64_t number) {
  if (!tier.Reserve(kSampleBytes)) return false;
  tier.Put(KeyNumber(number), std::make_shared<const std::vector<uint8_t>>(BytesOf(number, kSampleBytes)));
  return true;
}

bool Hits(MemoryTier& tier, uint64_t number) {
  const KeptBytes kept = tier.Get(KeyNumber(number), kSampleBytes);
  if (kept == nullptr) tier.Ask(kSampleBytes);
  EXPECT_TRUE(kept == nullptr || *kept == BytesOf(number, kSampleBytes)) << number;
  return kept != nullptr;
}

// Returns how many of `samples` an epoch in their order finds, putting those that it does not.
int Epoch(MemoryTier& tier, const std::vector<uint64_t>& samples) {
  int hits = 0;
  for (const uint64_t sample : samples) {
    if (Hits(tier, sample)) {
      ++hits;
    } else {
      Put(tier, sample);
    }
  }
  return hits;
}

std::vector<uint64_t> Range(uint64_t begin, uint64_t end) {
  std::vector<uint64_t> numbers;
  for (uint64_t i = begin; i < end; ++i) numbers.push_back(i);
  return numbers;
}

TEST(MemoryTierTest, ReturnsWhatWasPutAndNeverHoldsMoreThanItsBudget) {
  MemoryTier tier(10 * kCost, Admission::Kind::kServing);
  tier.ExpectBytes(1000 * kSampleBytes);
  for (uint64_t i = 0; i < 1000; ++i) {
    Put(tier, i);
    EXPECT_LE(tier.stats().bytes, 10 * kCost);
  }
  EXPECT_EQ(tier.stats().samples, 10);
  for (uint64_t i = 0; i < 1000; ++i) Hits(tier, i);
}

TEST(MemoryTierTest, ASampleLargerThanTheBudgetIsNotKept) {
  MemoryTier tier(kSampleBytes, Admission::Kind::kServing);
  EXPECT_FALSE(tier.Reserve(kSampleBytes));
  EXPECT_EQ(tier.stats().bytes, 0);
}

TEST(MemoryTierTest, RoomThatIsReservedIsNobodyElses) {
  MemoryTier tier(2 * kCost, Admission::Kind::kServing);
  ASSERT_TRUE(tier.Reserve(kSampleBytes));
  ASSERT_TRUE(tier.Reserve(kSampleBytes));
  EXPECT_FALSE(tier.Reserve(kSampleBytes)) << "what is reserved cannot be given up";
  tier.Release(kSampleBytes);
  EXPECT_TRUE(tier.Reserve(kSampleBytes));
}

TEST(MemoryTierTest, WhatTwoPutIsKeptOnce) {
  MemoryTier tier(10 * kCost, Admission::Kind::kServing);
  ASSERT_TRUE(Put(tier, 1));
  ASSERT_TRUE(Put(tier, 1));
  EXPECT_EQ(tier.stats().samples, 1);
  EXPECT_EQ(tier.stats().bytes, kCost);
}

// LRU would find nothing: what is read next was given up just before.
TEST(MemoryTierTest, EpochsInOneOrderOverASetTwiceAsLargeFindNearlyHalfOfIt) {
  constexpr uint64_t kSamples = 2000;
  MemoryTier tier(kSamples / 2 * kCost, Admission::Kind::kServing);
  tier.ExpectBytes(kSamples * kSampleBytes);
  EXPECT_EQ(Epoch(tier, Range(0, kSamples)), 0);
  for (int epoch = 1; epoch < 6; ++epoch) EXPECT_GT(Epoch(tier, Range(0, kSamples)), 900) << epoch;
}

TEST(MemoryTierTest, WhatIsReadNoLongerMakesRoomAfterTwoEpochs) {
  constexpr uint64_t kSamples = 1000;
  MemoryTier tier(kSamples * kCost, Admission::Kind::kServing);
  tier.ExpectBytes(kSamples * kSampleBytes);
  Epoch(tier, Range(0, kSamples));
  EXPECT_EQ(Epoch(tier, Range(0, kSamples)), kSamples);
  const std::vector<uint64_t> others = Range(kSamples, 2 * kSamples);
  for (int epoch = 0; epoch < 3; ++epoch) Epoch(tier, others);
  EXPECT_GT(Epoch(tier, others), 990);
}

TEST(MemoryTierTest, ThreadsGetTheBytesOfTheirKeys) {
  MemoryTier tier(50 * kCost, Admission::Kind::kServing);
  tier.ExpectBytes(100 * kSampleBytes);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&tier] {
      for (int epoch = 0; epoch < 20; ++epoch) Epoch(tier, Range(0, 100));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(tier.stats().bytes, 50 * kCost);
  EXPECT_EQ(tier.stats().bytes, tier.stats().samples * kCost) << "no room may be lost";
}

}  // namespace
}  // namespace stoker
