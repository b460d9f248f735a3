// bench-faults [--json FILE] …: what a job on this machine feels of servers that die or are slow, and of other clients
// that never read or mean harm. Servers make samples by sleeping, so that cores are no limit.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/check.h"
#include "nlohmann/json.hpp"
#include "tests/bench/fleet.h"
#include "tests/bench/table.h"
#include "tests/support/hostile_clients.h"

namespace stoker {
namespace {

constexpr uint32_t kSleepUs = 1000;
constexpr int kSide = 32, kSpan = 16;
constexpr double kWarmSeconds = 1;

struct Options {
  double seconds = 5;
  int rounds = 3, stalled = 64, hostile = 16;
  double hostile_rate = 200;
  std::string json, attacked;
};

LoaderOptions Job(std::vector<std::string> servers) {
  LoaderOptions job;
  job.servers = std::move(servers);
  job.batch_size = 64;
  job.pipeline = v1::Pipeline();  // The bytes as they are.
  job.span_samples = kSpan;       // As long as a span of photographs takes.
  return job;
}

std::vector<std::string> OneWorker(const TextFile& config) { return {"--config", config.path(), "--workers", "1"}; }

// ---- a server that dies ----

struct Killed {
  double rate_before = 0, rate_after = 0, longest_wait = 0;  // seconds
};

Killed KillOneOfThree(const Options& options) {
  const TextFile config = SleepingConfig(kSleepUs, kSide);
  Fleet fleet(3, OneWorker(config));
  const auto loader = MakeLoader(Job(fleet.addresses()));
  SamplesPerSecond(*loader, kWarmSeconds);
  Killed killed = {.rate_before = SamplesPerSecond(*loader, options.seconds)};
  fleet.process(1).Signal(SIGKILL);
  const absl::Time begun = absl::Now();
  while (absl::Now() - begun < absl::Seconds(2)) {
    const absl::Time asked = absl::Now();
    NextBatch(*loader);
    killed.longest_wait = std::max(killed.longest_wait, absl::ToDoubleSeconds(absl::Now() - asked));
  }
  killed.rate_after = SamplesPerSecond(*loader, options.seconds);
  return killed;
}

// ---- a server that is slow ----

// The rate of three servers and one ten times slower, as a part of what 3.1 such servers make.
double OneTenTimesSlower(const Options& options) {
  const TextFile fast = SleepingConfig(kSleepUs, kSide), slow = SleepingConfig(10 * kSleepUs, kSide);
  const auto rate_of = [&](std::vector<std::string> servers) {
    const auto loader = MakeLoader(Job(std::move(servers)));
    SamplesPerSecond(*loader, kWarmSeconds);
    return SamplesPerSecond(*loader, options.seconds);
  };
  const Fleet three(3, OneWorker(fast)), fourth(1, OneWorker(slow));
  const double without = rate_of(three.addresses()), alone = rate_of(fourth.addresses());
  std::vector<std::string> all = three.addresses();
  all.push_back(fourth.addresses()[0]);
  return rate_of(all) / (without + alone);
}

// ---- clients that harm others ----

struct Harm {
  double alone_ms[2] = {}, among_ms[2] = {};  // A batch of one sample that could not be asked for ahead: median, 99%.
  uint64_t peak_bytes = 0, limit_bytes = uint64_t{6} << 30;
  double server_cores = 0;  // Busy on average among them.
};

// What the processes of the hostile clients do, until they are killed. Elsewhere they would take none of these cores'
// time: here they get what is left.
[[noreturn]] void Attack(const Options& options) {
  STOKER_CHECK(nice(19) != -1);
  std::vector<std::unique_ptr<HostileClient>> hostile;
  for (int i = 0; i < options.hostile; ++i)
    hostile.push_back(std::make_unique<HostileClient>(options.attacked, "sleeping",
                                                      static_cast<HostileClient::Kind>(i % HostileClient::kKinds),
                                                      options.hostile_rate, i));
  for (const auto& client : hostile)
    while (client->messages() == 0) absl::SleepFor(absl::Milliseconds(10));
  std::printf("attacking\n");
  std::fflush(stdout);
  while (true) pause();
}

void TimeBatches(Loader& loader, uint64_t& epoch, double (&result)[2]) {
  constexpr int kBatches = 500;
  std::vector<double> ms;
  for (int i = 0; i < kBatches; ++i) {
    loader.SetEpoch(epoch += 2);
    const absl::Time asked = absl::Now();
    NextBatch(loader);
    ms.push_back(absl::ToDoubleMilliseconds(absl::Now() - asked));
  }
  std::sort(ms.begin(), ms.end());
  result[0] = ms[ms.size() / 2];
  result[1] = ms[ms.size() * 99 / 100];
}

Harm AmongHostileClients(const Options& options) {
  Harm harm;
  // What is never read is as large as photographs' pixels.
  const TextFile config = SleepingConfig(kSleepUs, 224);
  const Fleet fleet(1, {"--config", config.path(), "--workers", "2", "--memory-limit", "6GiB"});
  LoaderOptions job = Job(fleet.addresses());
  job.batch_size = job.prefetch = 1;
  job.span_samples = 1;
  const auto loader = MakeLoader(std::move(job));
  uint64_t epoch = 0;
  TimeBatches(*loader, epoch, harm.alone_ms);
  std::vector<std::unique_ptr<StalledReader>> stalled;
  for (int i = 0; i < options.stalled; ++i)
    stalled.push_back(std::make_unique<StalledReader>(fleet.addresses()[0], "sleeping", /*wants=*/500));
  // Until they have filled what they may, they have a right to their turns.
  for (double cpu = -1; fleet.CpuSeconds() - cpu > 0.02;) {
    cpu = fleet.CpuSeconds();
    absl::SleepFor(absl::Seconds(1));
  }
  for (const auto& reader : stalled)
    if (!reader->opened()) Die("the server refused a client that was to stall");
  Process attack({ProgramPath("bench-faults"), "--attack", fleet.addresses()[0], "--hostile",
                  absl::StrCat(options.hostile), "--hostile-rate", absl::StrCat(options.hostile_rate)});
  attack.AwaitLine("attacking");
  const double cpu = fleet.CpuSeconds();
  const absl::Time begun = absl::Now();
  TimeBatches(*loader, epoch, harm.among_ms);
  harm.server_cores = (fleet.CpuSeconds() - cpu) / absl::ToDoubleSeconds(absl::Now() - begun);
  harm.peak_bytes = fleet.PeakMemory();
  return harm;
}

int Run(const Options& options) {
  std::vector<double> after, waits, slow, p99;
  std::vector<Harm> harms;
  for (int round = 0; round < options.rounds; ++round) {
    Progress(absl::StrCat("round ", round + 1, " of ", options.rounds));
    const Killed killed = KillOneOfThree(options);
    after.push_back(killed.rate_after / killed.rate_before);
    waits.push_back(killed.longest_wait);
    slow.push_back(OneTenTimesSlower(options));
    harms.push_back(AmongHostileClients(options));
    p99.push_back(harms.back().among_ms[1] / harms.back().alone_ms[1]);
  }
  Progress("");
  // The round with the median ratio.
  std::sort(harms.begin(), harms.end(),
            [](const Harm& a, const Harm& b) { return a.among_ms[1] / a.alone_ms[1] < b.among_ms[1] / b.alone_ms[1]; });
  const Harm harm = harms[harms.size() / 2];
  const double longest_wait = *std::max_element(waits.begin(), waits.end());
  std::printf("Medians of %d rounds; servers that sleep %g ms a sample\n\n", options.rounds, kSleepUs / 1e3);
  std::printf(
      "One of three servers killed: %.3f of the rate before (2/3 is %.3f); the longest wait for a batch was %.2f s.\n",
      Median(after), 2 / 3.0, longest_wait);
  std::printf("Three servers and one 10 times slower: %.3f of what they make apart.\n", Median(slow));
  std::printf(
      "Among %d clients that never read and %d that mean harm, %g messages per second each, a sample nobody asked for "
      "ahead takes %.2f ms at the median and %.2f ms at 99%%, instead of %.2f and %.2f: %.2f times at 99%%. The server "
      "keeps %.2f cores busy then; its memory rose to %.0f MB of %.0f.\n",
      options.stalled, options.hostile, options.hostile_rate, harm.among_ms[0], harm.among_ms[1], harm.alone_ms[0],
      harm.alone_ms[1], Median(p99), harm.server_cores, static_cast<double>(harm.peak_bytes) / 1e6,
      static_cast<double>(harm.limit_bytes) / 1e6);
  const nlohmann::ordered_json json = {
      {"bench", "faults"},
      {"killed", {{"rate_after_of_before", Median(after)}, {"longest_wait_seconds", longest_wait}}},
      {"ten_times_slower", {{"rate_of_sum", Median(slow)}}},
      {"hostile",
       {{"p99_ratio", Median(p99)},
        {"alone_ms", {harm.alone_ms[0], harm.alone_ms[1]}},
        {"among_ms", {harm.among_ms[0], harm.among_ms[1]}},
        {"server_cores", harm.server_cores},
        {"server_peak_bytes", harm.peak_bytes},
        {"memory_limit_bytes", harm.limit_bytes}}}};
  WriteFile(options.json, json.dump(2) + "\n");
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "What a job feels of servers that die (SIGKILL) or are ten times slower, and of clients that never read or mean\n"
      "harm: huge wants, floods of cancels, nonsense and random bytes, on new connections again and again",
      "bench-faults");
  Options options;
  app.add_option("--seconds", options.seconds, "Of each measurement")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0));
  app.add_option("--rounds", options.rounds)->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--stalled", options.stalled, "Clients that never read")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000));
  app.add_option("--hostile", options.hostile, "Clients that mean harm")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000));
  app.add_option("--hostile-rate", options.hostile_rate, "Messages per second of each of them")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 1e6));
  app.add_option("--json", options.json, "Write the figures as one JSON object")->type_name("FILE");
  app.add_option("--attack", options.attacked)->group("");  // For its own child.
  CLI11_PARSE(app, argc, argv);
  if (!options.attacked.empty()) Attack(options);
  TuneAllocator();
  return Run(options);
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
