// The promises of an epoch, with real servers and loaders in one process.

#include <algorithm>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"

namespace stoker {
namespace {

constexpr uint64_t kSamples = 333;

// Crops, resizes and flips 16×12 images to 8×8: all of the span path but files.
v1::Pipeline SmallCrops() {
  v1::Pipeline pipeline;
  pipeline.add_ops()->mutable_random_resized_crop()->add_size(8);
  pipeline.add_ops()->mutable_random_horizontal_flip();
  return pipeline;
}

LoaderOptions EpochJob(const Cluster& cluster) {
  LoaderOptions options;
  options.servers = cluster.addresses();
  options.pipeline = SmallCrops();
  options.batch_size = 32;
  options.seed = 7;
  options.last_batch = LastBatch::kPartial;
  options.span_samples = 8;
  return options;
}

std::vector<uint64_t> Iota(uint64_t count) {
  std::vector<uint64_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(EpochTest, HasOneDigestForAnyNumberOfServersAndWorkersAndAnySpan) {
  std::set<std::string> digests;
  for (int servers : {1, 2, 3}) {
    for (int workers : {1, 2}) {
      v1::ServerConfig config = SyntheticConfig(kSamples);
      config.set_workers(workers);
      Cluster cluster(servers, config);
      for (uint32_t span_samples : {0, 1, 3, 64}) {
        LoaderOptions job = EpochJob(cluster);
        job.span_samples = span_samples;
        const EpochResult epoch = RunEpoch(job);
        ASSERT_TRUE(epoch.status.ok()) << epoch.status;
        EXPECT_EQ(epoch.positions, Iota(kSamples));
        digests.insert(epoch.digest);
      }
    }
  }
  EXPECT_EQ(digests.size(), 1);
}

TEST(EpochTest, ASeedHasOneDigestForUpToEightServers) {
  for (uint64_t seed : {1, 2, 3}) {
    std::set<std::string> digests;
    for (int servers : {1, 2, 3, 5, 8})
      for (int workers : {1, 2}) {
        v1::ServerConfig config = SyntheticConfig(kSamples);
        config.set_workers(workers);
        config.set_memory_limit("512MiB");
        Cluster cluster(servers, config);
        LoaderOptions job = EpochJob(cluster);
        job.seed = seed;
        const EpochResult epoch = RunEpoch(job);
        ASSERT_TRUE(epoch.status.ok()) << epoch.status;
        digests.insert(epoch.digest);
      }
    EXPECT_EQ(digests.size(), 1) << seed;
  }
}

TEST(EpochTest, SeveralConnectionsToAServerChangeNothingButTheirNumber) {
  Cluster cluster(2, SyntheticConfig(100));
  LoaderOptions options = EpochJob(cluster);
  const std::string digest = RunEpoch(options).digest;
  options.connections = 3;
  auto loader = Loader::Create(options);
  ASSERT_TRUE(loader.ok()) << loader.status();
  EXPECT_EQ(RunEpoch(**loader).digest, digest);
  EXPECT_EQ((*loader)->stats().servers.size(), 2);
}

TEST(EpochTest, BatchSizeAndDeviceOpsDoNotChangeTheDigest) {
  Cluster cluster(2, SyntheticConfig(kSamples));
  const std::string digest = RunEpoch(EpochJob(cluster)).digest;
  LoaderOptions job = EpochJob(cluster);
  job.batch_size = 50;
  job.pipeline->add_ops()->mutable_to_dtype()->set_dtype(v1::DTYPE_FLOAT32);
  job.pipeline->add_ops()->mutable_to_memory_format();
  const EpochResult other = RunEpoch(job);
  EXPECT_TRUE(other.status.ok()) << other.status;
  EXPECT_EQ(other.digest, digest);
}

TEST(EpochTest, AnotherSeedOrEpochHasAnotherDigest) {
  Cluster cluster(1, SyntheticConfig(kSamples));
  std::set<std::string> digests;
  for (uint64_t seed : {1, 2}) {
    LoaderOptions job = EpochJob(cluster);
    job.seed = seed;
    auto loader = Loader::Create(job);
    ASSERT_TRUE(loader.ok()) << loader.status();
    digests.insert(RunEpoch(**loader).digest);
    digests.insert(RunEpoch(**loader).digest);  // The second iteration is epoch 1.
    (*loader)->SetEpoch(0);
    EXPECT_TRUE(digests.contains(RunEpoch(**loader).digest));
  }
  EXPECT_EQ(digests.size(), 4);
}

TEST(EpochTest, EverySampleComesOnceInAnOrderOfItsOwn) {
  Cluster cluster(2, SyntheticConfig(kSamples));
  EpochResult epoch = RunEpoch(EpochJob(cluster));
  EXPECT_NE(epoch.sample_ids, Iota(kSamples));
  std::sort(epoch.sample_ids.begin(), epoch.sample_ids.end());
  EXPECT_EQ(epoch.sample_ids, Iota(kSamples));
}

// Each rank's epoch, batch by batch.
std::vector<std::vector<std::vector<uint64_t>>> RankBatches(LoaderOptions job) {
  std::vector<std::vector<std::vector<uint64_t>>> ranks;
  for (job.rank = 0; job.rank < job.world_size; ++job.rank) {
    auto loader = Loader::Create(job);
    EXPECT_TRUE(loader.ok()) << loader.status();
    std::vector<std::vector<uint64_t>> batches;
    for (auto batch = (*loader)->Next(); batch.ok() && batch->has_value(); batch = (*loader)->Next())
      batches.emplace_back((*batch)->sample_ids().begin(), (*batch)->sample_ids().begin() + (*batch)->real());
    EXPECT_EQ(batches.size(), (*loader)->batches_per_epoch());
    ranks.push_back(std::move(batches));
  }
  return ranks;
}

TEST(EpochTest, WorldSizesWithOneGlobalBatchVisitOneGlobalOrder) {
  Cluster cluster(2, SyntheticConfig(kSamples));
  for (LastBatch mode : {LastBatch::kDrop, LastBatch::kPad, LastBatch::kPartial}) {
    std::set<std::vector<uint64_t>> orders;
    for (int64_t world_size : {1, 2, 4}) {
      LoaderOptions job = EpochJob(cluster);
      job.last_batch = mode;
      job.world_size = world_size;
      job.batch_size = 32 / world_size;
      const auto ranks = RankBatches(job);
      std::vector<uint64_t> order;
      for (size_t step = 0; step < ranks[0].size(); ++step)
        for (const auto& rank : ranks) order.insert(order.end(), rank[step].begin(), rank[step].end());
      orders.insert(order);
    }
    EXPECT_EQ(orders.size(), 1);
    EXPECT_EQ(orders.begin()->size(), mode == LastBatch::kDrop ? kSamples / 32 * 32 : kSamples);
  }
}

// A job that is stopped and goes on with other numbers of ranks and servers, each from the cursor before.
TEST(EpochTest, WorldAndServersMayChangeInMidEpoch) {
  Cluster cluster(3, SyntheticConfig(kSamples));
  const auto step = [&](int64_t world_size, size_t servers, const std::string& state, std::vector<uint64_t>& order) {
    std::string next;
    for (int64_t rank = 0; rank < world_size; ++rank) {
      LoaderOptions job = EpochJob(cluster);
      job.servers.resize(servers);
      job.rank = rank;
      job.world_size = world_size;
      job.batch_size = 16 / world_size;
      auto loader = Loader::Create(job);
      EXPECT_TRUE(loader.ok()) << loader.status();
      EXPECT_TRUE(state.empty() || (*loader)->Restore(state).ok());
      const auto batch = (*loader)->Next();
      EXPECT_TRUE(batch.ok() && batch->has_value());
      order.insert(order.end(), (*batch)->sample_ids().begin(), (*batch)->sample_ids().end());
      next = (*loader)->State();
    }
    return next;
  };
  std::vector<uint64_t> changing, steady;
  std::string state, steady_state;
  for (int64_t world_size : {1, 4, 2, 8}) {
    state = step(world_size, 1 + world_size % 3, state, changing);
    steady_state = step(1, 3, steady_state, steady);
    EXPECT_EQ(state, steady_state);
  }
  EXPECT_EQ(changing, steady);
}

TEST(EpochTest, EvaluationVisitsEachSampleOnceWithItsIndexAndName) {
  Cluster cluster(2, SyntheticConfig(50));
  LoaderOptions job = EpochJob(cluster);
  job.shuffle.set_mode(v1::SHUFFLE_MODE_NONE);
  job.names = true;
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  std::vector<uint64_t> ids;
  for (auto batch = (*loader)->Next(); batch.ok() && batch->has_value(); batch = (*loader)->Next()) {
    const Batch& b = **batch;
    ASSERT_EQ(b.names().size(), b.sample_ids().size());
    for (size_t i = 0; i < b.names().size(); ++i)
      EXPECT_EQ(b.names()[i], absl::StrCat("synthetic/", absl::Dec(b.sample_ids()[i], absl::kZeroPad12)));
    ids.insert(ids.end(), b.sample_ids().begin(), b.sample_ids().end());
  }
  EXPECT_EQ(ids, Iota(50));
}

TEST(EpochTest, APaddedBatchRepeatsTheFirstPositionsBytes) {
  Cluster cluster(1, SyntheticConfig(10));
  LoaderOptions job = EpochJob(cluster);
  job.batch_size = 8;
  job.last_batch = LastBatch::kPad;
  auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  auto first = (*loader)->Next(), second = (*loader)->Next();
  ASSERT_TRUE(second.ok() && second->has_value()) << second.status();
  EXPECT_EQ((*second)->real(), 2);
  EXPECT_THAT((*second)->positions(), testing::ElementsAre(8, 9, 0, 1, 2, 3, 4, 5));
  const Tensor& a = (*first)->server_tensors()[0];
  const Tensor& b = (*second)->server_tensors()[0];
  const size_t sample = a.bytes / 8;
  EXPECT_EQ(memcmp(a.data, static_cast<const char*>(b.data) + 2 * sample, 6 * sample), 0);
}

TEST(EpochTest, SurvivesServersThatStopAndComeBack) {
  v1::ServerConfig config = SyntheticConfig(2000);
  config.mutable_datasets(0)->mutable_synthetic()->set_sleep_us(200);
  Cluster cluster(3, config);
  const std::string digest = RunEpoch(EpochJob(cluster)).digest;
  auto loader = Loader::Create(EpochJob(cluster));
  ASSERT_TRUE(loader.ok()) << loader.status();
  // Three servers in turn: stopped before one batch, back some batches later.
  const EpochResult epoch = RunEpoch(**loader, [&](int done) {
    if (done < 24 && done % 8 == 2) cluster.Stop(done / 8);
    if (done < 24 && done % 8 == 6) cluster.Restart(done / 8);
  });
  EXPECT_TRUE(epoch.status.ok()) << epoch.status;
  EXPECT_EQ(epoch.digest, digest);
  EXPECT_GT((*loader)->stats().retried_spans, 0);
  for (const auto& server : (*loader)->stats().servers) EXPECT_GT(server.spans, 0) << server.address;
}

TEST(EpochTest, ResumesAtEveryBatchWithAnIdenticalTail) {
  Cluster cluster(2, SyntheticConfig(100));
  LoaderOptions job = EpochJob(cluster);
  job.batch_size = 12;
  auto whole = Loader::Create(job);
  ASSERT_TRUE(whole.ok()) << whole.status();
  std::vector<std::string> states = {(*whole)->State()};
  std::vector<std::vector<uint64_t>> batches;
  for (auto batch = (*whole)->Next(); batch.ok() && batch->has_value(); batch = (*whole)->Next()) {
    batches.push_back((*batch)->sample_ids());
    states.push_back((*whole)->State());
  }
  ASSERT_EQ(batches.size(), 9);
  for (size_t done = 0; done < batches.size(); ++done) {
    std::vector<uint64_t> tail;
    for (size_t i = done; i < batches.size(); ++i) tail.insert(tail.end(), batches[i].begin(), batches[i].end());
    LoaderOptions other = job;
    other.batch_size = done % 2 == 0 ? 12 : 5;  // Another batch size goes on in the same order.
    auto resumed = Loader::Create(other);
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    for (int twice = 0; twice < 2; ++twice) {
      const absl::Status restored = (*resumed)->Restore(states[done]);
      ASSERT_TRUE(restored.ok()) << restored;
      EXPECT_EQ((*resumed)->State(), states[done]);
      EXPECT_EQ(RunEpoch(**resumed).sample_ids, tail) << "after batch " << done;
    }
  }
}

TEST(EpochTest, AFinishedEpochsStateIsTheNextOnesBegin) {
  Cluster cluster(1, SyntheticConfig(40));
  auto loader = Loader::Create(EpochJob(cluster));
  ASSERT_TRUE(loader.ok()) << loader.status();
  ASSERT_TRUE(RunEpoch(**loader).status.ok());
  const std::string state = (*loader)->State();
  const std::string second = RunEpoch(**loader).digest;
  EXPECT_NE(second, "");
  auto resumed = Loader::Create(EpochJob(cluster));
  ASSERT_TRUE((*resumed)->Restore(state).ok());
  EXPECT_EQ(RunEpoch(**resumed).digest, second);
}

TEST(EpochTest, AFlipOnTheDeviceShowsWhatTheServersFlipWouldHave) {
  Cluster cluster(1, SyntheticConfig(64));
  LoaderOptions on_server = EpochJob(cluster), on_device = EpochJob(cluster);
  on_device.pipeline->mutable_ops(1)->set_placement(v1::PLACEMENT_DEVICE);
  auto a = Loader::Create(on_server), b = Loader::Create(on_device);
  ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
  auto server_batch = (*a)->Next(), device_batch = (*b)->Next();
  const Tensor& server = *(*server_batch)->Find("image");
  const Tensor& device = *(*device_batch)->Find("image");
  ASSERT_EQ(server.bytes, device.bytes);
  EXPECT_EQ(memcmp(server.data, device.data, server.bytes), 0);
  EXPECT_NE(memcmp((*device_batch)->server_tensors()[0].data, device.data, device.bytes), 0);
  // A cursor means the same for both.
  EXPECT_TRUE((*b)->Restore((*a)->State()).ok());
}

}  // namespace
}  // namespace stoker
