#include "server/plan/sample_set.h"

#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace stoker {
namespace {

SampleSet Of(const std::set<uint64_t>& ids) {
  std::vector<uint64_t> words(ids.empty() ? 0 : *ids.rbegin() / 64 + 1);
  for (const uint64_t id : ids) words[id / 64] |= uint64_t{1} << id % 64;
  return SampleSet(std::move(words));
}

RC_GTEST_PROP(SampleSetTest, RanksFollowTheIds, ()) {
  const uint64_t end = *rc::gen::inRange<uint64_t>(1, 20'000);
  std::set<uint64_t> ids = *rc::gen::container<std::set<uint64_t>>(rc::gen::inRange<uint64_t>(0, end));
  const uint64_t run = *rc::gen::inRange<uint64_t>(0, end);  // A long run, so that whole words are set.
  for (uint64_t id = run; id < std::min(end, run + 300); ++id) ids.insert(id);
  const SampleSet set = Of(ids);
  RC_ASSERT(set.size() == ids.size());
  uint64_t rank = 0;
  for (const uint64_t id : ids) {
    RC_ASSERT(set.CountBelow(id) == rank);
    RC_ASSERT(set.IdAt(rank++) == id);
  }
  const uint64_t below = *rc::gen::inRange<uint64_t>(0, end + 500);
  RC_ASSERT(set.CountBelow(below) == static_cast<uint64_t>(std::distance(ids.begin(), ids.lower_bound(below))));
  std::set<uint64_t> told;
  uint64_t last = 0;
  set.ForEachRun([&](uint64_t begin, uint64_t end_of_run) {
    RC_ASSERT(begin < end_of_run && (told.empty() || begin > last));  // Runs that touch would be one.
    for (uint64_t id = begin; id < end_of_run; ++id) told.insert(id);
    last = end_of_run;
  });
  RC_ASSERT(told == ids);
}

TEST(SampleSetTest, RunsCrossWords) {
  std::set<uint64_t> ids;
  for (uint64_t id = 60; id < 200; ++id) ids.insert(id);
  std::vector<std::pair<uint64_t, uint64_t>> runs;
  Of(ids).ForEachRun([&](uint64_t begin, uint64_t end) { runs.emplace_back(begin, end); });
  EXPECT_EQ(runs, (std::vector<std::pair<uint64_t, uint64_t>>{{60, 200}}));
}

TEST(SampleSetTest, KnowsWhatItHolds) {
  const SampleSet set = Of({5, 64, 1000});
  EXPECT_TRUE(set.Contains(64) && set.Contains(1000));
  EXPECT_FALSE(set.Contains(6) || set.Contains(1001) || set.Contains(1'000'000));
  EXPECT_LE(set.resident_bytes(), SampleSet::BytesFor(1001));
}

TEST(SampleSetTest, MayBeEmpty) {
  EXPECT_EQ(Of({}).size(), 0);
  Of({}).ForEachRun([](uint64_t, uint64_t) { FAIL(); });
}

}  // namespace
}  // namespace stoker
