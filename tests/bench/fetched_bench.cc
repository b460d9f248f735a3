// bench-fetched [--data DIR] [--servers 1,4] …: the bytes that servers fetch from a slow store for one epoch with block
// shuffle, over those of the samples, and the requests that it takes for each, for each sharded format. The servers are
// pools of workers that share the spans of one job, each with a dataset of its own over the same store.

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/registry/open_dataset.h"
#include "server/work/worker_pool.h"
#include "tests/bench/engine_photos.h"
#include "tests/bench/engine_ways.h"
#include "tests/bench/slow_server.h"
#include "tests/bench/source_shards.h"
#include "tests/bench/table.h"

namespace stoker {
namespace {

constexpr int kSkipped = 77;  // what CTest takes for a test that could not run

struct Options {
  std::string data, only;
  double latency_ms = 30;
  uint64_t ahead_mib = 64, window = 64, block_samples = 64, window_blocks = 4, size = 224;
  std::vector<int> servers = {1, 4};
  double most = 0;  // of what is fetched over what is needed where samples are read by range; 0: any
};

// One server's part in the job.
struct Server {
  std::shared_ptr<const Dataset> dataset;
  std::unique_ptr<WorkerPool> pool;
  std::unique_ptr<WorkerPool::Stream> stream;
  uint64_t outstanding = 0;
};

absl::StatusOr<StreamPlan> PlanOf(const Dataset& dataset, const Options& options) {
  v1::Identity identity;
  identity.set_samples(dataset.size());
  v1::Pipeline ops;
  ops.add_ops()->mutable_random_resized_crop()->add_size(options.size);
  STOKER_ASSIGN_OR_RETURN(auto pipeline, ServerPipeline::Create(ops, dataset.schema()));
  v1::Shuffle shuffle;
  shuffle.set_mode(v1::SHUFFLE_MODE_BLOCK);
  shuffle.set_block_samples(options.block_samples);
  shuffle.set_window_blocks(options.window_blocks);
  return StreamPlan::Create("photographs", std::move(pipeline), identity, /*seed=*/1, shuffle, false);
}

// Makes an epoch's spans. Each goes to the server that has the fewest outstanding, as a client's pulls have it.
absl::Status RunEpoch(std::vector<Server>& servers, const Options& options) {
  std::mutex mutex;
  std::condition_variable changed;
  std::string error;
  STOKER_ASSIGN_OR_RETURN(const StreamPlan plan, PlanOf(*servers[0].dataset, options));
  for (Server& server : servers) {
    server.pool = std::make_unique<WorkerPool>(
        WorkerPool::Options{.workers = 1, .slab_bytes = uint64_t{1} << 30, .ahead_bytes = options.ahead_mib << 20});
    STOKER_ASSIGN_OR_RETURN(server.stream, server.pool->AddStream(server.dataset, plan, [&](const FinishedSpan& span) {
      std::lock_guard lock(mutex);
      --server.outstanding;
      if (span.header.has_error()) error = span.header.error().message();
      changed.notify_all();
    }));
  }
  const uint64_t samples = servers[0].dataset->size(), step = plan.pipeline().span_samples();
  const auto least = [&]() -> Server& {
    return *std::min_element(servers.begin(), servers.end(),
                             [](const Server& a, const Server& b) { return a.outstanding < b.outstanding; });
  };
  for (uint64_t first = 0; first < samples; first += step) {
    Server* server = nullptr;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return least().outstanding < options.window || !error.empty(); });
      if (!error.empty()) break;
      server = &least();
      ++server->outstanding;
    }
    const absl::Status wanted =
        server->stream->Want({0, first, static_cast<uint32_t>(std::min(step, samples - first))});
    if (wanted.ok()) continue;
    std::lock_guard lock(mutex);
    --server->outstanding;
    error = std::string(wanted.message());
  }
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] {
      return std::all_of(servers.begin(), servers.end(), [](const Server& server) { return server.outstanding == 0; });
    });
  }
  for (Server& server : servers) server.stream.reset(), server.pool.reset();  // Nothing is delivered from here on.
  return error.empty() ? absl::OkStatus() : absl::UnavailableError(error);
}

// Whether each sample has bytes of its own. Those of a chunked format have not.
bool IsReadByRange(const Dataset& dataset) {
  return dataset.stored() != nullptr && dataset.stored()->PlaceOf(0, FieldSet::All()).size > 0;
}

// Returns the bytes of all samples as they are stored. A chunked format's are those of its files.
uint64_t BytesOf(const Dataset& dataset, const std::string& shards) {
  uint64_t bytes = 0;
  if (IsReadByRange(dataset)) {
    for (uint64_t id = 0; id < dataset.size(); ++id) bytes += dataset.stored()->PlaceOf(id, FieldSet::All()).size;
  } else {
    for (const auto& file : std::filesystem::directory_iterator(shards)) bytes += file.file_size();
  }
  return bytes;
}

// Prints a line. Returns whether the bound holds.
absl::StatusOr<bool> Measure(const std::string& format, const std::string& shards, const std::string& url, int count,
                             const SlowServer& store, const Options& options) {
  std::vector<Server> servers(count);
  for (Server& server : servers) {
    STOKER_ASSIGN_OR_RETURN(auto opened, OpenDataset(ConfigOf(format, url, FilesOf(shards)), {}));
    server.dataset = std::move(opened.dataset);
  }
  const Dataset& dataset = *servers[0].dataset;
  const uint64_t reads_before = store.reads(), bytes_before = store.bytes();
  STOKER_RETURN_IF_ERROR(RunEpoch(servers, options));
  const auto reads = static_cast<double>(store.reads() - reads_before);
  const auto fetched = static_cast<double>(store.bytes() - bytes_before);
  const auto needed = static_cast<double>(BytesOf(dataset, shards)), samples = static_cast<double>(dataset.size());
  const bool by_range = IsReadByRange(dataset);
  std::printf("%-10s %7d %13.1f %13.1f %9.3f %17.3f  %s\n", format.c_str(), count, needed / 1e6, fetched / 1e6,
              fetched / needed, reads / samples, by_range ? "by range" : "in row groups");
  return !by_range || options.most == 0 || fetched <= options.most * needed;
}

int Run(const Options& options) {
  const auto folder = options.data.empty() ? PaintedPhotos() : options.data;
  if (!folder.ok()) {
    std::fprintf(stderr, "%s\n", folder.status().ToString().c_str());
    return 1;
  }
  std::vector<std::pair<std::string, std::string>> written;
  for (const char* format : {kTar, kTfRecord, kMds, kParquet}) {
    if (!options.only.empty() && format != options.only) continue;
    if (std::string shards = WriteShards(format, *folder); !shards.empty()) written.emplace_back(format, shards);
  }
  Progress("");
  if (written.empty()) {
    std::fprintf(stderr, "SKIPPED: no format's writer can be had: is there a network?\n");
    return kSkipped;
  }
  const std::filesystem::path all = std::filesystem::path(written[0].second).parent_path();
  const SlowServer store(all, absl::Milliseconds(options.latency_ms), PhysicalCores().back());
  std::printf("block shuffle, %llu samples in a block, %llu blocks in a window; %g ms to the first byte\n\n",
              static_cast<unsigned long long>(options.block_samples),
              static_cast<unsigned long long>(options.window_blocks), options.latency_ms);
  std::printf("%-10s %7s %13s %13s %9s %17s\n", "format", "servers", "needed, MB", "fetched, MB", "ratio",
              "requests a sample");
  bool holds = true;
  for (const auto& [format, shards] : written)
    for (const int count : options.servers) {
      const auto measured = Measure(format, shards, absl::StrCat(store.url(), "/", format), count, store, options);
      if (!measured.ok()) {
        std::fprintf(stderr, "%s: %s\n", format.c_str(), measured.status().ToString().c_str());
        return 1;
      }
      holds = holds && *measured;
    }
  if (!holds) std::fprintf(stderr, "more than %g times what is needed was fetched\n", options.most);
  return holds ? 0 : 1;
}

int Main(int argc, char** argv) {
  CLI::App app("Bytes that are fetched from a store for an epoch with block shuffle, over those that are needed",
               "bench-fetched");
  Options options;
  app.add_option("--data", options.data, "Folder of class folders with JPEGs (default: painted ones, made once)")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  app.add_option("--latency-ms", options.latency_ms, "Until the store's first byte")->capture_default_str();
  app.add_option("--servers", options.servers, "Numbers of servers")->delimiter(',')->capture_default_str();
  app.add_option("--ahead-mib", options.ahead_mib, "MiB of what each server reads ahead")->capture_default_str();
  app.add_option("--window", options.window, "Spans that each server is asked for at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 512));
  app.add_option("--block-samples", options.block_samples)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--window-blocks", options.window_blocks)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--size", options.size, "Of the crops, in pixels: spans of smaller ones have more samples")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app.add_option("--only", options.only, "Only this format")->type_name("FORMAT");
  app.add_option("--most", options.most, "Fail where the ratio of a format that is read by range is above this");
  CLI11_PARSE(app, argc, argv);
  return Run(options);
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
