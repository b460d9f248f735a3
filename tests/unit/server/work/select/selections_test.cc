#include "server/work/select/selections.h"

#include <string>

#include "common/identity/subset.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/work/select/fake_dataset.h"
#include "tests/unit/server/work/select/split.h"

namespace stoker {
namespace {

constexpr uint64_t kSamples = 100'000;

class SelectionsTest : public testing::Test {
 protected:
  absl::StatusOr<JobSamples> Find(const v1::Subset& subset, const v1::Shuffle& shuffle = {}) {
    return selections_.Find({name_, dataset_, lists_}, subset, shuffle);
  }

  const std::string name_ = "data";
  const FakeDataset dataset_{kSamples};
  const SampleLists lists_{};
  Selections selections_{5 * SampleSet::BytesFor(kSamples) / 2};
};

TEST_F(SelectionsTest, AllSamplesTakeNothing) {
  const auto all = Find({});
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->selection.subset, nullptr);
  EXPECT_EQ(all->positions, kSamples);
  EXPECT_EQ(all->fingerprint, dataset_.fingerprint());
}

TEST_F(SelectionsTest, ASubsetThatLeavesNothingOutIsTheDataset) {
  const auto all = Find(Split("[:100%]"));
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->selection.subset, nullptr);
  EXPECT_EQ(all->fingerprint, dataset_.fingerprint());
}

TEST_F(SelectionsTest, JobsThatAskForTheSameShareIt) {
  const auto one = Find(Split("[:50%]")), other = Find(Split("[:50%]"));
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(one->selection.subset, other->selection.subset);
  EXPECT_EQ(one->positions, one->selection.subset->size());
}

TEST_F(SelectionsTest, PartsInUseAreBoundedAndUnusedOnesMakeRoom) {
  for (int part = 0; part < 10; ++part)  // None is in use after its line.
    EXPECT_TRUE(Find(Split("[" + std::to_string(part) + "/10:]")).ok()) << part;
  const auto first = Find(Split("[:50%]")), second = Find(Split("[:51%]"));
  ASSERT_TRUE(first.ok() && second.ok());
  const auto third = Find(Split("[:52%]"));
  EXPECT_TRUE(absl::IsResourceExhausted(third.status())) << third.status();
  EXPECT_TRUE(Find(Split("[:50%]")).ok()) << "what is there is found";
  EXPECT_TRUE(Find(Split("[:100]")).ok()) << "a few bits fit";
}

// Nobody may have something else kept under the key of another's request.
TEST_F(SelectionsTest, WhatAMessageHasBesideItsFieldsMeansNothing) {
  const FakeDataset labelled({"x", "y"}, {0, 1, 1, 1});
  v1::Shuffle weighted;
  weighted.set_mode(v1::SHUFFLE_MODE_WEIGHTED);
  v1::Subset strange;
  ASSERT_TRUE(strange.ParseFromString("1 x 5000 "));  // Field 6, which there is not, with 8 bytes.
  const auto balanced = selections_.Find({name_, labelled, lists_}, strange, weighted);
  ASSERT_TRUE(balanced.ok()) << balanced.status();
  EXPECT_EQ(balanced->selection.subset, nullptr);
  (*weighted.mutable_class_weights())["x"] = 5000;
  const auto chosen = selections_.Find({name_, labelled, lists_}, {}, weighted);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_NE(chosen->selection.weighted, balanced->selection.weighted);
}

TEST_F(SelectionsTest, WeightsSayHowLongAnEpochIs) {
  v1::Shuffle shuffle;
  shuffle.set_mode(v1::SHUFFLE_MODE_WEIGHTED);
  EXPECT_TRUE(absl::IsInvalidArgument(Find({}, shuffle).status())) << "there are no labels";
  const FakeDataset labelled({"cat", "dog"}, {0, 1, 1, 1});
  const auto find = [&] { return selections_.Find({name_, labelled, lists_}, {}, shuffle); };
  EXPECT_EQ(find()->positions, 4);
  EXPECT_EQ(find()->selection.weighted, find()->selection.weighted);
  shuffle.set_samples(1000);
  EXPECT_EQ(find()->positions, 1000);
  EXPECT_EQ(find()->fingerprint, labelled.fingerprint()) << "the samples are the same ones";
}

}  // namespace
}  // namespace stoker
