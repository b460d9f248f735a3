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
#include "tests/bench/table.h"

namespace stoker {
namespace {

constexpr int kSkipped = 77;  // what CTest takes for a test that could not run
constexpr char kFolder[] = "class folder", kTar[] = "tar", kTfRecord[] = "tfrecord", kMds[] = "mds", kLmdb[] = "lmdb",
               kParquet[] = "parquet";

struct Options {
  std::string data, only, json;
  bool peers = false;
  double latency_ms = 30;
  uint64_t ahead_mib = 64;
  Turn turn = {.seconds = 3};
  int rounds = 5;
};

// A format that photographs are written in, and the environment that has its writer.
struct Format {
  const char *name, *packages;
};
constexpr Format kFormats[] = {
    {kTar, "webdataset"}, {kTfRecord, "records"}, {kMds, "records"}, {kLmdb, "lmdb"}, {kParquet, "parquet"}};

// Writes the photographs of `folder` in `format`, below this program's build folder, unless that was done. Returns
// where, or nothing where the writer cannot be had.
std::string WriteShards(const Format& format, const std::string& folder) {
  const std::filesystem::path build = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  const std::string key = std::to_string(std::hash<std::string>()(std::filesystem::canonical(folder).string()));
  const std::filesystem::path out = build / "bench-shards" / key / format.name;
  if (std::filesystem::exists(out)) return out;
  Progress(absl::StrCat("writing ", format.name));
  std::filesystem::remove_all(out.string() + ".part");
  const Finished run = RunProgram({absl::StrCat(STOKER_SOURCES_DIR, "/run.sh"),
                                   absl::StrCat(STOKER_SOURCES_DIR, "/packages-", format.packages, ".txt"),
                                   absl::StrCat(STOKER_SOURCES_DIR, "/write_shards.py"), format.name, folder, out});
  if (run.status == 0) return out;
  std::fprintf(stderr, "\nbench-sources: %s is left out: %s%s\n", format.name, run.out.c_str(), run.err.c_str());
  return "";
}

// The names of a folder's files, in bytewise order.
std::vector<std::string> FilesOf(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// Returns the configuration of the shards at `root`, a folder or URL, that has `files`.
v1::DatasetConfig ConfigOf(const std::string& format, const std::string& root, const std::vector<std::string>& files) {
  v1::DatasetConfig config;
  config.set_name("photographs");
  const auto add_files = [&](google::protobuf::RepeatedPtrField<std::string>& paths) {
    for (const std::string& file : files) paths.Add(absl::StrCat(root, "/", file));
  };
  if (format == kTar) add_files(*config.mutable_webdataset()->mutable_path());
  if (format == kTfRecord) add_files(*config.mutable_tfrecord()->mutable_path());
  if (format == kMds) config.mutable_mds()->add_path(root);
  if (format == kLmdb) config.mutable_lmdb()->add_path(absl::StrCat(root, "/data.mdb"));
  if (format == kParquet) add_files(*config.mutable_parquet()->mutable_path());
  if (format == kFolder) config.mutable_image_folder()->set_path(root);
  return config;
}

// A dataset that a worker reads, and what its spans were: those of all must be the first one's.
struct Read {
  std::shared_ptr<const Dataset> dataset;
  SpanHashes hashes;
};

Way WayOf(std::string name, const v1::DatasetConfig& config, const Options& options, std::list<Read>& all) {
  auto opened = OpenDataset(config, {});
  if (!opened.ok()) Die(absl::StrCat(name, ": ", opened.status().message()));
  Read& read = all.emplace_back(Read{.dataset = std::move(opened->dataset), .hashes = {}});
  auto time = [&read, &first = all.front(), &options](const Turn& turn) -> absl::StatusOr<double> {
    const auto run =
        RunPool(read.dataset, {.workers = 1, .ahead_bytes = options.ahead_mib << 20}, 0.5, turn.seconds, read.hashes);
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
  for (const Format& format : kFormats)
    if (const std::string written = WriteShards(format, *folder); !written.empty()) {
      formats.emplace_back(format.name, written);
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
  for (const auto& [name, root] : formats)
    ways.push_back(WayOf(name, ConfigOf(name, root, FilesOf(root)), options, all));
  for (const auto& [name, root] : formats)
    ways.push_back(WayOf(name + latency, ConfigOf(name, absl::StrCat(url, "/", name), FilesOf(root)), options, all));
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
