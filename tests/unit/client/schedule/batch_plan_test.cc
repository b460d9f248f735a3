#include "client/schedule/batch_plan.h"

#include <map>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace stoker {
namespace {

using Positions = std::vector<uint64_t>;

Positions PositionsOf(const BatchSpec& spec) {
  Positions positions(spec.rows);
  for (const Run& run : spec.runs)
    for (uint64_t i = 0; i < run.count; ++i) positions[run.row + i] = run.start + i;
  return positions;
}

// The epoch from `cursor` on, as all ranks together see it: for each step, each rank's batch.
std::vector<std::vector<BatchSpec>> Epoch(BatchPlan::Options options, Cursor cursor = {}) {
  std::vector<std::vector<BatchSpec>> steps;
  const uint64_t epoch = cursor.epoch;
  while (cursor.epoch == epoch) {
    std::vector<BatchSpec> ranks;
    for (options.rank = 0; options.rank < options.world_size; ++options.rank) {
      auto spec = BatchPlan(options).At(cursor);
      if (!spec.has_value()) break;
      ranks.push_back(*spec);
    }
    if (ranks.empty()) break;
    EXPECT_EQ(ranks.size(), options.world_size) << "ranks differ in their number of steps";
    for (const BatchSpec& rank : ranks) EXPECT_EQ(rank.next, ranks[0].next);
    cursor = ranks[0].next;
    steps.push_back(std::move(ranks));
  }
  return steps;
}

Positions GlobalOrder(const BatchPlan::Options& options, Cursor cursor = {}) {
  Positions order;
  for (const auto& step : Epoch(options, cursor))
    for (const BatchSpec& rank : step) {
      const Positions positions = PositionsOf(rank);
      order.insert(order.end(), positions.begin(), positions.begin() + static_cast<int64_t>(rank.real));
    }
  return order;
}

Positions Iota(uint64_t begin, uint64_t end) {
  Positions positions;
  for (uint64_t p = begin; p < end; ++p) positions.push_back(p);
  return positions;
}

TEST(BatchPlanTest, RanksTakeRunsOfAGlobalBatchInTurn) {
  const auto steps = Epoch({.samples = 12, .batch_size = 2, .world_size = 3});
  ASSERT_EQ(steps.size(), 2);
  EXPECT_EQ(PositionsOf(steps[0][0]), (Positions{0, 1}));
  EXPECT_EQ(PositionsOf(steps[0][2]), (Positions{4, 5}));
  EXPECT_EQ(PositionsOf(steps[1][1]), (Positions{8, 9}));
  EXPECT_EQ(steps[1][0].next, (Cursor{1, 0}));
}

TEST(BatchPlanTest, DropLeavesTheTailOut) {
  EXPECT_EQ(GlobalOrder({.samples = 11, .batch_size = 2, .world_size = 2}), Iota(0, 8));
}

TEST(BatchPlanTest, PadWrapsToTheFirstPositionsAndSaysHowManyAreReal) {
  const auto steps = Epoch({.samples = 5, .batch_size = 2, .world_size = 2, .last_batch = LastBatch::kPad});
  ASSERT_EQ(steps.size(), 2);
  EXPECT_EQ(PositionsOf(steps[1][0]), (Positions{4, 0}));
  EXPECT_EQ(steps[1][0].real, 1);
  EXPECT_EQ(PositionsOf(steps[1][1]), (Positions{1, 2}));
  EXPECT_EQ(steps[1][1].real, 0);
}

TEST(BatchPlanTest, PadWrapsMoreThanOnceInATinyDataset) {
  const auto spec = BatchPlan({.samples = 2, .batch_size = 5, .last_batch = LastBatch::kPad}).At({});
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(PositionsOf(*spec), (Positions{0, 1, 0, 1, 0}));
  EXPECT_EQ(spec->real, 2);
}

TEST(BatchPlanTest, PartialGivesTheLastRanksAShortOrAnEmptyBatch) {
  const auto steps = Epoch({.samples = 13, .batch_size = 2, .world_size = 4, .last_batch = LastBatch::kPartial});
  ASSERT_EQ(steps.size(), 2);  // A tail of 5 on 4 ranks: 2, 2, 1, 0.
  EXPECT_EQ(PositionsOf(steps[1][0]), (Positions{8, 9}));
  EXPECT_EQ(PositionsOf(steps[1][2]), (Positions{12}));
  EXPECT_EQ(PositionsOf(steps[1][3]), Positions{});
}

TEST(BatchPlanTest, AnEpochOfWholeBatchesEndsWithTheNextOnesCursor) {
  for (LastBatch mode : {LastBatch::kDrop, LastBatch::kPad, LastBatch::kPartial}) {
    const auto steps = Epoch({.samples = 8, .batch_size = 4, .last_batch = mode}, {7, 0});
    ASSERT_EQ(steps.size(), 2);
    EXPECT_EQ(steps[1][0].next, (Cursor{8, 0}));
  }
}

TEST(BatchPlanTest, RefusesWhatHasNoBatch) {
  EXPECT_THAT(BatchPlan::Validate({.samples = 7, .batch_size = 4, .world_size = 2}).message(),
              testing::HasSubstr("7 samples do not fill one batch of 4 on 2 ranks"));
  EXPECT_TRUE(
      BatchPlan::Validate({.samples = 7, .batch_size = 4, .world_size = 2, .last_batch = LastBatch::kPad}).ok());
  EXPECT_EQ(BatchPlan::Validate({.samples = 7, .rank = 1, .world_size = 1}).message(),
            "rank: 1 is not below world_size 1");
  EXPECT_FALSE(BatchPlan::Validate({.samples = 0}).ok());
}

BatchPlan::Options AnyOptions() {
  BatchPlan::Options options;
  options.samples = *rc::gen::inRange<uint64_t>(1, 300);
  options.batch_size = *rc::gen::inRange<uint64_t>(1, 40);
  options.world_size = *rc::gen::inRange<uint64_t>(1, 9);
  options.last_batch = *rc::gen::element(LastBatch::kDrop, LastBatch::kPad, LastBatch::kPartial);
  return options;
}

RC_GTEST_PROP(BatchPlanTest, EverySampleIsVisitedOnceInOrder, ()) {
  const auto options = AnyOptions();
  const uint64_t global = options.batch_size * options.world_size;
  const uint64_t visited = options.last_batch == LastBatch::kDrop ? options.samples / global * global : options.samples;
  RC_ASSERT(GlobalOrder(options) == Iota(0, visited));
  RC_ASSERT(Epoch(options).size() == BatchPlan(options).BatchesFrom(0));
}

RC_GTEST_PROP(BatchPlanTest, AnotherWorldSizeWithTheSameGlobalBatchKeepsTheGlobalOrder, ()) {
  auto options = AnyOptions();
  options.batch_size = 8;
  options.world_size = 1;
  auto split = options;
  split.world_size = *rc::gen::element<uint64_t>(2, 4, 8);
  split.batch_size = 8 / split.world_size;
  RC_ASSERT(GlobalOrder(options) == GlobalOrder(split));
}

RC_GTEST_PROP(BatchPlanTest, ResumingAnywhereWithAnotherShapeGoesOnInOrder, ()) {
  const auto options = AnyOptions();
  const auto steps = Epoch(options);
  RC_PRE(steps.size() > 1);
  const auto& last_done = steps[*rc::gen::inRange<size_t>(0, steps.size() - 1)];
  auto other = AnyOptions();
  other.samples = options.samples;
  other.last_batch = LastBatch::kPartial;
  RC_ASSERT(GlobalOrder(other, last_done[0].next) == Iota(last_done[0].next.position, options.samples));
}

RC_GTEST_PROP(BatchPlanTest, SpansLieOnTheGridAndCoverTheirRun, ()) {
  const Run run = {*rc::gen::inRange<uint64_t>(0, 1000), *rc::gen::inRange<uint64_t>(1, 200), 0};
  const uint64_t step = *rc::gen::element<uint64_t>(1, 2, 8, 64, 3);
  uint64_t next = run.start;
  for (const SpanId& span : CutSpans(5, run, step)) {
    RC_ASSERT(span.epoch == 5u);
    RC_ASSERT(span.start == next);
    RC_ASSERT(span.start / step == (span.start + span.count - 1) / step);
    next += span.count;
  }
  RC_ASSERT(next == run.start + run.count);
}

}  // namespace
}  // namespace stoker
