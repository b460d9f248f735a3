#include "server/plan/weighted_classes.h"

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace stoker {
namespace {

// Ranks 0 to 9 and 20 are of a class with weight 1, ranks 10 to 19 of one with weight 3.
WeightedClasses OneToThree() { return WeightedClasses({{1, {{0, 10}, {20, 21}}}, {3, {{10, 20}}}}); }

TEST(WeightedClassesTest, ClassesAreDrawnByTheirWeightsAndSamplesAlike) {
  const WeightedClasses classes = OneToThree();
  constexpr uint64_t kDraws = 100'000;
  std::map<uint64_t, double> drawn;
  double of_second = 0;
  for (uint64_t position = 0; position < kDraws; ++position) {
    const uint64_t rank = classes.RankAt(1, 0, position);
    ASSERT_LT(rank, 21);
    drawn[rank] += 1;
    if (rank >= 10 && rank < 20) of_second += 1;
  }
  // Five standard deviations of a binomial distribution; the draws are the same in each run.
  EXPECT_NEAR(of_second, kDraws * 0.75, 5 * std::sqrt(kDraws * 0.75 * 0.25));
  for (uint64_t rank = 0; rank < 21; ++rank) {
    const double share = rank >= 10 && rank < 20 ? 0.075 : 0.25 / 11;
    EXPECT_NEAR(drawn[rank], kDraws * share, 5 * std::sqrt(kDraws * share)) << rank;
  }
}

TEST(WeightedClassesTest, ADrawIsAFunctionOfSeedEpochAndPosition) {
  const WeightedClasses classes = OneToThree();
  const auto epoch = [&](uint64_t seed, uint64_t number) {
    std::vector<uint64_t> ranks;
    for (uint64_t position = 0; position < 100; ++position) ranks.push_back(classes.RankAt(seed, number, position));
    return ranks;
  };
  EXPECT_EQ(epoch(1, 0), epoch(1, 0));
  EXPECT_NE(epoch(1, 0), epoch(2, 0));
  EXPECT_NE(epoch(1, 0), epoch(1, 1));
}

// What jobs that go on from a saved state rely on.
TEST(WeightedClassesTest, DrawsStayAsTheyAre) {
  const WeightedClasses classes = OneToThree();
  std::vector<uint64_t> ranks;
  for (uint64_t position = 0; position < 8; ++position) ranks.push_back(classes.RankAt(7, 3, position));
  EXPECT_EQ(ranks, (std::vector<uint64_t>{12, 2, 15, 14, 18, 16, 17, 15}));
}

}  // namespace
}  // namespace stoker
