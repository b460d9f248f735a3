#include "common/identity/epoch_order.h"

#include <algorithm>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace stoker {
namespace {

v1::Shuffle Block(uint64_t samples, uint64_t window) {
  v1::Shuffle shuffle;
  shuffle.set_mode(v1::SHUFFLE_MODE_BLOCK);
  shuffle.set_block_samples(samples);
  shuffle.set_window_blocks(window);
  return shuffle;
}

std::vector<uint64_t> Order(uint64_t size, const v1::Shuffle& shuffle, uint64_t seed = 1, uint64_t epoch = 0) {
  EpochOrder order(size, shuffle, seed, epoch);
  std::vector<uint64_t> samples;
  for (uint64_t position = 0; position < size; ++position) samples.push_back(order.SampleAt(position));
  return samples;
}

TEST(EpochOrderTest, WithoutShuffleAPositionIsItsSample) {
  v1::Shuffle none;
  none.set_mode(v1::SHUFFLE_MODE_NONE);
  EXPECT_EQ(Order(4, none), (std::vector<uint64_t>{0, 1, 2, 3}));
}

TEST(EpochOrderTest, SeedAndEpochGiveOtherOrders) {
  EXPECT_EQ(Order(100, {}, 1, 0), Order(100, {}, 1, 0));
  EXPECT_NE(Order(100, {}, 1, 0), Order(100, {}, 2, 0));
  EXPECT_NE(Order(100, {}, 1, 0), Order(100, {}, 1, 1));
}

RC_GTEST_PROP(EpochOrderTest, BlockModeVisitsEverySampleOnce, ()) {
  const uint64_t size = *rc::gen::inRange<uint64_t>(1, 2000);
  const auto order = Order(size, Block(*rc::gen::inRange<uint64_t>(1, 100), *rc::gen::inRange<uint64_t>(1, 20)),
                           *rc::gen::arbitrary<uint64_t>(), *rc::gen::arbitrary<uint64_t>());
  RC_ASSERT(std::set(order.begin(), order.end()).size() == size);
  RC_ASSERT(*std::max_element(order.begin(), order.end()) == size - 1);
}

TEST(EpochOrderTest, BlockModeReadsAWindowOfBlocksAtATime) {
  const auto order = Order(1000, Block(10, 4));
  for (size_t start = 0; start < 1000; start += 40) {
    std::set<uint64_t> blocks;
    for (size_t i = start; i < start + 40; ++i) blocks.insert(order[i] / 10);
    EXPECT_EQ(blocks.size(), 4) << "window at " << start;
  }
}

TEST(EpochOrderTest, AWindowHasThePositionsWhoseSamplesAreMixed) {
  for (const uint64_t size : {1000, 997}) {
    const EpochOrder order(size, Block(10, 4), 1, 0);
    for (uint64_t position = 0; position < size; ++position) {
      const EpochOrder::Window window = order.WindowOf(position);
      EXPECT_LE(window.first, position);
      EXPECT_LT(position, window.first + window.count);
      EXPECT_LE(window.first + window.count, size);
      std::set<uint64_t> blocks;
      for (uint64_t i = 0; i < window.count; ++i) blocks.insert(order.SampleAt(window.first + i) / 10);
      EXPECT_EQ(blocks.size(), 4);
    }
  }
  EXPECT_EQ(EpochOrder(50, {}, 1, 0).WindowOf(20).count, 50);
}

TEST(EpochOrderTest, BlockModeMixesWithinAWindow) {
  const auto order = Order(1000, Block(10, 4));
  std::set<uint64_t> blocks;
  for (size_t i = 0; i < 10; ++i) blocks.insert(order[i] / 10);
  EXPECT_GT(blocks.size(), 1);
}

TEST(EpochOrderTest, TheLargestDatasetNeedsNoTable) {
  EpochOrder full(uint64_t{1} << 63, {}, 1, 2), block((uint64_t{1} << 62) + 7, Block(1 << 20, 64), 1, 2);
  for (uint64_t position : {uint64_t{0}, uint64_t{12345678901}, uint64_t{1} << 62}) {
    EXPECT_LT(full.SampleAt(position), uint64_t{1} << 63);
    EXPECT_LT(block.SampleAt(position), (uint64_t{1} << 62) + 7);
  }
}

TEST(EpochOrderTest, RefusesShufflesThatCannotBe) {
  v1::Shuffle full;
  full.set_block_samples(3);
  EXPECT_EQ(ValidateShuffle(full).message(), "shuffle.block_samples and window_blocks need shuffle.mode block");
  EXPECT_FALSE(ValidateShuffle(Block(uint64_t{1} << 40, uint64_t{1} << 40)).ok());
  EXPECT_TRUE(ValidateShuffle(Block(0, 0)).ok());
}

}  // namespace
}  // namespace stoker
