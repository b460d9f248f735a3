#include "client/loader/loader.h"

#include <atomic>
#include <set>
#include <thread>

#include "client/capi/stoker.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/cluster.h"
#include "tests/unit/client/capi/job.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

// A pointer for a call to leave alone.
template <typename Handle>
Handle* Somewhere() {
  static char place;
  return reinterpret_cast<Handle*>(&place);
}

Json Described(const LoaderPtr& loader) {
  char* text = nullptr;
  EXPECT_EQ(stoker_loader_describe(loader.get(), &text), STOKER_OK) << stoker_error();
  return Json::parse(Taken(text));
}

std::string StateOf(const LoaderPtr& loader) {
  char* text = nullptr;
  EXPECT_EQ(stoker_loader_state(loader.get(), &text), STOKER_OK) << stoker_error();
  return Taken(text);
}

TEST(CapiLoaderTest, SaysWhatItWillGive) {
  Cluster cluster(2, SyntheticConfig(100));
  Json job = Job(cluster);
  job["pipeline"] = {
      {"ops", {{{"CenterCrop", {{"size", 8}}}}, {{"ToDtype", {{"dtype", "float32"}, {"scale", true}}}}}}};
  const LoaderPtr loader = MakeLoader(job);
  ASSERT_NE(loader, nullptr) << stoker_error();
  const Json told = Described(loader);
  EXPECT_EQ(told["dataset"], "synthetic");
  EXPECT_EQ(told["samples"], 100);
  EXPECT_EQ(told["batch_size"], 16);
  EXPECT_EQ(told["rank"], 0);
  EXPECT_EQ(told["world_size"], 1);
  EXPECT_EQ(told["batches_per_epoch"], 7);
  EXPECT_EQ(told["sample_bytes"], 8 * 8 * 3 + 4);
  EXPECT_EQ(told["device"], "cpu");
  EXPECT_EQ(told["pipeline"]["bad_samples"], "fail");
  EXPECT_EQ(told["fields"], Json::parse(R"([{"name": "image", "dtype": "float32", "shape": [8, 8, 3]},
                            {"name": "number", "dtype": "int32", "shape": []}])"));
}

TEST(CapiLoaderTest, TheDescribedPipelineGivesTheSameSamples) {
  Cluster cluster(1, SyntheticConfig(64));
  Json job = Job(cluster);
  job["pipeline"] = "ops: [RandomCrop: {size: 8}, RandomHorizontalFlip: ]";
  const LoaderPtr first = MakeLoader(job);
  ASSERT_NE(first, nullptr) << stoker_error();
  job["pipeline"] = Described(first)["pipeline"];
  const LoaderPtr second = MakeLoader(job);
  ASSERT_NE(second, nullptr) << stoker_error();
  const std::string digest = DigestOf(first);
  EXPECT_EQ(digest.size(), 64u);
  EXPECT_EQ(DigestOf(second), digest);
  EXPECT_EQ(stoker_loader_restore(second.get(), StateOf(first).c_str(), 0), STOKER_OK) << stoker_error();
}

TEST(CapiLoaderTest, GivesTheSameEpochsAsTheCxxLoader) {
  Cluster cluster(2, SyntheticConfig(200));
  LoaderOptions options;
  options.servers = cluster.addresses();
  options.pipeline = v1::Pipeline();
  options.batch_size = 32;
  options.last_batch = LastBatch::kPartial;
  options.seed = 5;
  const EpochResult expected = RunEpoch(options);
  ASSERT_TRUE(expected.status.ok()) << expected.status;
  Json job = Job(cluster);
  job["seed"] = 5;
  const LoaderPtr loader = MakeLoader(job);
  EXPECT_EQ(DigestOf(loader), expected.digest);
  EXPECT_NE(DigestOf(loader), expected.digest) << "the next epoch";
  ASSERT_EQ(stoker_loader_set_epoch(loader.get(), 0), STOKER_OK);
  EXPECT_EQ(DigestOf(loader), expected.digest);
}

TEST(CapiLoaderTest, AWaitEndsWithNothingLost) {
  v1::ServerConfig config = SyntheticConfig(32);
  config.mutable_datasets(0)->mutable_synthetic()->set_sleep_us(20'000);
  Cluster cluster(1, config);
  const LoaderPtr loader = MakeLoader(Job(cluster));
  ASSERT_NE(loader, nullptr) << stoker_error();
  stoker_batch *const before = Somewhere<stoker_batch>(), *batch = before;
  ASSERT_EQ(stoker_loader_next(loader.get(), 0, &batch), STOKER_DEADLINE_EXCEEDED);
  EXPECT_EQ(batch, nullptr);
  EXPECT_EQ(stoker_loader_waiting(loader.get()), 1);
  int waits = 0;
  stoker_code code = STOKER_DEADLINE_EXCEEDED;
  while ((code = stoker_loader_next(loader.get(), 0.05, &batch)) == STOKER_DEADLINE_EXCEEDED) ++waits;
  ASSERT_EQ(code, STOKER_OK) << stoker_error();
  const BatchPtr first(batch);
  EXPECT_EQ(stoker_loader_waiting(loader.get()), 0);
  EXPECT_GT(waits, 0);
  EXPECT_EQ(InfoOf(first).positions[0], 0u);
}

TEST(CapiLoaderTest, ALoaderThatGaveUpIsNotWaiting) {
  v1::ServerConfig config = SyntheticConfig(32);
  config.mutable_datasets(0)->mutable_synthetic()->set_sleep_us(1'000'000);
  Cluster cluster(1, config);
  Json job = Job(cluster);
  job["progress_timeout"] = 0.2;
  const LoaderPtr loader = MakeLoader(job);
  stoker_batch *const before = Somewhere<stoker_batch>(), *batch = before;
  EXPECT_EQ(stoker_loader_next(loader.get(), 30, &batch), STOKER_DEADLINE_EXCEEDED);
  EXPECT_EQ(stoker_loader_waiting(loader.get()), 0);
  EXPECT_THAT(stoker_error(), HasSubstr("no span arrived for 200ms"));
  EXPECT_EQ(batch, before);
  EXPECT_EQ(stoker_loader_next(loader.get(), 0, &batch), STOKER_DEADLINE_EXCEEDED) << "sticky";
  EXPECT_EQ(stoker_loader_waiting(loader.get()), 0);
}

TEST(CapiLoaderTest, CancelEndsAWaitFromAnotherThread) {
  v1::ServerConfig config = SyntheticConfig(32);
  config.mutable_datasets(0)->mutable_synthetic()->set_sleep_us(1'000'000);
  Cluster cluster(1, config);
  const LoaderPtr loader = MakeLoader(Job(cluster));
  ASSERT_NE(loader, nullptr) << stoker_error();
  std::thread other([&] { stoker_loader_cancel(loader.get()); });
  stoker_batch* batch = nullptr;
  EXPECT_EQ(stoker_loader_next(loader.get(), -1, &batch), STOKER_CANCELLED);
  other.join();
  EXPECT_EQ(stoker_loader_next(loader.get(), 1, &batch), STOKER_CANCELLED);
}

TEST(CapiLoaderTest, GoesOnFromAStateWithAnotherBatchSize) {
  Cluster cluster(1, SyntheticConfig(100));
  Json job = Job(cluster);
  job["batch_size"] = 10;
  const LoaderPtr first = MakeLoader(job);
  for (int i = 0; i < 3; ++i) ASSERT_NE(Next(first), nullptr) << stoker_error();
  job["batch_size"] = 7;
  const LoaderPtr second = MakeLoader(job);
  ASSERT_EQ(stoker_loader_restore(second.get(), StateOf(first).c_str(), 0), STOKER_OK) << stoker_error();
  const BatchPtr a = Next(first), b = Next(second);
  ASSERT_NE(b, nullptr) << stoker_error();
  EXPECT_EQ(InfoOf(b).positions[0], 30u);
  EXPECT_EQ(InfoOf(b).sample_ids[0], InfoOf(a).sample_ids[0]);
  EXPECT_EQ(InfoOf(b).size, 7);
}

TEST(CapiLoaderTest, RefusesAStateOfAnotherJob) {
  Cluster cluster(1, SyntheticConfig(100));
  Json job = Job(cluster);
  const LoaderPtr first = MakeLoader(job);
  job["seed"] = 1;
  const LoaderPtr second = MakeLoader(job);
  EXPECT_EQ(stoker_loader_restore(second.get(), StateOf(first).c_str(), 0), STOKER_FAILED_PRECONDITION);
  EXPECT_THAT(stoker_error(), HasSubstr("seed"));
  EXPECT_EQ(stoker_loader_restore(second.get(), "?", 0), STOKER_INVALID_ARGUMENT);
  EXPECT_EQ(stoker_loader_restore(second.get(), nullptr, 0), STOKER_INVALID_ARGUMENT);
}

TEST(CapiLoaderTest, CountsWhatItDid) {
  Cluster cluster(1, SyntheticConfig(100));
  const LoaderPtr loader = MakeLoader(Job(cluster));
  ASSERT_EQ(DigestOf(loader).size(), 64u) << stoker_error();
  char* text = nullptr;
  ASSERT_EQ(stoker_loader_stats(loader.get(), &text), STOKER_OK);
  const Json stats = Json::parse(Taken(text));
  EXPECT_EQ(stats["batches"], 7);
  EXPECT_EQ(stats["samples"], 100);
  EXPECT_GE(stats["bytes"], 100 * (16 * 12 * 3 + 4));
  EXPECT_EQ(stats["servers"][0]["address"], cluster.addresses()[0]);
  EXPECT_EQ(stats["servers"][0]["connected"], true);
  EXPECT_EQ(stats["warnings"], Json::array());
  EXPECT_GT(stats["server_seconds"]["read"].get<double>(), 0);
}

TEST(CapiLoaderTest, RanksSplitAnEpoch) {
  Cluster cluster(1, SyntheticConfig(64));
  std::set<uint64_t> seen;
  for (int rank : {0, 1}) {
    Json job = Job(cluster);
    job["rank"] = rank;
    job["world_size"] = 2;
    const LoaderPtr loader = MakeLoader(job);
    while (const BatchPtr batch = Next(loader)) {
      const stoker_batch_info info = InfoOf(batch);
      EXPECT_EQ(info.size, 16);
      seen.insert(info.positions, info.positions + info.size);
    }
  }
  EXPECT_EQ(seen.size(), 64u);
}

TEST(CapiLoaderTest, CreateSaysWhatIsWrong) {
  Cluster cluster(1, SyntheticConfig(10));
  const auto error_of = [&](const char* key, Json value) -> std::pair<stoker_code, std::string> {
    Json job = Job(cluster);
    job[key] = std::move(value);
    stoker_loader *const before = Somewhere<stoker_loader>(), *loader = before;
    const stoker_code code = stoker_loader_create(job.dump().c_str(), &loader);
    EXPECT_EQ(loader, before) << key;
    return {code, stoker_error()};
  };
  EXPECT_EQ(error_of("dataset", "nope").first, STOKER_NOT_FOUND);
  EXPECT_EQ(error_of("device", "tpu").first, STOKER_INVALID_ARGUMENT);
  EXPECT_THAT(error_of("device", "tpu").second, HasSubstr("tpu"));
  const auto pipeline = error_of("pipeline", {{"ops", {{{"CenterCrop", Json::object()}}}}});
  EXPECT_EQ(pipeline.first, STOKER_INVALID_ARGUMENT);
  EXPECT_THAT(pipeline.second, HasSubstr("CenterCrop.size"));
  EXPECT_EQ(error_of("rank", 1).first, STOKER_INVALID_ARGUMENT);
}

TEST(CapiLoaderTest, NullIsAnErrorAndNoCrash) {
  stoker_batch* batch = nullptr;
  char* text = nullptr;
  EXPECT_EQ(stoker_loader_next(nullptr, 0, &batch), STOKER_INVALID_ARGUMENT);
  EXPECT_EQ(stoker_loader_state(nullptr, &text), STOKER_INVALID_ARGUMENT);
  EXPECT_EQ(stoker_loader_waiting(nullptr), 0);
  stoker_loader_cancel(nullptr);
  stoker_loader_destroy(nullptr);
}

}  // namespace
}  // namespace stoker
