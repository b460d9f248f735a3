// bench-end-to-end [--data DIR] [--peers] [--json FILE] …: images per second that reach a training loop on this
// machine, server and client on the same cores, beside what the engine alone makes with as many workers, and beside
// what users would take instead. The ways take turns, round by round, so that a machine's drift hits all alike.

#include <signal.h>

#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "nlohmann/json.hpp"
#include "tests/bench/engine_photos.h"
#include "tests/bench/engine_ways.h"
#include "tests/bench/fleet.h"
#include "tests/bench/peer.h"
#include "tests/bench/table.h"

namespace stoker {
namespace {

constexpr int kBatch = 64, kWorkers = 2;
constexpr double kWarmSeconds = 0.5;  // Untimed: what was made between two turns is used up.
constexpr char kStoker[] = "stoker";

struct Options {
  std::string data, json;
  bool peers = false;
  Turn turn = {.seconds = 5};
  int rounds = 3;
};

// What a server and its client spent on the images of all turns.
struct Spent {
  double images = 0, server_cpu = 0, client_cpu = 0;
};

// A server's workers, then this process as the training loop.
Way Served(const Fleet& server, Loader& loader, Spent& spent) {
  auto time = [&](const Turn& turn) -> absl::StatusOr<double> {
    SamplesPerSecond(loader, kWarmSeconds);
    const double server_cpu = server.CpuSeconds(), client_cpu = OwnCpuSeconds();
    const absl::Time begun = absl::Now();
    const double rate = SamplesPerSecond(loader, turn.seconds);
    spent.images += rate * absl::ToDoubleSeconds(absl::Now() - begun);
    spent.server_cpu += server.CpuSeconds() - server_cpu;
    spent.client_cpu += OwnCpuSeconds() - client_cpu;
    return rate;
  };
  return {kStoker, std::move(time)};
}

std::vector<Way> Peers(const Photos& photos) {
  const struct {
    const char *name, *script;
    std::vector<std::string> arguments;
  } kPeers[] = {
      {"tf.data service antialiased", "tfservice_peer.py", {"antialiased"}},
      {"tf.data service aliased", "tfservice_peer.py", {"aliased"}},
      {"DataLoader, 2 workers", "dataloader_peer.py", {absl::StrCat(kWorkers)}},
      {"DALI antialiased, 2 threads", "dali_peer.py", {"antialiased", absl::StrCat(kWorkers)}},
      {"DALI aliased, 2 threads", "dali_peer.py", {"aliased", absl::StrCat(kWorkers)}},
  };
  std::vector<Way> ways;
  for (const auto& [name, script, arguments] : kPeers)
    ways.push_back(PeerWay(name, PeersPython(), script, arguments, photos.paths));
  return ways;
}

int Run(const Options& options) {
  auto folder = options.data.empty() ? PaintedPhotos() : options.data;
  auto photos = folder.ok() ? LoadPhotos(*folder, 1'000'000) : folder.status();
  if (!photos.ok()) Die(std::string(photos.status().message()));
  const std::vector<int> cores = PhysicalCores();
  const TextFile config(absl::StrCat("{log: {level: error}, workers: ", kWorkers, ", datasets: [{name: photos, ",
                                     "image_folder: {path: '", *folder, "'}}]}"));
  const Fleet server(1, {"--config", config.path()});
  LoaderOptions job;
  job.servers = server.addresses();
  job.batch_size = kBatch;
  const auto loader = MakeLoader(std::move(job));
  Spent spent;
  std::vector<Way> ways = {
      TwoWorkers("engine alone, 2 workers", *photos, v1::JPEG_SCALING_UNSPECIFIED, cores),
      Served(server, *loader, spent),
  };
  Progress("starting the peers");
  if (options.peers)
    for (Way& way : Peers(*photos)) ways.push_back(std::move(way));
  const std::vector<Row> rows = TimeInTurns(ways, options.turn, options.rounds);

  std::printf(
      "%zu JPEGs of %.0f KB; RandomResizedCrop(224), RandomHorizontalFlip; %zu cores for servers and clients together; "
      "%d rounds of %g s\n\n",
      photos->samples.size(), photos->mean_bytes / 1e3, cores.size(), options.rounds, options.turn.seconds);
  Print(rows, "engine", {{"stoker is", kStoker}});
  const double thousands = spent.images / 1000;
  std::printf("\nOf 1000 images stokerd spent %.3f core-seconds, the client %.3f.\n", spent.server_cpu / thousands,
              spent.client_cpu / thousands);
  nlohmann::ordered_json json = {{"bench", "end-to-end"},
                                 {"rows", nlohmann::ordered_json::array()},
                                 {"server_core_seconds_per_1000_images", spent.server_cpu / thousands},
                                 {"client_core_seconds_per_1000_images", spent.client_cpu / thousands}};
  AddJson(rows, "", json);
  WriteFile(options.json, json.dump(2) + "\n");
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Times images from files to a training loop, server and client on this machine: Stoker beside its engine alone,\n"
      "and with --peers the tf.data service, PyTorch's DataLoader and DALI. Stoker, the service and the DataLoader "
      "read\n"
      "files anew each epoch; DALI and the engine have them in memory",
      "bench-end-to-end");
  Options options;
  app.add_option("--data", options.data,
                 "Folder of class folders with JPEGs (default: painted ones, made once). Each must decode")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--peers", options.peers,
               "Also the peers, from a Python environment that `./dev bench end-to-end --peers` makes once (minutes, "
               "8 GB)");
  app.add_option("--seconds", options.turn.seconds, "Of each way in each round")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0));
  app.add_option("--rounds", options.rounds, "Turns that the ways take; medians are printed")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--json", options.json, "Write the figures as one JSON object")->type_name("FILE");
  CLI11_PARSE(app, argc, argv);
  signal(SIGPIPE, SIG_IGN);  // A peer that ended is an answer that does not come.
  TuneAllocator();
  return Run(options);
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
