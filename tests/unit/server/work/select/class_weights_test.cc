#include "server/work/select/class_weights.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/work/select/fake_dataset.h"

namespace stoker {
namespace {

using testing::HasSubstr;

v1::Shuffle Weighted(const std::map<std::string, uint64_t>& weights) {
  v1::Shuffle shuffle;
  shuffle.set_mode(v1::SHUFFLE_MODE_WEIGHTED);
  for (const auto& [name, weight] : weights) (*shuffle.mutable_class_weights())[name] = weight;
  return shuffle;
}

const FakeDataset& Animals() {
  static const FakeDataset dataset({"cat", "dog", "eel"}, {0, 1, 2, 1, 0, 0, 0, 0});
  return dataset;
}

// How often each rank is drawn.
std::map<uint64_t, int> Drawn(const WeightedClasses& classes) {
  std::map<uint64_t, int> drawn;
  for (uint64_t position = 0; position < 3000; ++position) ++drawn[classes.RankAt(1, 2, position)];
  return drawn;
}

TEST(ResolveWeightsTest, WithoutWeightsClassesAreDrawnAlike) {
  const auto classes = ResolveWeights(Weighted({}), Animals(), nullptr, 1 << 20);
  ASSERT_TRUE(classes.ok()) << classes.status();
  auto drawn = Drawn(*classes);
  EXPECT_EQ(drawn.size(), 8) << "each sample";
  EXPECT_NEAR(drawn[2], 1000, 130);
  EXPECT_NEAR(drawn[1] + drawn[3], 1000, 130);
}

TEST(ResolveWeightsTest, ClassesWithoutAWeightAreLeftOut) {
  const auto classes = ResolveWeights(Weighted({{"dog", 1}, {"eel", 9}}), Animals(), nullptr, 1 << 20);
  ASSERT_TRUE(classes.ok()) << classes.status();
  auto drawn = Drawn(*classes);
  EXPECT_EQ(drawn.size(), 3);
  EXPECT_NEAR(drawn[2], 2700, 90);
}

TEST(ResolveWeightsTest, RanksAreThoseOfTheSubset) {
  const SampleSet subset({0b11010000});  // samples 4, 6, 7, which are cats
  const auto classes = ResolveWeights(Weighted({{"cat", 5}}), Animals(), &subset, 1 << 20);
  ASSERT_TRUE(classes.ok()) << classes.status();
  EXPECT_THAT(Drawn(*classes), testing::UnorderedElementsAre(testing::Key(0), testing::Key(1), testing::Key(2)));
  EXPECT_THAT(ResolveWeights(Weighted({{"dog", 1}}), Animals(), &subset, 1 << 20).status().message(),
              HasSubstr("class 'dog' has no sample in the subset"));
}

TEST(ResolveWeightsTest, ErrorsNameTheClass) {
  EXPECT_THAT(ResolveWeights(Weighted({{"cta", 1}}), Animals(), nullptr, 1 << 20).status().message(),
              HasSubstr("no class is called 'cta'; did you mean 'cat'?"));
  EXPECT_THAT(ResolveWeights(Weighted({}), FakeDataset(5), nullptr, 1 << 20).status().message(),
              HasSubstr("index has no labels"));
}

TEST(ResolveWeightsTest, ScatteredLabelsFitIntoWhatIsReservedForThem) {
  std::vector<int64_t> labels;
  for (int64_t id = 0; id < 10'000; ++id) labels.push_back(id % 2);
  const FakeDataset scattered({}, labels);
  EXPECT_TRUE(ResolveWeights(Weighted({}), scattered, nullptr, MostBytesOfWeights(scattered)).ok());
  EXPECT_THAT(ResolveWeights(Weighted({{"0", 1}}), scattered, nullptr, 1 << 20).status().message(),
              HasSubstr("labels are numbers without names"));
}

TEST(ResolveWeightsTest, MemoryIsBounded) {
  EXPECT_TRUE(absl::IsResourceExhausted(ResolveWeights(Weighted({}), Animals(), nullptr, 16).status()));
}

}  // namespace
}  // namespace stoker
