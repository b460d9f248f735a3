// bench-scale [--data DIR] [--json FILE] [--svg FILE] …: what more workers and more servers bring on this machine, in
// images/s, seconds on cores and memory; how well they are kept busy where they only sleep; what the beginning of an
// epoch costs; and how evenly many ranks share servers.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "nlohmann/json.hpp"
#include "tests/bench/engine_photos.h"
#include "tests/bench/engine_ways.h"
#include "tests/bench/fleet.h"
#include "tests/bench/table.h"

namespace stoker {
namespace {

constexpr uint32_t kSleepUs = 1000;
constexpr int kSide = 32;  // Of what sleeping servers make: small, so that nothing but the sleep takes time.
constexpr double kWarmSeconds = 0.5;
// Long, since a rank may have received many batches that it can only hand out behind one that is missing.
constexpr double kRanksWarmSeconds = 15, kRanksSeconds = 30;
constexpr int kCounts[] = {1, 2, 4, 8};

struct Options {
  std::string data, json, svg = "scale.svg";
  double seconds = 3;
  int rounds = 3, ranks = 32, servers = 8;
};

struct Figures {
  std::string name;
  int count = 0;
  double images_per_second = 0;
  double server_cores = 0, client_cores = 0;  // Busy on average.
  uint64_t server_memory = 0;                 // Peak, bytes.
};

LoaderOptions Job(std::vector<std::string> servers) {
  LoaderOptions job;
  job.servers = std::move(servers);
  job.batch_size = 64;
  return job;
}

LoaderOptions SleepingJob(std::vector<std::string> servers) {
  LoaderOptions job = Job(std::move(servers));
  job.pipeline = v1::Pipeline();  // The bytes as they are.
  return job;
}

Figures Measure(std::string name, int count, const Options& options, const Fleet& fleet, LoaderOptions job) {
  const auto loader = MakeLoader(std::move(job));
  SamplesPerSecond(*loader, kWarmSeconds);
  const double server_cpu = fleet.CpuSeconds(), client_cpu = OwnCpuSeconds();
  const absl::Time begun = absl::Now();
  Figures figures = {.name = std::move(name), .count = count};
  figures.images_per_second = SamplesPerSecond(*loader, options.seconds);
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begun);
  figures.server_cores = (fleet.CpuSeconds() - server_cpu) / seconds;
  figures.client_cores = (OwnCpuSeconds() - client_cpu) / seconds;
  figures.server_memory = fleet.PeakMemory();
  return figures;
}

// The same rows, measured so many times in turn; medians of the rates, the rest from the last round.
template <typename MeasureAll>
std::vector<Figures> InRounds(const Options& options, const char* what, const MeasureAll& measure_all) {
  std::vector<Figures> rows;
  std::vector<std::vector<double>> rates;
  for (int round = 0; round < options.rounds; ++round) {
    Progress(absl::StrCat(what, ", round ", round + 1, " of ", options.rounds));
    rows = measure_all();
    rates.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) rates[i].push_back(rows[i].images_per_second);
  }
  Progress("");
  for (size_t i = 0; i < rows.size(); ++i) rows[i].images_per_second = Median(rates[i]);
  return rows;
}

// ---- photographs ----

// No server: the engine in the training loop's own thread, as a DataLoader with no worker has it.
Figures InProcess(const Photos& photos, const Options& options) {
  const Way way = Stoker("in process", photos, v1::JPEG_SCALING_UNSPECIFIED);
  const double cpu = OwnCpuSeconds();
  const absl::Time begun = absl::Now();
  Figures figures = {.name = "no server, in process", .count = 0};
  figures.images_per_second = *way.time({.seconds = options.seconds});
  figures.client_cores = (OwnCpuSeconds() - cpu) / absl::ToDoubleSeconds(absl::Now() - begun);
  return figures;
}

std::vector<Figures> OnPhotos(const Options& options, const std::string& folder, const Photos& photos) {
  std::vector<Figures> rows = {InProcess(photos, options)};
  for (int count : kCounts) {
    const Fleet fleet(1, {"--data", folder, "--workers", absl::StrCat(count), "--log-level", "error"});
    rows.push_back(Measure("one server, workers", count, options, fleet, Job(fleet.addresses())));
  }
  for (int count : kCounts) {
    const Fleet fleet(count, {"--data", folder, "--workers", "1", "--log-level", "error"});
    rows.push_back(Measure("servers of one worker", count, options, fleet, Job(fleet.addresses())));
  }
  return rows;
}

// ---- a source that sleeps ----

std::vector<Figures> OnSleep(const Options& options, const std::string& config) {
  std::vector<Figures> rows;
  for (int count : kCounts) {
    const Fleet fleet(1, {"--config", config, "--workers", absl::StrCat(count)});
    rows.push_back(Measure("one server, workers", count, options, fleet, SleepingJob(fleet.addresses())));
  }
  for (int count : kCounts) {
    const Fleet fleet(count, {"--config", config, "--workers", "1"});
    rows.push_back(Measure("servers of one worker", count, options, fleet, SleepingJob(fleet.addresses())));
  }
  return rows;
}

// ---- epochs ----

struct EpochWaits {
  double first_ms = 0, later_first_ms = 0, median_ms = 0;
};

// Of an epoch's first batch and of all others: epoch 0 begins with connections, later ones with what was asked for
// ahead of the end.
EpochWaits WaitsOfEpochs() {
  constexpr int kEpochs = 6, kSpan = 64;
  const TextFile config = SleepingConfig(kSleepUs, kSide, 128 * kSpan);
  const Fleet fleet(2, {"--config", config.path(), "--workers", "2"});
  LoaderOptions job = SleepingJob(fleet.addresses());
  job.batch_size = 4 * kSpan;  // A span of each worker: all batches take about as long.
  job.span_samples = kSpan;
  EpochWaits waits;
  std::vector<double> later_first, others;
  const absl::Time begun = absl::Now();
  const auto loader = MakeLoader(std::move(job));
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (int batch = 0;; ++batch) {
      const absl::Time asked = epoch == 0 && batch == 0 ? begun : absl::Now();
      const auto next = loader->Next();
      if (!next.ok()) Die(next.status().ToString());
      if (!next->has_value()) break;
      const double waited_ms = absl::ToDoubleMilliseconds(absl::Now() - asked);
      if (batch > 0) {
        others.push_back(waited_ms);
      } else if (epoch > 0) {
        later_first.push_back(waited_ms);
      } else {
        waits.first_ms = waited_ms;
      }
    }
  }
  waits.later_first_ms = Median(later_first);
  waits.median_ms = Median(others);
  return waits;
}

// ---- ranks ----

struct Ranks {
  double mean = 0, slowest = 0;  // Samples per second of a rank.
  int connections = 0;
  uint64_t server_memory = 0, client_memory = 0;  // Of a server, and of all ranks; peak, bytes.
};

// TCP connections of this machine that are established to one of `addresses`, IPv4 ones of the loopback: gRPC reaches
// them through IPv6 sockets.
int ConnectionsTo(const std::vector<std::string>& addresses) {
  std::vector<std::string> ports;
  for (const std::string& address : addresses)
    ports.push_back(absl::StrFormat("0000000000000000FFFF00000100007F:%04X",
                                    std::atoi(address.substr(address.rfind(':') + 1).c_str())));
  std::ifstream table("/proc/net/tcp6");
  std::string line, slot, local, remote, state;
  int count = 0;
  std::getline(table, line);
  while (table >> slot >> local >> remote >> state && std::getline(table, line))
    count += state == "01" && std::find(ports.begin(), ports.end(), remote) != ports.end() ? 1 : 0;
  return count;
}

uint64_t OwnPeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

Ranks MeasureRanks(const Options& options, const std::string& config) {
  const Fleet fleet(options.servers, {"--config", config, "--workers", "4", "--memory-limit", "8GiB"});
  std::vector<std::unique_ptr<Loader>> loaders;
  for (int rank = 0; rank < options.ranks; ++rank) {
    LoaderOptions job = SleepingJob(fleet.addresses());
    job.rank = rank;
    job.world_size = options.ranks;
    loaders.push_back(MakeLoader(std::move(job)));
  }
  std::vector<std::atomic<int64_t>> samples(options.ranks);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < options.ranks; ++rank) {
    threads.emplace_back([&, rank](const std::stop_token& stop) {
      while (!stop.stop_requested()) samples[rank] += NextBatch(*loaders[rank]).real();
    });
  }
  absl::SleepFor(absl::Seconds(kRanksWarmSeconds));
  std::vector<double> rates(samples.begin(), samples.end());
  const absl::Time begun = absl::Now();
  absl::SleepFor(absl::Seconds(kRanksSeconds));
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begun);
  for (int rank = 0; rank < options.ranks; ++rank)
    rates[rank] = (static_cast<double>(samples[rank]) - rates[rank]) / seconds;
  return {.mean = std::accumulate(rates.begin(), rates.end(), 0.0) / options.ranks,
          .slowest = *std::min_element(rates.begin(), rates.end()),
          .connections = ConnectionsTo(fleet.addresses()),
          .server_memory = fleet.PeakMemory() / options.servers,
          .client_memory = OwnPeakMemory()};
}

// ---- output ----

// The rate of the row of this name and count.
double RateOf(const std::vector<Figures>& rows, const std::string& name, int count) {
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Figures& r) { return r.name == name && r.count == count; });
  return row == rows.end() ? 0 : row->images_per_second;
}

nlohmann::ordered_json PrintRows(const std::vector<Figures>& rows) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::printf("%-24s %3s %10s %12s %13s %13s %14s\n", "", "N", "images/s", "of N times 1", "server cores",
              "client cores", "server MB");
  for (const Figures& row : rows) {
    const double one = RateOf(rows, row.name, 1);
    const double share = row.count == 0 ? 0 : row.images_per_second / (row.count * one);
    std::printf("%-24s %3d %10.1f %12s %13.2f %13.2f %14.0f\n", row.name.c_str(), row.count, row.images_per_second,
                row.count == 0 ? "" : absl::StrFormat("%.3f", share).c_str(), row.server_cores, row.client_cores,
                static_cast<double>(row.server_memory) / 1e6);
    json.push_back({{"name", row.name},
                    {"count", row.count},
                    {"images_per_second", row.images_per_second},
                    {"of_count_times_one", share},
                    {"server_cores", row.server_cores},
                    {"client_cores", row.client_cores},
                    {"server_peak_bytes", row.server_memory}});
  }
  return json;
}

// Rates over the count, each as a multiple of its own at 1, beside the diagonal.
std::string Svg(const std::vector<std::pair<std::string, std::vector<Figures>>>& tables) {
  constexpr double kLeft = 50, kTop = 20, kSize = 360, kMost = 8;
  const auto x = [&](double count) { return kLeft + kSize * count / kMost; };
  const auto y = [&](double times) { return kTop + kSize * (1 - times / kMost); };
  std::string svg =
      "<svg xmlns='http://www.w3.org/2000/svg' width='720' height='430' font-family='sans-serif' font-size='11'>\n"
      "<rect width='720' height='430' fill='white'/>\n";
  absl::StrAppendFormat(&svg, "<path d='M%.1f %.1f L%.1f %.1f' stroke='#bbb' stroke-dasharray='4'/>\n", x(0), y(0),
                        x(kMost), y(kMost));
  for (int tick = 0; tick <= kMost; tick += 2)
    absl::StrAppendFormat(&svg,
                          "<path d='M%.1f %.1f H%.1f' stroke='#eee'/><text x='24' y='%.1f'>%d×</text>"
                          "<text x='%.1f' y='%.1f'>%d</text>\n",
                          x(0), y(tick), x(kMost), y(tick) + 4, tick, x(tick) - 3, y(0) + 16, tick);
  int line = 0;
  for (const auto& [title, rows] : tables) {
    for (const char* name : {"one server, workers", "servers of one worker"}) {
      const std::string color = absl::StrFormat("hsl(%d,70%%,42%%)", 90 * line);
      std::string path;
      for (int count : kCounts)
        absl::StrAppendFormat(&path, "%c%.1f %.1f ", path.empty() ? 'M' : 'L', x(count),
                              y(RateOf(rows, name, count) / RateOf(rows, name, 1)));
      absl::StrAppendFormat(&svg,
                            "<path d='%s' fill='none' stroke='%s' stroke-width='2'/><text x='%.1f' y='%.1f' "
                            "fill='%s'>%s: %s</text>\n",
                            path, color, x(kMost) + 16, kTop + 14.0 + 18 * line, color, title, name);
      ++line;
    }
  }
  absl::StrAppendFormat(&svg, "<text x='%.1f' y='%.1f'>images/s as a multiple of those of one, over the count</text>\n",
                        x(0), y(0) + 36);
  return svg + "</svg>\n";
}

int Run(const Options& options) {
  auto folder = options.data.empty() ? PaintedPhotos() : options.data;
  auto photos = folder.ok() ? LoadPhotos(*folder, 1'000'000) : folder.status();
  if (!photos.ok()) Die(std::string(photos.status().message()));
  nlohmann::ordered_json json = {{"bench", "scale"}, {"cores", PhysicalCores().size()}};

  const auto on_photos = InRounds(options, "photographs", [&] { return OnPhotos(options, *folder, *photos); });
  std::printf("%zu JPEGs of %.0f KB to 224x224; %zu cores for servers and client together; %d rounds of %g s\n\n",
              photos->samples.size(), photos->mean_bytes / 1e3, PhysicalCores().size(), options.rounds,
              options.seconds);
  json["photographs"] = PrintRows(on_photos);

  const TextFile config = SleepingConfig(kSleepUs, kSide);
  const auto on_sleep = InRounds(options, "a source that sleeps", [&] { return OnSleep(options, config.path()); });
  std::printf("\nA source that sleeps %g ms a sample\n\n", kSleepUs / 1e3);
  json["sleeping"] = PrintRows(on_sleep);

  const EpochWaits waits = WaitsOfEpochs();
  std::printf(
      "\nThe first batch comes %.1f ms after the loader is made; a later epoch's first after %.2f ms, any other "
      "after %.2f ms (medians): %.2f times as long.\n",
      waits.first_ms, waits.later_first_ms, waits.median_ms, waits.later_first_ms / waits.median_ms);
  json["epochs"] = {
      {"first_ms", waits.first_ms}, {"later_first_ms", waits.later_first_ms}, {"median_ms", waits.median_ms}};

  const Ranks ranks = MeasureRanks(options, config.path());
  std::printf(
      "%d ranks on %d servers of 4 workers: %.1f samples/s a rank, the slowest %.3f of that; %d connections, %.0f MB a "
      "server, %.0f MB for all ranks' process\n",
      options.ranks, options.servers, ranks.mean, ranks.slowest / ranks.mean, ranks.connections,
      static_cast<double>(ranks.server_memory) / 1e6, static_cast<double>(ranks.client_memory) / 1e6);
  json["ranks"] = {{"ranks", options.ranks},
                   {"servers", options.servers},
                   {"mean_samples_per_second", ranks.mean},
                   {"slowest_of_mean", ranks.slowest / ranks.mean},
                   {"connections", ranks.connections},
                   {"server_peak_bytes", ranks.server_memory},
                   {"client_peak_bytes", ranks.client_memory}};

  WriteFile(options.svg, Svg({{"photographs", on_photos}, {"sleeping", on_sleep}}));
  std::printf("Plot: %s\n", options.svg.c_str());
  WriteFile(options.json, json.dump(2) + "\n");
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "What 1 to 8 workers and 1 to 8 servers make on this machine, of photographs and of a source that only sleeps;\n"
      "the waits at the beginning of epochs; and how evenly ranks share servers",
      "bench-scale");
  Options options;
  app.add_option("--data", options.data, "Folder of class folders with JPEGs (default: painted ones, made once)")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  app.add_option("--seconds", options.seconds, "Of each row in each round")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0));
  app.add_option("--rounds", options.rounds, "Turns that the rows take; medians are printed")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--ranks", options.ranks)->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--servers", options.servers, "For the ranks")->capture_default_str()->check(CLI::Range(1, 64));
  app.add_option("--svg", options.svg, "Where the plot goes")->capture_default_str()->type_name("FILE");
  app.add_option("--json", options.json, "Write the figures as one JSON object")->type_name("FILE");
  CLI11_PARSE(app, argc, argv);
  TuneAllocator();
  return Run(options);
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
