// Epochs over a store that is far away and breaks now and then, with a server that keeps what it read.

#include <filesystem>
#include <fstream>
#include <random>

#include "absl/strings/str_cat.h"
#include "common/config/yaml_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/warm/warm.h"
#include "tests/support/cluster.h"
#include "tests/support/http_server.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr int kFiles = 10, kRows = 40, kColumns = 500;

// An .npy file of rows of random bytes.
std::string Npy(int seed) {
  const std::string dictionary =
      absl::StrCat("{'descr': '|u1', 'fortran_order': False, 'shape': (", kRows, ", ", kColumns, ")}");
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(dictionary.size());
  file += '\0';
  file += dictionary;
  std::minstd_rand random(seed + 1);
  for (int i = 0; i < kRows * kColumns; ++i) file += static_cast<char>(random());
  return file;
}

class RawCacheTest : public testing::Test {
 protected:
  RawCacheTest() {
    for (int i = 0; i < kFiles; ++i) folder_.Write(absl::StrCat("sets/", i, ".npy"), Npy(i));
  }

  // A server of the vectors behind HTTP, under two names, with `raw_cache`.
  v1::ServerConfig Remote(const std::string& raw_cache) {
    return Parsed(absl::StrCat(
        "workers: 2\nmemory_limit: 2GiB\ncache_dir: ", folder_.path("indexes"), "\nraw_cache: ", raw_cache,
        "\ndatasets:\n", "- {name: sets, feature_vectors: {rows: true, path: '", http_.url(), "/sets/{0..9}.npy'}}\n",
        "- {name: some, feature_vectors: {rows: true, path: '", http_.url(), "/sets/{2..5}.npy'}}\n"));
  }

  static v1::ServerConfig Parsed(const std::string& yaml) {
    v1::ServerConfig config;
    const absl::Status parsed = ParseYaml(yaml, "test", config);
    EXPECT_TRUE(parsed.ok()) << parsed;
    return config;
  }

  static LoaderOptions Job(const Cluster& cluster, const std::string& dataset = "sets", uint64_t seed = 1) {
    LoaderOptions options;
    options.servers = cluster.addresses();
    options.dataset = dataset;
    options.pipeline.emplace();
    options.batch_size = 10;
    options.span_samples = 8;
    options.seed = seed;
    options.last_batch = LastBatch::kPartial;
    return options;
  }

  static std::string Digest(const LoaderOptions& job) {
    const EpochResult result = RunEpoch(job);
    EXPECT_TRUE(result.status.ok()) << result.status;
    return result.digest;
  }

  // The digest of the same job where the files are local.
  std::string LocalDigest(const std::string& dataset = "sets", uint64_t seed = 1) {
    const std::string files = dataset == "sets" ? "{0..9}" : "{2..5}";
    Cluster cluster(1, Parsed(absl::StrCat("workers: 1\nmemory_limit: 2GiB\ncache_dir: ", folder_.path("local"),
                                           "\ndatasets:\n- {name: ", dataset, ", feature_vectors: {rows: true, path: '",
                                           folder_.path("sets"), "/", files, ".npy'}}\n")));
    return Digest(Job(cluster, dataset, seed));
  }

  TemporaryFolder folder_;
  std::atomic<bool> faults_ = true;
  HttpServer http_{[this](const HttpServer::Request& request) -> HttpServer::Reply {
    if (faults_ && request.number % 10 == 3) return {.status = 503};
    HttpServer::Reply reply = ServeObject(request, folder_.Read(request.target.substr(1)));
    if (faults_ && request.number % 10 == 7) reply.break_after = 300, reply.reset = true;
    return reply;
  }};
};

TEST_F(RawCacheTest, ASecondEpochIsFromMemory) {
  Cluster cluster(1, Remote("{memory: 64MiB}"));
  EXPECT_EQ(Digest(Job(cluster)), LocalDigest());
  // What that job wanted of its next epoch, before all samples had been kept, has come by the end of another epoch.
  auto loader = *Loader::Create(Job(cluster));
  EXPECT_EQ(RunEpoch(*loader).digest, LocalDigest());
  const uint64_t misses = cluster.server(0).raw_cache()->stats().misses;
  const EpochResult second = RunEpoch(*loader);
  EXPECT_TRUE(second.status.ok()) << second.status;
  EXPECT_EQ(second.sample_ids.size(), kFiles * kRows);
  EXPECT_EQ(Digest(Job(cluster, "sets", 5)), LocalDigest("sets", 5)) << "another job with another seed";
  EXPECT_EQ(Digest(Job(cluster, "some")), LocalDigest("some")) << "another dataset over the same objects";
  const RawCache::Stats stats = cluster.server(0).raw_cache()->stats();
  EXPECT_EQ(stats.misses, misses);  // The server may still count a request of the first epoch that was asked for twice.
  EXPECT_GE(stats.memory_hits, 2 * kFiles * kRows + 4 * kRows);
  EXPECT_EQ(stats.memory.samples, kFiles * kRows);
}

TEST_F(RawCacheTest, ADiskServesTheNextServerAndDamageIsReadAgain) {
  const std::string disk = absl::StrCat("{disk: {size: 64MiB, path: '", folder_.path("disk"), "'}}");
  const std::string digest = LocalDigest();
  {
    Cluster cluster(1, Remote(disk));
    EXPECT_EQ(Digest(Job(cluster)), digest);
  }
  {
    Cluster cluster(1, Remote(disk));
    const int requests = http_.counts().requests;
    EXPECT_EQ(Digest(Job(cluster)), digest);
    EXPECT_EQ(Digest(Job(cluster, "some")), LocalDigest("some"));
    EXPECT_EQ(http_.counts().requests, requests);
    EXPECT_GE(cluster.server(0).raw_cache()->stats().disk_hits, kFiles * kRows + 4 * kRows);
  }
  for (const auto& entry : fs::directory_iterator(folder_.path("disk/stoker-raw-cache"))) {
    if (entry.path().extension() != ".segment") continue;
    std::fstream file(entry.path(), std::ios::binary | std::ios::in | std::ios::out);
    for (uint64_t at = 100; at < entry.file_size(); at += 5000) {
      file.seekg(static_cast<std::streamoff>(at));
      const int byte = file.get();
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(byte ^ 1));
    }
  }
  Cluster cluster(1, Remote(disk));
  EXPECT_EQ(Digest(Job(cluster)), digest);
  const RawCache::Stats stats = cluster.server(0).raw_cache()->stats();
  EXPECT_GT(stats.disk.damaged, 20);
  EXPECT_GT(stats.disk_hits, 100);
  fs::remove_all(folder_.path("disk"));
  EXPECT_EQ(Digest(Job(cluster, "sets", 5)), LocalDigest("sets", 5)) << "the folder was deleted";
}

TEST_F(RawCacheTest, WhatWasWarmedNeedsNoStore) {
  const v1::ServerConfig config = Remote(absl::StrCat("{disk: {size: 64MiB, path: '", folder_.path("disk"), "'}}"));
  {
    const Settings settings = *Resolve(config);
    const auto cache = OpenRawCache(settings, Admission::Kind::kFilling);
    const auto datasets = OpenDatasets(config, settings, cache);
    ASSERT_TRUE(datasets.ok()) << datasets.status();
    const WarmReport report = Warm(*datasets, {.cache = cache});
    EXPECT_EQ(report.failed, 0);
    EXPECT_EQ(report.kept.samples, kFiles * kRows + 4 * kRows);
  }
  Cluster cluster(1, config);
  const int requests = http_.counts().requests;
  EXPECT_EQ(Digest(Job(cluster)), LocalDigest());
  EXPECT_EQ(http_.counts().requests, requests);
}

TEST_F(RawCacheTest, AnObjectThatChangedIsAnother) {
  const std::string disk = absl::StrCat("{disk: {size: 64MiB, path: '", folder_.path("disk"), "'}}");
  faults_ = false;
  {
    Cluster cluster(1, Remote(disk));
    Digest(Job(cluster));
  }
  folder_.Write("sets/3.npy", Npy(77));
  // The ETag of every object tells that it is another one now.
  HttpServer changed([this](const HttpServer::Request& request) {
    return ServeObject(request, folder_.Read(request.target.substr(1)), "\"2\"");
  });
  v1::ServerConfig config = Remote(disk);
  for (auto& dataset : *config.mutable_datasets())
    for (std::string& path : *dataset.mutable_feature_vectors()->mutable_path())
      path = changed.url() + path.substr(http_.url().size());
  Cluster cluster(1, config);
  EXPECT_EQ(Digest(Job(cluster)), LocalDigest());
}

TEST_F(RawCacheTest, ADiskThatCannotBeUsedCostsAWarningAndNoMore) {
  folder_.Write("file", "no folder");
  Cluster cluster(1, Remote(absl::StrCat("{disk: {size: 64MiB, path: '", folder_.path("file"), "'}}")));
  EXPECT_EQ(Digest(Job(cluster)), LocalDigest());
  EXPECT_FALSE(cluster.server(0).raw_cache()->has_disk());
}

// The second server finds the folder in use.
TEST_F(RawCacheTest, TwoServersWithOneFolderBothServe) {
  Cluster cluster(2, Remote(absl::StrCat("{memory: 1MiB, disk: {size: 64MiB, path: '", folder_.path("disk"), "'}}")));
  const std::string digest = LocalDigest();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Digest(Job(cluster)), digest);
}

}  // namespace
}  // namespace stoker
