// Jobs that share a server's span cache.

#include <xxhash.h>

#include <thread>

#include "client/fleet/client.h"
#include "common/identity/mix.h"
#include "common/pipeline/pipeline.h"
#include "google/protobuf/text_format.h"
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

LoaderOptions SharedJob(const Cluster& cluster) {
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
  for (int i = 0; i < 3; ++i) loaders.push_back(*Loader::Create(SharedJob(cluster)));
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
  EXPECT_EQ(RunEpoch(SharedJob(without)).digest, results[0].digest);
}

TEST(SpanCacheTest, ASlowJobHoldsUpNoOther) {
  Cluster cluster(1, CachingConfig(800));
  LoaderOptions job = SharedJob(cluster);
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

// Undoes `y = x ^ (x >> shift)`.
uint64_t UndoShift(uint64_t y, int shift) {
  uint64_t x = y;
  for (int known = shift; known < 64; known += shift) x = y ^ (x >> shift);
  return x;
}

// The number whose product with the odd `factor` is 1, by Newton's iteration.
uint64_t Inverse(uint64_t factor) {
  uint64_t inverse = factor;
  for (int i = 0; i < 6; ++i) inverse *= 2 - factor * inverse;
  return inverse;
}

// Undoes Mix.
uint64_t Unmix(uint64_t x) {
  x = UndoShift(x, 31) * Inverse(0x94d049bb133111eb);
  x = UndoShift(x, 27) * Inverse(0xbf58476d1ce4e5b9);
  return UndoShift(x, 30);
}

// A step of MixAll.
constexpr uint64_t kStep = 0x9e3779b97f4a7c15, kValue = 0xd1342543de82ef95;
uint64_t Step(uint64_t key, uint64_t value) { return Mix(key + kStep) ^ Mix(value + kValue); }

// What MixAll made of the 11 values of a plan's key, of which the seed was the sixth, up to the seed.
uint64_t KeyBeforeSeed(const v1::Identity& identity, const v1::Pipeline& pipeline) {
  uint64_t first_bytes = 0;
  for (int i = 7; i >= 0; --i) first_bytes = first_bytes << 8 | static_cast<uint8_t>(identity.fingerprint()[i]);
  const std::string server = ServerPart(pipeline);
  uint64_t key = kStep * 12;
  for (const uint64_t value : {first_bytes, identity.samples(), uint64_t{identity.pixel_version()},
                               identity.pixel_check(), uint64_t{XXH3_64bits(server.data(), server.size())}})
    key = Step(key, value);
  return key;
}

TEST(SpanCacheTest, MixIsUndone) {
  for (const uint64_t x : {uint64_t{0}, uint64_t{1}, uint64_t{0x123456789abcdef0}, ~uint64_t{0}})
    EXPECT_EQ(Unmix(Mix(x)), x);
}

// Spans were kept under a hash of 64 bits that can be undone, so a job could choose its seed such that another job with
// another pipeline was given its pixels.
TEST(SpanCacheTest, AJobWhoseSeedWasChosenToCollideGetsItsOwnPixels) {
  const auto parse = [](const char* text) {
    v1::Pipeline pipeline;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline));
    return pipeline;
  };
  Cluster cluster(1, CachingConfig(100));
  LoaderOptions attack = SharedJob(cluster), victim = attack;
  attack.pipeline = parse("ops { random_solarize { threshold: 0 p: 1 } }");
  victim.pipeline = parse("ops { random_vertical_flip { p: 1 } }");
  victim.seed = 1;
  Client::Options connection;
  connection.servers = cluster.addresses();
  v1::DescribeRequest request;
  request.set_dataset("synthetic");
  const auto described = (*Client::Create(connection))->Describe(request);
  ASSERT_TRUE(described.ok()) << described.status();
  const v1::Identity& identity = described->identity();
  const uint64_t wanted = Step(KeyBeforeSeed(identity, *victim.pipeline), victim.seed);
  attack.seed = Unmix(wanted ^ Mix(KeyBeforeSeed(identity, *attack.pipeline) + kStep)) - kValue;
  ASSERT_EQ(Step(KeyBeforeSeed(identity, *attack.pipeline), attack.seed), wanted);

  const EpochResult first = RunEpoch(attack);
  ASSERT_TRUE(first.status.ok()) << first.status;
  auto loader = *Loader::Create(victim);
  const EpochResult second = RunEpoch(*loader);
  EXPECT_EQ(loader->stats().cached_spans, 0u);
  Cluster without(1, SyntheticConfig(100));
  victim.servers = without.addresses();
  EXPECT_EQ(second.digest, RunEpoch(victim).digest);
}

TEST(SpanCacheTest, AnotherSeedOrEpochSharesNothing) {
  Cluster cluster(1, CachingConfig(100));
  LoaderOptions job = SharedJob(cluster);
  auto first = *Loader::Create(job);
  job.seed = 1;
  auto other = *Loader::Create(job);
  const std::string digest = RunEpoch(*first).digest;
  EXPECT_NE(RunEpoch(*other).digest, digest);
  EXPECT_EQ(other->stats().cached_spans, 0u);
}

}  // namespace
}  // namespace stoker
