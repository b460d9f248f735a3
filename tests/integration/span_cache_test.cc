// Jobs that share a server's span cache.

#include <thread>

#include "gtest/gtest.h"
#include "tests/support/cluster.h"

namespace stoker {
namespace {

v1::ServerConfig CachingConfig(uint64_t samples) {
  v1::ServerConfig config = SyntheticConfig(samples);
  config.mutable_datasets(0)->mutable_synthetic()->set_sleep_us(200);
  config.set_span_cache("256MiB");
  return config;
}

LoaderOptions Job(const Cluster& cluster) {
  LoaderOptions options;
  options.servers = cluster.addresses();
  options.pipeline = v1::Pipeline();
  options.batch_size = 16;
  options.span_samples = 4;
  options.last_batch = LastBatch::kPartial;
  return options;
}

TEST(SpanCacheTest, JobsOfOneEpochShareTheWorkAndEachGetsEverySample) {
  Cluster cluster(2, CachingConfig(800));
  EpochResult results[3];
  uint64_t cached = 0, spans = 0;
  std::vector<std::thread> jobs;
  std::vector<std::unique_ptr<Loader>> loaders;
  for (int i = 0; i < 3; ++i) loaders.push_back(*Loader::Create(Job(cluster)));
  for (int i = 0; i < 3; ++i) jobs.emplace_back([&, i] { results[i] = RunEpoch(*loaders[i]); });
  for (std::thread& job : jobs) job.join();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(results[i].status.ok()) << results[i].status;
    EXPECT_EQ(results[i].digest, results[0].digest);
    EXPECT_EQ(results[i].positions.size(), 800);
    cached += loaders[i]->stats().cached_spans;
    spans += loaders[i]->stats().spans;
  }
  // Two of three jobs' spans at best; each of two servers may make one that the other has.
  EXPECT_GT(cached, spans / 3);
  Cluster without(1, SyntheticConfig(800));
  EXPECT_EQ(RunEpoch(Job(without)).digest, results[0].digest);
}

TEST(SpanCacheTest, ASlowJobHoldsUpNoOther) {
  Cluster cluster(1, CachingConfig(800));
  LoaderOptions job = Job(cluster);
  auto fast = *Loader::Create(job);
  job.prefetch = 1;
  auto slow = *Loader::Create(job);
  uint64_t slow_samples = (*slow->Next())->real();  // And then it rests until the other is done.
  const EpochResult whole = RunEpoch(*fast);
  EXPECT_TRUE(whole.status.ok()) << whole.status;
  EXPECT_EQ(whole.positions.size(), 800);
  slow_samples += RunEpoch(*slow).positions.size();
  EXPECT_EQ(slow_samples, 800) << "what the cache has for it, it still gets";
  EXPECT_GT(slow->stats().cached_spans, 100);  // Of 200.
}

TEST(SpanCacheTest, AnotherSeedOrEpochSharesNothing) {
  Cluster cluster(1, CachingConfig(100));
  LoaderOptions job = Job(cluster);
  auto first = *Loader::Create(job);
  job.seed = 1;
  auto other = *Loader::Create(job);
  const std::string digest = RunEpoch(*first).digest;
  EXPECT_NE(RunEpoch(*other).digest, digest);
  EXPECT_EQ(other->stats().cached_spans, 0u);
}

}  // namespace
}  // namespace stoker
