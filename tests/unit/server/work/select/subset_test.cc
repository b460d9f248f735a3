#include "server/work/select/subset.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/identity/subset.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/work/select/fake_dataset.h"
#include "tests/unit/server/work/select/split.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kMuch = uint64_t{1} << 40;

std::vector<uint64_t> IdsOf(const SampleSet& set) {
  std::vector<uint64_t> ids;
  for (uint64_t rank = 0; rank < set.size(); ++rank) ids.push_back(set.IdAt(rank));
  return ids;
}

std::vector<uint64_t> Ids(const v1::Subset& subset, const Dataset& dataset, const SampleLists& lists = {}) {
  const auto set = ResolveSubset(subset, dataset, lists, kMuch);
  EXPECT_TRUE(set.ok()) << set.status();
  return set.ok() ? IdsOf(*set) : std::vector<uint64_t>{};
}

absl::Status ErrorOf(const v1::Subset& subset, const Dataset& dataset, uint64_t max_bytes = kMuch) {
  return ResolveSubset(subset, dataset, {}, max_bytes).status();
}

TEST(ResolveSubsetTest, RangesOfIdsAreThoseOfPython) {
  const FakeDataset dataset(10);
  EXPECT_THAT(Ids(Split("[:3]"), dataset), ElementsAre(0, 1, 2));
  EXPECT_THAT(Ids(Split("[-2:]"), dataset), ElementsAre(8, 9));
  EXPECT_THAT(Ids(Split("[2:-6]+[3:5]+[9:]"), dataset), ElementsAre(2, 3, 4, 9));
}

TEST(ResolveSubsetTest, ARangeThatReachesPastTheDatasetIsRefused) {
  EXPECT_THAT(ErrorOf(Split("[:11]"), FakeDataset(10)).message(), HasSubstr("10 samples, and [0:11] reaches past"));
  EXPECT_THAT(ErrorOf(Split("[-11:]"), FakeDataset(10)).message(), HasSubstr("[-11:] reaches past"));
  EXPECT_THAT(ErrorOf(Split("[5:5]"), FakeDataset(10)).message(), HasSubstr("no sample"));
}

TEST(ResolveSubsetTest, PartsByNamesCoverTheDatasetOnce) {
  const FakeDataset dataset(10'000);
  std::vector<uint64_t> all = Ids(Split("[:1/3]"), dataset);
  for (const char* split : {"[1/3:2/3]", "[2/3:]"}) {
    const auto part = Ids(Split(split), dataset);
    EXPECT_NEAR(static_cast<double>(part.size()), 3333, 240) << split;  // Five standard deviations.
    all.insert(all.end(), part.begin(), part.end());
  }
  EXPECT_EQ(all.size(), 10'000);
  EXPECT_EQ(std::set<uint64_t>(all.begin(), all.end()).size(), 10'000);
}

TEST(ResolveSubsetTest, NoSampleMovesToAnotherPartWhenOthersComeOrGo) {
  FakeDataset before(100), after(150);
  for (int i = 0; i < 100; ++i) before.names.push_back("old-" + std::to_string(i));
  for (int i = 0; i < 50; ++i) after.names.push_back("new-" + std::to_string(i));
  after.names.insert(after.names.end(), before.names.begin(), before.names.end());
  std::set<uint64_t> expected, found;
  for (const uint64_t id : Ids(Split("[:30%]"), before)) expected.insert(id);
  for (const uint64_t id : Ids(Split("[:30%]"), after))
    if (id >= 50) found.insert(id - 50);
  EXPECT_EQ(found, expected);
}

TEST(ResolveSubsetTest, ASplitSeedCutsOtherwise) {
  v1::Subset other = Split("[:50%]");
  other.set_split_seed(1);
  EXPECT_NE(Ids(Split("[:50%]"), FakeDataset(1000)), Ids(other, FakeDataset(1000)));
}

TEST(ResolveSubsetTest, ConditionsMeet) {
  const FakeDataset dataset({"cat", "dog", "eel"}, {0, 1, 2, 1, 0, 2, 1});
  v1::Subset subset = Split("[2:]");
  subset.add_classes("dog");
  EXPECT_THAT(Ids(subset, dataset), ElementsAre(3, 6));
  subset.add_classes("cat");
  EXPECT_THAT(Ids(subset, dataset), ElementsAre(3, 4, 6));
  subset.set_list("some");
  const SampleLists lists = {{"some", std::make_shared<SampleSet>(std::vector<uint64_t>{0b1011000})}};
  EXPECT_THAT(Ids(subset, dataset, lists), ElementsAre(3, 4, 6));
  subset = Split("[:50%]");
  for (const uint64_t id : Ids(subset, dataset)) EXPECT_LT(HashOfName(dataset.SampleName(id), 0), uint64_t{1} << 63);
}

TEST(ResolveSubsetTest, WhatTheIndexLacksIsRefusedByName) {
  v1::Subset classes;
  classes.add_classes("dgo");
  EXPECT_THAT(ErrorOf(classes, FakeDataset(5)).message(), HasSubstr("index has none"));
  const absl::Status unknown = ErrorOf(classes, FakeDataset({"cat", "dog"}, {0, 1}));
  EXPECT_TRUE(absl::IsNotFound(unknown));
  EXPECT_THAT(unknown.message(), HasSubstr("no class is called 'dgo'; did you mean 'dog'?"));
  FakeDataset nameless(5);
  nameless.lasting = false;
  EXPECT_THAT(ErrorOf(Split("[:50%]"), nameless).message(), HasSubstr("no lasting names"));
  v1::Subset list;
  list.set_list("clean");
  EXPECT_THAT(ErrorOf(list, FakeDataset(5)).message(), HasSubstr("no list 'clean' is configured"));
}

TEST(ResolveSubsetTest, ASetThatIsTooLargeIsRefusedBeforeItIsMade) {
  const absl::Status status = ErrorOf(Split("[-1:]"), FakeDataset(uint64_t{1} << 50), 1 << 20);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("give it a higher memory_limit"));
  EXPECT_TRUE(ErrorOf(Split("[:1000]"), FakeDataset(uint64_t{1} << 50), 1 << 20).ok()) << "it takes few bits";
}

TEST(SubsetFingerprintTest, DependsOnTheSamplesAndNotOnTheWords) {
  const FakeDataset dataset(1000);
  const auto of = [&](const std::string& split) {
    return SubsetFingerprint(dataset.fingerprint(), *ResolveSubset(Split(split), dataset, {}, kMuch));
  };
  EXPECT_EQ(of("[:10]"), of("[:5]+[3:10]"));
  EXPECT_EQ(of("[:10]"), of("[:-990]"));
  EXPECT_NE(of("[:10]"), of("[:11]"));
  EXPECT_NE(of("[:10]"), dataset.fingerprint());
  EXPECT_EQ(of("[:10]").size(), 32);
}

class SampleListTest : public testing::Test {
 protected:
  ~SampleListTest() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<SampleLists> Read(const std::string& content) {
    std::ofstream(folder_ + "/list") << content;
    v1::DatasetConfig config;
    auto& list = *config.add_lists();
    list.set_name("some");
    list.set_file(folder_ + "/list");
    return ReadLists(config, FakeDataset(5));
  }

  std::string folder_ = [] {
    std::string path = testing::TempDir() + "/sample_list_XXXXXX";
    return std::string(mkdtemp(path.data()));
  }();
};

TEST_F(SampleListTest, NamesSamplesInAnyOrder) {
  const auto lists = Read("sample-3\r\n\nsample-1\nsample-4");
  ASSERT_TRUE(lists.ok()) << lists.status();
  EXPECT_THAT(IdsOf(*lists->at("some")), ElementsAre(1, 3, 4));
}

TEST_F(SampleListTest, ErrorsNameFileAndLine) {
  EXPECT_THAT(Read("sample-3\nsample-7\nsample-8\n").status().message(),
              HasSubstr("/list: line 2: the dataset has no sample 'sample-7'; its first is 'sample-0'"));
  EXPECT_THAT(Read("sample-3\nsample-3\n").status().message(), HasSubstr("line 2: 'sample-3' stands in line 1"));
  EXPECT_THAT(Read("").status().message(), HasSubstr("it names no sample"));
  v1::DatasetConfig config;
  config.add_lists()->set_name("a/b");
  EXPECT_THAT(ReadLists(config, FakeDataset(5)).status().message(), HasSubstr("cannot be a list's name"));
  config.mutable_lists(0)->set_name("some");
  config.mutable_lists(0)->set_file(folder_ + "/none");
  EXPECT_TRUE(absl::IsNotFound(ReadLists(config, FakeDataset(5)).status()));
}

}  // namespace
}  // namespace stoker
