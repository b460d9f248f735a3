#include "server/plan/mixture.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

v1::Shuffle Mode(v1::ShuffleMode mode) {
  v1::Shuffle shuffle;
  shuffle.set_mode(mode);
  if (mode == v1::SHUFFLE_MODE_BLOCK) {
    shuffle.set_block_samples(3);
    shuffle.set_window_blocks(2);
  }
  return shuffle;
}

// A mixture of parts of drawn sizes and weights, and how long its epochs are.
struct Example {
  std::vector<Mixture::Part> parts;
  uint64_t sum = 0, positions = 0, seed = 0;
  v1::Shuffle shuffle;

  explicit Example(std::mt19937_64& random) : seed(random()) {
    uint64_t begin = random() % 5;  // Ranks need not begin at 0 as far as a mixture knows.
    for (uint64_t count = 1 + random() % 5; count > 0; --count) {
      parts.push_back({begin, begin + 1 + random() % 40, 1 + random() % 7});
      begin = parts.back().end;
      sum += parts.back().weight;
    }
    positions = 1 + random() % 200;
    const v1::ShuffleMode modes[] = {v1::SHUFFLE_MODE_FULL, v1::SHUFFLE_MODE_BLOCK, v1::SHUFFLE_MODE_NONE};
    shuffle = Mode(modes[random() % 3]);
  }

  size_t PartOf(uint64_t rank) const {
    for (size_t i = 0; i < parts.size(); ++i)
      if (rank >= parts[i].begin && rank < parts[i].end) return i;
    ADD_FAILURE() << rank << " is of no part";
    return 0;
  }

  // The ranks of the first `count` positions of the run through all epochs.
  std::vector<uint64_t> Run(uint64_t count) const {
    const Mixture mixture(parts);
    std::vector<uint64_t> ranks;
    for (uint64_t at = 0; at < count; ++at)
      ranks.push_back(mixture.RankAt(shuffle, seed, at / positions, positions, at % positions));
    return ranks;
  }
};

TEST(MixtureTest, EachAlignedBlockHasExactlyTheWeights) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const Example example(random);
    const auto ranks = example.Run(example.sum * 20);
    for (size_t block = 0; block < 20; ++block) {
      std::vector<uint64_t> counts(example.parts.size());
      for (uint64_t i = 0; i < example.sum; ++i) ++counts[example.PartOf(ranks[block * example.sum + i])];
      for (size_t part = 0; part < counts.size(); ++part) ASSERT_EQ(counts[part], example.parts[part].weight);
    }
  }
}

TEST(MixtureTest, EachPassOfAPartHasEverySampleOnceAcrossEpochs) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 200; ++round) {
    const Example example(random);
    std::map<uint64_t, uint64_t> times;  // that each rank came
    for (const Mixture::Part& part : example.parts)
      for (uint64_t rank = part.begin; rank < part.end; ++rank) times[rank] = 0;
    uint64_t at = 0;
    for (const uint64_t rank : example.Run(example.sum * 60)) {
      ++times[rank];
      if (++at % example.sum != 0) continue;
      for (const Mixture::Part& part : example.parts) {
        const uint64_t came = at / example.sum * part.weight, size = part.end - part.begin;
        for (uint64_t sample = part.begin; sample < part.end; ++sample)
          ASSERT_TRUE(times[sample] == came / size || times[sample] == (came + size - 1) / size) << sample;
      }
    }
  }
}

TEST(MixtureTest, PassesDifferFromEachOtherAndPartsToo) {
  const Mixture mixture({{0, 50, 1}, {50, 100, 1}});
  std::vector<std::vector<uint64_t>> passes(2);
  std::vector<uint64_t> other;
  for (uint64_t at = 0; at < 200; ++at) {
    const uint64_t rank = mixture.RankAt({}, 7, at / 100, 100, at % 100);
    if (rank < 50)
      passes[at / 100].push_back(rank);
    else if (at < 100)
      other.push_back(rank - 50);
  }
  EXPECT_NE(passes[0], passes[1]);
  EXPECT_NE(passes[0], other);
}

TEST(MixtureTest, WithoutShufflingAllStandsInOrder) {
  const Mixture mixture({{0, 3, 2}, {3, 5, 1}});
  std::vector<uint64_t> ranks;
  for (uint64_t position = 0; position < 9; ++position)
    ranks.push_back(mixture.RankAt(Mode(v1::SHUFFLE_MODE_NONE), 1, 0, 9, position));
  EXPECT_THAT(ranks, testing::ElementsAre(0, 1, 3, 2, 0, 4, 1, 2, 3));
}

TEST(MixtureTest, TheSeedDecides) {
  std::mt19937_64 random(3);
  Example example(random);
  example.shuffle = {};
  example.parts = {{0, 1000, 3}, {1000, 2000, 2}};
  const auto ranks = example.Run(500);
  EXPECT_EQ(example.Run(500), ranks);
  ++example.seed;
  EXPECT_NE(example.Run(500), ranks);
}

TEST(MixtureTest, LateEpochsOfHugePartsAreNoDifferent) {
  const uint64_t huge = uint64_t{1} << 61;
  const Mixture mixture({{0, huge, Mixture::kMostWeight - 1}, {huge, 2 * huge, 1}});
  std::set<uint64_t> ranks;
  for (uint64_t position = 0; position < 1000; ++position)
    ranks.insert(mixture.RankAt({}, 1, ~uint64_t{0}, uint64_t{1} << 62, position));
  EXPECT_EQ(ranks.size(), 1000);
  EXPECT_LT(*ranks.rbegin(), 2 * huge);
}

}  // namespace
}  // namespace stoker
