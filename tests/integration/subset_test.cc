// Parts of datasets, with real servers and loaders in one process.

#include "common/identity/subset.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"
#include "tests/support/photo_folder.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kAllSamples = 333;

v1::Subset Split(const std::string& split) {
  v1::Subset subset;
  EXPECT_TRUE(ParseSplit(split, subset).ok());
  return subset;
}

v1::Shuffle Mode(v1::ShuffleMode mode) {
  v1::Shuffle shuffle;
  shuffle.set_mode(mode);
  return shuffle;
}

LoaderOptions SubsetJob(const Cluster& cluster, const v1::Subset& subset) {
  LoaderOptions options;
  options.servers = cluster.addresses();
  v1::Pipeline& pipeline = options.pipeline.emplace();
  pipeline.add_ops()->mutable_random_resized_crop()->add_size(8);
  options.subset = subset;
  options.batch_size = 16;
  options.seed = 7;
  options.last_batch = LastBatch::kPartial;
  options.span_samples = 8;
  return options;
}

std::set<uint64_t> IdsOf(const EpochResult& epoch) { return {epoch.sample_ids.begin(), epoch.sample_ids.end()}; }

TEST(SubsetTest, PartsCoverTheDatasetOnceAndHaveOneDigestForAnyNumberOfServers) {
  std::set<uint64_t> all;
  for (const char* split : {"[:80%]", "[80%:]"}) {
    std::set<std::string> digests;
    std::set<uint64_t> ids;
    for (const int servers : {1, 2, 3}) {
      Cluster cluster(servers, SyntheticConfig(kAllSamples));
      const EpochResult epoch = RunEpoch(SubsetJob(cluster, Split(split)));
      ASSERT_TRUE(epoch.status.ok()) << epoch.status;
      ids = IdsOf(epoch);
      EXPECT_EQ(ids.size(), epoch.sample_ids.size()) << "each sample comes once";
      digests.insert(epoch.digest);
    }
    EXPECT_EQ(digests.size(), 1) << split;
    for (const uint64_t id : ids) EXPECT_TRUE(all.insert(id).second) << id << " is in both parts";
  }
  EXPECT_EQ(all.size(), kAllSamples);
}

TEST(SubsetTest, WithoutShuffleAPositionIsTheRankInTheSubset) {
  Cluster cluster(2, SyntheticConfig(kAllSamples));
  LoaderOptions job = SubsetJob(cluster, Split("[10:13]+[-2:]"));
  job.shuffle = Mode(v1::SHUFFLE_MODE_NONE);
  const EpochResult epoch = RunEpoch(job);
  ASSERT_TRUE(epoch.status.ok()) << epoch.status;
  EXPECT_THAT(epoch.sample_ids, ElementsAre(10, 11, 12, kAllSamples - 2, kAllSamples - 1));
  EXPECT_THAT(epoch.positions, ElementsAre(0, 1, 2, 3, 4));
}

TEST(SubsetTest, AStateBelongsToItsSubset) {
  Cluster cluster(1, SyntheticConfig(kAllSamples));
  auto first = Loader::Create(SubsetJob(cluster, Split("[:50%]")));
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE((*first)->Next().ok());
  const std::string state = (*first)->State();
  auto same = Loader::Create(SubsetJob(cluster, Split("[:1/2]")));
  EXPECT_TRUE((*same)->Restore(state).ok()) << "other words for the same samples";
  auto other = Loader::Create(SubsetJob(cluster, Split("[50%:]")));
  EXPECT_TRUE(absl::IsFailedPrecondition((*other)->Restore(state)));
}

TEST(SubsetTest, EvaluationOnSeveralRanksSeesEachSampleOnce) {
  Cluster cluster(2, SyntheticConfig(kAllSamples));
  for (const int64_t ranks : {2, 3, 7}) {
    std::vector<uint64_t> ids;
    std::set<uint64_t> steps;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      LoaderOptions job = SubsetJob(cluster, Split("[:40%]"));
      job.shuffle = Mode(v1::SHUFFLE_MODE_NONE);
      job.rank = rank;
      job.world_size = ranks;
      auto loader = Loader::Create(job);
      ASSERT_TRUE(loader.ok()) << loader.status();
      steps.insert((*loader)->batches_per_epoch());
      const EpochResult epoch = RunEpoch(**loader);
      ids.insert(ids.end(), epoch.sample_ids.begin(), epoch.sample_ids.end());
    }
    EXPECT_EQ(std::set<uint64_t>(ids.begin(), ids.end()).size(), ids.size()) << "none comes twice";
    EXPECT_EQ(ids.size(), RunEpoch(SubsetJob(cluster, Split("[:40%]"))).sample_ids.size()) << "and none is left out";
    EXPECT_EQ(steps.size(), 1) << "all ranks make as many steps";
  }
}

TEST(SubsetTest, WhatDoesNotFitIsRefusedWhenTheLoaderIsMade) {
  Cluster cluster(1, SyntheticConfig(kAllSamples));
  EXPECT_THAT(Loader::Create(SubsetJob(cluster, Split("[:334]"))).status().message(), HasSubstr("reaches past"));
  v1::Subset classes;
  classes.add_classes("cat");
  EXPECT_THAT(Loader::Create(SubsetJob(cluster, classes)).status().message(), HasSubstr("index has none"));
  LoaderOptions weighted = SubsetJob(cluster, {});
  weighted.shuffle = Mode(v1::SHUFFLE_MODE_WEIGHTED);
  EXPECT_THAT(Loader::Create(weighted).status().message(), HasSubstr("index has no labels"));
}

// Paintings in classes class-00 to class-03 of six each, and a list of three of them.
class LabelledSubsetTest : public testing::Test {
 protected:
  LabelledSubsetTest() {
    PhotoFolderOptions photos{.classes = 4, .images = 6, .size = {24, 32}};
    EXPECT_TRUE(WritePhotoFolder(folder_ + "/photos", photos).ok());
    std::ofstream(folder_ + "/list") << "class-03/image-0000.jpg\nclass-00/image-0005.jpg\nclass-00/image-0001.jpg\n";
    v1::DatasetConfig& dataset = *config_.add_datasets();
    dataset.mutable_image_folder()->set_path(folder_ + "/photos");
    dataset.add_lists()->set_name("chosen");
    dataset.mutable_lists(0)->set_file(folder_ + "/list");
    config_.set_workers(2);
    config_.set_cache_dir(folder_ + "/cache");
  }
  ~LabelledSubsetTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_ = [] {
    std::string path = testing::TempDir() + "/subset_XXXXXX";
    return std::string(mkdtemp(path.data()));
  }();
  v1::ServerConfig config_;
};

TEST_F(LabelledSubsetTest, ClassesAndListsAreChosenByName) {
  Cluster cluster(2, config_);
  v1::Subset subset;
  subset.add_classes("class-02");
  EXPECT_EQ(IdsOf(RunEpoch(SubsetJob(cluster, subset))), (std::set<uint64_t>{12, 13, 14, 15, 16, 17}));
  v1::Subset list;
  list.set_list("chosen");
  EXPECT_EQ(IdsOf(RunEpoch(SubsetJob(cluster, list))), (std::set<uint64_t>{1, 5, 18}));
}

TEST_F(LabelledSubsetTest, AClassIsDrawnAsOftenAsItsWeightSays) {
  Cluster cluster(2, config_);
  LoaderOptions job = SubsetJob(cluster, Split("[1:]"));
  job.shuffle = Mode(v1::SHUFFLE_MODE_WEIGHTED);
  (*job.shuffle.mutable_class_weights())["class-00"] = 3;
  (*job.shuffle.mutable_class_weights())["class-03"] = 1;
  job.shuffle.set_samples(1000);
  const EpochResult epoch = RunEpoch(job);
  ASSERT_TRUE(epoch.status.ok()) << epoch.status;
  ASSERT_EQ(epoch.sample_ids.size(), 1000);
  std::map<uint64_t, int> drawn;
  for (const uint64_t id : epoch.sample_ids) ++drawn[id / 6];
  EXPECT_EQ(drawn.size(), 2);
  EXPECT_NEAR(drawn[0], 750, 70);
  EXPECT_EQ(IdsOf(epoch).count(0), 0) << "the subset leaves it out";
  Cluster alone(1, config_);
  job.servers = alone.addresses();
  EXPECT_EQ(RunEpoch(job).digest, epoch.digest);
}

TEST_F(LabelledSubsetTest, TheIndexTellsClassesLabelsAndNames) {
  Cluster cluster(2, config_);
  auto loader = Loader::Create(SubsetJob(cluster, Split("[4:14]")));
  ASSERT_TRUE(loader.ok()) << loader.status();
  const DatasetIndex index = (*loader)->index();
  EXPECT_THAT(index.Classes().value(), ElementsAre("class-00", "class-01", "class-02", "class-03"));
  std::vector<int64_t> labels;
  const auto runs = index.Labels();
  ASSERT_TRUE(runs.ok()) << runs.status();
  for (const v1::LabelRun& run : *runs) labels.insert(labels.end(), run.count(), run.label());
  EXPECT_THAT(labels, ElementsAre(0, 0, 1, 1, 1, 1, 1, 1, 2, 2));
  EXPECT_THAT(index.Names({20, 0}).value(), ElementsAre("class-03/image-0002.jpg", "class-00/image-0000.jpg"));
  EXPECT_THAT(index.Names({24}).status().message(), HasSubstr("none has the id 24"));
  EXPECT_EQ((*loader)->description().dataset_samples(), 24);
}

TEST_F(LabelledSubsetTest, AListThatCannotBeReadEndsTheStart) {
  config_.mutable_datasets(0)->mutable_lists(0)->set_file(folder_ + "/none");
  config_.set_listen("127.0.0.1:0");
  const auto server = Server::Start(config_);
  EXPECT_THAT(server.status().message(), HasSubstr("dataset photos: lists: 'chosen':"));
}

}  // namespace
}  // namespace stoker
