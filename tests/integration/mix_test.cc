// Mixed datasets, with real servers and loaders in one process.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "common/config/yaml_proto.h"
#include "common/identity/subset.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Parts of 40 and 30 samples.
v1::ServerConfig Mixed(const std::string& mix) {
  const std::string fields = "fields: [{name: image, dtype: uint8, shape: [8, 8, 3]}]";
  v1::ServerConfig config;
  const absl::Status parsed = ParseYaml(
      "workers: 2\nmemory_limit: 1GiB\ndatasets:\n"
      "- {name: a, synthetic: {samples: 40, " +
          fields +
          "}}\n"
          "- {name: b, synthetic: {samples: 30, " +
          fields +
          "}}\n"
          "- {name: mixed, mix: " +
          mix + "}\n",
      "mix", config);
  EXPECT_TRUE(parsed.ok()) << parsed;
  return config;
}

constexpr char kThreeToOne[] = "[{dataset: a, weight: 3}, {dataset: b, weight: 1}]";

LoaderOptions MixedJob(const Cluster& cluster) {
  LoaderOptions options;
  options.servers = cluster.addresses();
  options.dataset = "mixed";
  options.pipeline.emplace();
  options.batch_size = 4;
  options.seed = 7;
  options.last_batch = LastBatch::kPartial;
  options.span_samples = 8;
  return options;
}

// The error of a server with this mix.
std::string ErrorOf(const std::string& mix) {
  const auto server = Server::Start(Mixed(mix));
  return server.ok() ? "OK" : std::string(server.status().message());
}

TEST(MixTest, HasOneDigestForAnyNumberOfServers) {
  std::set<std::string> digests;
  for (const int servers : {1, 2, 3}) {
    Cluster cluster(servers, Mixed(kThreeToOne));
    const EpochResult epoch = RunEpoch(MixedJob(cluster));
    ASSERT_TRUE(epoch.status.ok()) << epoch.status;
    EXPECT_EQ(epoch.sample_ids.size(), 70);
    digests.insert(epoch.digest);
  }
  EXPECT_EQ(digests.size(), 1);
}

TEST(MixTest, BlocksHaveTheirSharesAndPartsGoOnThroughEpochs) {
  Cluster cluster(2, Mixed(kThreeToOne));
  const auto loader = Loader::Create(MixedJob(cluster));
  ASSERT_TRUE(loader.ok()) << loader.status();
  std::vector<uint64_t> ids;
  for (int i = 0; i < 8; ++i) {
    const EpochResult epoch = RunEpoch(**loader);
    ASSERT_TRUE(epoch.status.ok()) << epoch.status;
    ids.insert(ids.end(), epoch.sample_ids.begin(), epoch.sample_ids.end());
  }
  std::vector<uint64_t> times(70);
  uint64_t of_a = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    ++times[ids[i]];
    of_a += ids[i] < 40;
    if (i % 4 != 3) continue;
    EXPECT_EQ(of_a, (i + 1) / 4 * 3) << i;
    const auto [least_a, most_a] = std::minmax_element(times.begin(), times.begin() + 40);
    const auto [least_b, most_b] = std::minmax_element(times.begin() + 40, times.end());
    EXPECT_LE(*most_a - *least_a, 1) << i;
    EXPECT_LE(*most_b - *least_b, 1) << i;
  }
}

TEST(MixTest, GoesOnFromEveryBatchAsItWouldHave) {
  Cluster cluster(2, Mixed(kThreeToOne));
  const EpochResult whole = RunEpoch(MixedJob(cluster));
  ASSERT_TRUE(whole.status.ok()) << whole.status;
  const auto loader = Loader::Create(MixedJob(cluster));
  ASSERT_TRUE(loader.ok()) << loader.status();
  for (size_t batch = 1; batch < 18; ++batch) {
    ASSERT_TRUE((*loader)->Next().ok());
    const auto resumed = Loader::Create(MixedJob(cluster));
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    ASSERT_TRUE((*resumed)->Restore((*loader)->State()).ok());
    const EpochResult tail = RunEpoch(**resumed);
    ASSERT_TRUE(tail.status.ok()) << tail.status;
    EXPECT_EQ(tail.sample_ids, std::vector<uint64_t>(whole.sample_ids.begin() + batch * 4, whole.sample_ids.end()));
  }
}

TEST(MixTest, RanksShareAnEpoch) {
  Cluster cluster(1, Mixed(kThreeToOne));
  std::multiset<uint64_t> of_ranks;
  for (int rank = 0; rank < 3; ++rank) {
    LoaderOptions job = MixedJob(cluster);
    job.rank = rank;
    job.world_size = 3;
    const EpochResult epoch = RunEpoch(job);
    ASSERT_TRUE(epoch.status.ok()) << epoch.status;
    of_ranks.insert(epoch.sample_ids.begin(), epoch.sample_ids.end());
  }
  const EpochResult whole = RunEpoch(MixedJob(cluster));
  EXPECT_EQ(of_ranks, std::multiset<uint64_t>(whole.sample_ids.begin(), whole.sample_ids.end()));
}

TEST(MixTest, AnEpochIsAsLongAsIsSaid) {
  Cluster cluster(1, Mixed(std::string("{samples: 500, parts: ") + kThreeToOne + "}"));
  const EpochResult epoch = RunEpoch(MixedJob(cluster));
  ASSERT_TRUE(epoch.status.ok()) << epoch.status;
  EXPECT_EQ(epoch.sample_ids.size(), 500);
}

TEST(MixTest, WithoutWeightsPartsStandOneAfterAnother) {
  Cluster cluster(1, Mixed("[{dataset: a}, {dataset: b}]"));
  LoaderOptions job = MixedJob(cluster);
  const EpochResult epoch = RunEpoch(job);
  ASSERT_TRUE(epoch.status.ok()) << epoch.status;
  EXPECT_EQ(std::set<uint64_t>(epoch.sample_ids.begin(), epoch.sample_ids.end()).size(), 70);
  job.shuffle.set_mode(v1::SHUFFLE_MODE_NONE);
  job.names = true;
  const auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  uint64_t id = 0;
  while (true) {
    const auto batch = (*loader)->Next();
    ASSERT_TRUE(batch.ok()) << batch.status();
    if (!batch->has_value()) break;
    for (const uint64_t own : (**batch).sample_ids()) EXPECT_EQ(own, id++);
  }
  EXPECT_EQ(id, 70);
}

TEST(MixTest, ASubsetIsMixedOfWhatItHasOfEachPart) {
  Cluster cluster(1, Mixed(kThreeToOne));
  LoaderOptions job = MixedJob(cluster);
  ASSERT_TRUE(ParseSplit("[20:60]", job.subset).ok());
  const EpochResult epoch = RunEpoch(job);
  ASSERT_TRUE(epoch.status.ok()) << epoch.status;
  EXPECT_EQ(epoch.sample_ids.size(), 40);
  uint64_t of_a = 0;
  for (const uint64_t id : epoch.sample_ids) {
    EXPECT_TRUE(id >= 20 && id < 60) << id;
    of_a += id < 40;
  }
  EXPECT_EQ(of_a, 30);
  job.subset.Clear();
  ASSERT_TRUE(ParseSplit("[:40]", job.subset).ok());
  EXPECT_THAT(RunEpoch(job).status.message(), HasSubstr("no sample of part 2"));
}

TEST(MixTest, ABatchCountsItsSamplesByPart) {
  Cluster cluster(2, Mixed(kThreeToOne));
  LoaderOptions job = MixedJob(cluster);
  job.batch_size = 8;
  const auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  const auto& parts = (*loader)->description().parts();
  ASSERT_EQ(parts.size(), 2);
  EXPECT_EQ(parts[0].ShortDebugString(), R"(name: "a" end: 40 weight: 3)");
  EXPECT_EQ(parts[1].ShortDebugString(), R"(name: "b" end: 70 weight: 1)");
  for (int i = 0; i < 8; ++i) {
    const auto batch = (*loader)->Next();
    ASSERT_TRUE(batch.ok() && batch->has_value()) << batch.status();
    EXPECT_THAT((**batch).PartCounts(), ElementsAre(6, 2)) << i;
  }
  const auto tail = (*loader)->Next();
  ASSERT_TRUE(tail.ok() && tail->has_value()) << tail.status();
  EXPECT_EQ((**tail).size(), 6);
  EXPECT_EQ((**tail).PartCounts()[0] + (**tail).PartCounts()[1], 6);
}

// Two ranks with batches of 3 have no whole blocks of 4 each. Their sum over two batches has.
TEST(MixTest, CountsOfRanksAddUpToTheBlocks) {
  Cluster cluster(1, Mixed(kThreeToOne));
  std::vector<std::vector<int64_t>> sums(6, {0, 0});
  for (int rank = 0; rank < 2; ++rank) {
    LoaderOptions job = MixedJob(cluster);
    job.batch_size = 3, job.rank = rank, job.world_size = 2;
    const auto loader = Loader::Create(job);
    ASSERT_TRUE(loader.ok()) << loader.status();
    for (int i = 0; i < 12; ++i) {
      const auto batch = (*loader)->Next();
      ASSERT_TRUE(batch.ok() && batch->has_value()) << batch.status();
      const std::vector<int64_t> counts = (**batch).PartCounts();
      EXPECT_EQ(counts[0] + counts[1], (**batch).real());
      for (size_t part = 0; part < counts.size(); ++part) sums[i / 2][part] += counts[part];
    }
  }
  for (size_t i = 0; i + 1 < sums.size(); ++i) EXPECT_THAT(sums[i], ElementsAre(9, 3)) << i;
  EXPECT_EQ(sums.back()[0] + sums.back()[1], 10);
}

// 70 samples in batches of 32: 26 of the last one are padding.
TEST(MixTest, PaddingDoesNotCount) {
  Cluster cluster(1, Mixed("[{dataset: a}, {dataset: b}]"));
  LoaderOptions job = MixedJob(cluster);
  job.batch_size = 32;
  job.last_batch = LastBatch::kPad;
  job.shuffle.set_mode(v1::SHUFFLE_MODE_NONE);
  const auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  EXPECT_EQ((*loader)->description().parts(0).weight(), 0);
  for (const std::vector<int64_t>& wanted : {std::vector<int64_t>{32, 0}, {8, 24}, {0, 6}}) {
    const auto batch = (*loader)->Next();
    ASSERT_TRUE(batch.ok() && batch->has_value()) << batch.status();
    EXPECT_EQ((**batch).size(), 32);
    EXPECT_EQ((**batch).PartCounts(), wanted);
  }
}

TEST(MixTest, ADatasetThatIsNoMixHasNoParts) {
  Cluster cluster(1, Mixed(kThreeToOne));
  LoaderOptions job = MixedJob(cluster);
  job.dataset = "a";
  const auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  EXPECT_TRUE((*loader)->description().parts().empty());
  const auto batch = (*loader)->Next();
  ASSERT_TRUE(batch.ok() && batch->has_value()) << batch.status();
  EXPECT_TRUE((**batch).PartCounts().empty());
  EXPECT_TRUE(Batch().PartCounts().empty());
}

// A subset that has nothing of `a` has its parts all the same, since sample ids stay the dataset's.
TEST(MixTest, ASubsetCountsByThePartsOfTheWholeDataset) {
  Cluster cluster(1, Mixed("[{dataset: a}, {dataset: b}]"));
  LoaderOptions job = MixedJob(cluster);
  ASSERT_TRUE(ParseSplit("[50:]", job.subset).ok());
  const auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  const auto batch = (*loader)->Next();
  ASSERT_TRUE(batch.ok() && batch->has_value()) << batch.status();
  EXPECT_THAT((**batch).PartCounts(), ElementsAre(0, 4));
}

TEST(MixTest, WhatCannotBeMixedIsNamed) {
  EXPECT_THAT(ErrorOf("[{dataset: a}, {dataset: c}]"), HasSubstr("mix.parts[1].dataset: there is no dataset 'c'"));
  EXPECT_THAT(ErrorOf("[{dataset: a, weight: 1}, {dataset: b}]"), HasSubstr("mix.parts[1].weight"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("mix: name at least one"));
  std::string many = "[{dataset: a}";
  for (int i = 0; i < 1024; ++i) many += ", {dataset: b}";
  EXPECT_THAT(ErrorOf(many + "]"), HasSubstr("mix: it has 1025 parts, and 1024 are the most"));
  EXPECT_THAT(ErrorOf("{samples: 5, parts: [{dataset: a}]}"), HasSubstr("mix.samples: needs weights"));
  v1::ServerConfig config = Mixed(kThreeToOne);
  config.mutable_datasets(1)->mutable_synthetic()->mutable_fields(0)->set_shape(0, 9);
  EXPECT_THAT(Server::Start(config).status().message(),
              HasSubstr("'b' has the fields image uint8 [9, 8, 3], where 'a' has image uint8 [8, 8, 3]"));
}

TEST(MixTest, ClassesAreNotWeighedInAWeightedMix) {
  Cluster cluster(1, Mixed(kThreeToOne));
  LoaderOptions job = MixedJob(cluster);
  job.shuffle.set_mode(v1::SHUFFLE_MODE_WEIGHTED);
  EXPECT_THAT(RunEpoch(job).status.message(), HasSubstr("mixed by weights of its own"));
}

}  // namespace
}  // namespace stoker
