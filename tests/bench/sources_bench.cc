// bench-sources [--data DIR] [--peers] [--json FILE] …: images per second of one worker whose photographs lie in each
// format that is read, on disk and in a store that lets each first byte wait, beside the class folder that they were
// written from, and beside what users would take instead. The shards are by the formats' own writers. All ways take
// turns, round by round, so that a machine's drift hits all alike.

#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "server/read/registry/open_dataset.h"
#include "tests/bench/engine_photos.h"
#include "tests/bench/engine_ways.h"
#include "tests/bench/fleet.h"
#include "tests/bench/peer.h"
#include "tests/bench/pool_way.h"
#include "tests/bench/slow_server.h"
#include "tests/bench/source_shards.h"
#include "tests/bench/table.h"

namespace stoker {
namespace {

constexpr uint64_t kDecodedBytes = uint64_t{2} << 30;  // room for some 3000 photographs
constexpr int kSkipped = 77;                           // what CTest takes for a test that could not run

// The cache keeps two thirds of Parquet's row groups (write_shards.py), so that each epoch loads many anew. A window of
// the block shuffle has three row groups.
constexpr char kBlocks[] = ", block shuffle";
constexpr uint64_t kBlockSamples = 20, kWindowBlocks = 3;

struct Options {
  std::string data, only, json;
  bool peers = false;
  double latency_ms = 30;
  uint64_t ahead_mib = 64;
  Turn turn = {.seconds = 3};
  int rounds = 5;
};

// A dataset that a worker reads, and what its spans were: those of all must be the first one's.
struct Read {
  std::shared_ptr<const Dataset> dataset;
  SpanHashes hashes;
};

uint64_t BytesOf(const std::string& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) bytes += entry.file_size();
  return bytes;
}

PoolOptions WithBlockShuffle() {
  PoolOptions pool;
  pool.shuffle.set_mode(v1::SHUFFLE_MODE_BLOCK);
  pool.shuffle.set_block_samples(kBlockSamples);
  pool.shuffle.set_window_blocks(kWindowBlocks);
  pool.window = 12;  // What WorkerPool::Stream::window gives for spans of 8 photographs, 30 ms away.
  return pool;
}

// All of `all` have the same shuffle.
Way WayOf(std::string name, const v1::DatasetConfig& config, const Options& options, std::list<Read>& all,
          PoolOptions pool = {}) {
  auto opened = OpenDataset(config, {});
  if (!opened.ok()) Die(absl::StrCat(name, ": ", opened.status().message()));
  Read& read = all.emplace_back(Read{.dataset = std::move(opened->dataset), .hashes = {}});
  pool.ahead_bytes = options.ahead_mib << 20;
  auto time = [&read, &first = all.front(), pool](const Turn& turn) -> absl::StatusOr<double> {
    const auto run = RunPool(read.dataset, pool, 0.5, turn.seconds, read.hashes);
    if (!run.ok()) return run.status();
    if (const uint64_t* const start = DifferentSpan(first.hashes, read.hashes))
      return absl::InternalError(absl::StrCat("the span at ", *start, " has other bytes than the class folder's"));
    return run->images / (turn.cpu_time ? run->cpu_seconds : run->wall_seconds);
  };
  return {std::move(name), std::move(time)};
}

// The peers that read what lies in `shards`, a folder with one of each format, or the same behind `url`.
std::vector<Way> Peers(const std::string& shards, const std::string& url, const std::string& latency) {
  const auto files = [&](const std::string& root, const char* format) {
    std::vector<std::string> paths;
    for (const std::string& file : FilesOf(absl::StrCat(shards, "/", format)))
      paths.push_back(absl::StrCat(root, "/", format, "/", file));
    return paths;
  };
  setenv("S3_ENDPOINT_URL", url.c_str(), 1);
  setenv("AWS_ACCESS_KEY_ID", "anybody", 1);
  setenv("AWS_SECRET_ACCESS_KEY", "anything", 1);
  const std::string bucket = std::filesystem::path(shards).filename();
  const std::string python = PeersPython();
  const std::string kept = absl::StrCat(shards, "/peers");
  return {
      PeerWay("webdataset", python, "webdataset_peer.py", {}, files(shards, kTar)),
      PeerWay("mosaicml-streaming", python, "streaming_peer.py", {kept}, {absl::StrCat(shards, "/", kMds)}),
      PeerWay("tf.data TFRecord aliased", python, "tfrecord_peer.py", {"aliased"}, files(shards, kTfRecord)),
      PeerWay("h5py, DataLoader, 1 worker", python, "h5py_peer.py", {kept + ".h5"}, files(shards, kTar)),
      PeerWay("webdataset" + latency, python, "webdataset_peer.py", {}, files(absl::StrCat(url, "/", bucket), kTar)),
      PeerWay("mosaicml-streaming" + latency, python, "streaming_peer.py", {kept},
              {absl::StrCat("s3://", bucket, "/", kMds)}),
  };
}

std::vector<Way> Chosen(std::vector<Way> ways, const std::string& only) {
  std::vector<Way> chosen;
  for (Way& way : ways)
    if (chosen.empty() || absl::StrContains(way.name, only)) chosen.push_back(std::move(way));
  return chosen;
}

int Run(const Options& options) {
  const auto folder = options.data.empty() ? PaintedPhotos() : options.data;
  if (!folder.ok()) Die(std::string(folder.status().message()));
  std::vector<std::pair<std::string, std::string>> formats;  // by name, where their shards are
  std::string shards;
  for (const std::string& format : WrittenFormats())
    if (const std::string written = WriteShards(format, *folder); !written.empty()) {
      formats.emplace_back(format, written);
      shards = std::filesystem::path(written).parent_path();
    }
  Progress("");
  if (formats.empty()) {
    std::fprintf(stderr, "SKIPPED: no format's writer can be had: is there a network?\n");
    return kSkipped;
  }
  const std::vector<int> cores = PhysicalCores();
  const SlowServer server(std::filesystem::path(shards).parent_path(), absl::Milliseconds(options.latency_ms),
                          cores.back());
  PinTo(cores[0]);
  TuneAllocator();

  const std::string url = absl::StrCat(server.url(), "/", std::filesystem::path(shards).filename().string());
  const std::string latency = absl::StrCat(", ", options.latency_ms, " ms away");
  std::list<Read> all;
  std::vector<Way> ways;
  ways.push_back(WayOf(kFolder, ConfigOf(kFolder, *folder, {}), options, all));
  ways.push_back(WayOf("class folder, decoded cache", ConfigOf(kFolder, *folder, {}), options, all,
                       {.decoded_bytes = kDecodedBytes}));
  for (const auto& [name, root] : formats)
    ways.push_back(WayOf(name, ConfigOf(name, root, FilesOf(root)), options, all));
  for (const auto& [name, root] : formats)
    if (name != kHdf5)  // which is copied to a local disk first
      ways.push_back(WayOf(name + latency, ConfigOf(name, absl::StrCat(url, "/", name), FilesOf(root)), options, all));
  std::list<Read> by_blocks;
  for (const auto& [name, root] : formats) {
    if (name != kParquet) continue;
    ways.push_back(
        WayOf(absl::StrCat(kFolder, kBlocks), ConfigOf(kFolder, *folder, {}), options, by_blocks, WithBlockShuffle()));
    for (const auto& [where, from] : {std::pair(std::string(), root), {latency, absl::StrCat(url, "/", name)}}) {
      v1::DatasetConfig config = ConfigOf(name, from, FilesOf(root));
      config.mutable_parquet()->set_cache(absl::StrCat(BytesOf(root) * 2 / 3, "B"));
      ways.push_back(WayOf(absl::StrCat(name, kBlocks, where), config, options, by_blocks, WithBlockShuffle()));
    }
  }
  std::set<std::string> own;
  for (const Way& way : ways) own.insert(way.name);
  if (options.peers) {
    Progress("starting the peers");
    for (Way& way : Peers(shards, server.url(), latency)) ways.push_back(std::move(way));
  }
  const std::vector<Row> rows = TimeInTurns(Chosen(std::move(ways), options.only), options.turn, options.rounds);
  std::printf(
      "%llu photographs; RandomResizedCrop(224), RandomHorizontalFlip; one worker, core %d alone; %d rounds of %g "
      "s\n\n",
      static_cast<unsigned long long>(all.front().dataset->size()), cores[0], options.rounds, options.turn.seconds);
  Print(rows, "folder", {{"folder is", kFolder}});
  nlohmann::ordered_json json = {{"bench", "sources"}, {"rows", nlohmann::ordered_json::array()}};
  AddJson(rows, "", json);
  WriteFile(options.json, json.dump(2) + "\n");
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Times one worker over the same photographs as class folders and in each sharded format, on disk and behind a\n"
      "store that lets each first byte wait; with --peers beside webdataset, mosaicml-streaming, tf.data and h5py on\n"
      "the same shards. Each span is compared with the class folder's",
      "bench-sources");
  Options options;
  app.add_option("--data", options.data, "Folder of class folders with JPEGs (default: painted ones, made once)")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--peers", options.peers,
               "Also the peers, from a Python environment that `./dev bench sources --peers` makes once (minutes, 9 "
               "GB)");
  app.add_option("--latency-ms", options.latency_ms, "Until the store's first byte")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 10'000.0));
  app.add_option("--ahead-mib", options.ahead_mib, "MiB of what is read ahead")->capture_default_str();
  app.add_option("--seconds", options.turn.seconds, "Of each way in each round")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0));
  app.add_option("--rounds", options.rounds, "Turns that the ways take; medians are printed")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_flag("--cpu-time", options.turn.cpu_time,
               "Count the time that cores spent on the process, not the wall's: for a machine that is not quiet");
  app.add_option("--only", options.only, "Only the class folder and rows whose name has this in it")->type_name("TEXT");
  app.add_option("--json", options.json, "Write the figures as one JSON object")->type_name("FILE");
  CLI11_PARSE(app, argc, argv);
  signal(SIGPIPE, SIG_IGN);  // A peer that ended is an answer that does not come.
  return Run(options);
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
