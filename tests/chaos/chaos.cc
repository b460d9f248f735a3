// chaos: a fleet of stokerd processes that are killed, stopped and cut off by a seed, while one job reads epoch after
// epoch from them: what was lost, what came twice, and the digest beside that of an undisturbed server.

#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/cluster.h"
#include "tests/support/process.h"
#include "tests/support/tcp_proxy.h"

namespace stoker {
namespace {

struct Options {
  int epochs = 20, servers = 4, kills = 200, stops = 50, partitions = 50;
  uint64_t samples = 10'000, seed = 1;
  uint32_t sleep_us = 3000;
  std::string json;
};

enum class Fault { kKill, kStop, kPartition };

// What every server serves: images that cost some time to make.
class ConfigFile {
 public:
  ConfigFile(uint64_t samples, uint32_t sleep_us)
      : path_(absl::StrCat(testing::TempDir(), "stoker-chaos-", getpid(), ".yaml")) {
    std::ofstream(path_) << absl::StrCat(
        "{memory_limit: 1GiB, max_pixels: 1048576, log: {level: error}, datasets: [{name: chaos, synthetic: {samples: ",
        samples, ", sleep_us: ", sleep_us,
        ", fields: [{name: image, dtype: uint8, shape: [64, 48, 3]}, {name: number, dtype: int32}]}}]}");
  }
  ConfigFile(const ConfigFile&) = delete;
  ConfigFile& operator=(const ConfigFile&) = delete;
  ~ConfigFile() { std::filesystem::remove(path_); }

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

// One stokerd behind a port that stays. One thread at a time.
class Member {
 public:
  explicit Member(const ConfigFile& config) : config_(config) {
    Start();
    proxy_ = std::make_unique<TcpProxy>(server_->address());
  }

  const std::string& address() const { return proxy_->address(); }

  void Hurt(Fault fault, std::mt19937_64& random) {
    const absl::Time now = absl::Now();
    const auto between = [&](int64_t least, int64_t most) {
      return absl::Milliseconds(std::uniform_int_distribution<int64_t>(least, most)(random));
    };
    if (fault == Fault::kKill) {
      server_->process().Signal(SIGKILL);
      server_->process().Wait();
      back_at_ = now + between(0, 600);
    } else if (fault == Fault::kStop) {
      server_->process().Signal(SIGSTOP);
      goes_on_at_ = now + between(100, 4000);
    } else {
      const uint64_t kind = random() % 3;
      proxy_->Set({.hold_requests = kind != 1, .hold_answers = kind != 0});
      heals_at_ = now + between(100, 4000);
    }
  }

  bool hurt() const { return std::min({back_at_, goes_on_at_, heals_at_}) < absl::InfiniteFuture(); }

  // Ends what has lasted long enough.
  void Recover() {
    const absl::Time now = absl::Now();
    if (now >= goes_on_at_) server_->process().Signal(SIGCONT), goes_on_at_ = absl::InfiniteFuture();
    if (now >= heals_at_) proxy_->Heal(), heals_at_ = absl::InfiniteFuture();
    if (now < back_at_) return;
    Start();
    proxy_->SetTarget(server_->address());
    back_at_ = absl::InfiniteFuture();
  }

 private:
  void Start() {
    server_ = std::make_unique<StokerdProcess>(std::vector<std::string>{"--config", config_.path(), "--workers", "2"});
  }

  const ConfigFile& config_;
  std::unique_ptr<StokerdProcess> server_;
  std::unique_ptr<TcpProxy> proxy_;
  absl::Time back_at_ = absl::InfiniteFuture(), goes_on_at_ = absl::InfiniteFuture(),
             heals_at_ = absl::InfiniteFuture();
};

LoaderOptions Job(const Options& options, std::vector<std::string> servers) {
  LoaderOptions job;
  job.servers = std::move(servers);
  job.batch_size = 64;
  job.seed = options.seed;
  job.last_batch = LastBatch::kPartial;
  job.pipeline.emplace();
  job.pipeline->add_ops()->mutable_random_resized_crop()->add_size(40);
  job.pipeline->add_ops()->mutable_random_horizontal_flip();
  job.span_samples = 8;  // Many: something is on its way whenever something happens,
  job.prefetch = 8;      // and it is not the next epoch.
  job.rank = 0, job.world_size = 1;
  return job;
}

// Hurts members in a random order of faults, evenly over the batches of all epochs.
class Tormentor {
 public:
  Tormentor(const Options& options, std::vector<std::unique_ptr<Member>>& members, uint64_t batches)
      : members_(members), random_(options.seed), batches_(batches) {
    faults_.insert(faults_.end(), options.kills, Fault::kKill);
    faults_.insert(faults_.end(), options.stops, Fault::kStop);
    faults_.insert(faults_.end(), options.partitions, Fault::kPartition);
    std::shuffle(faults_.begin(), faults_.end(), random_);
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }

  // The job is about to read this batch. Holds it up while faults lag behind.
  void At(uint64_t batch) {
    batch_ = batch;
    const size_t lag = batch + 1 == batches_ ? 0 : members_.size();
    while (next_ + lag < DueAt(batch)) absl::SleepFor(absl::Milliseconds(1));
  }
  size_t done() const { return next_; }

 private:
  size_t DueAt(uint64_t batch) const {
    return std::min<size_t>(faults_.size(), (batch + 1) * (faults_.size() + 1) / batches_);
  }

  void Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (const auto& member : members_) member->Recover();
      Member& member = *members_[random_() % members_.size()];
      if (next_ < DueAt(batch_) && !member.hurt()) member.Hurt(faults_[next_++], random_);
      absl::SleepFor(absl::Milliseconds(5));
    }
  }

  std::vector<std::unique_ptr<Member>>& members_;
  std::mt19937_64 random_;
  const uint64_t batches_;
  std::vector<Fault> faults_;
  std::atomic<uint64_t> batch_ = 0;
  std::atomic<size_t> next_ = 0;
  std::jthread thread_;  // Last: ends before the rest goes.
};

struct Outcome {
  uint64_t lost = 0, doubled = 0;
  std::vector<std::string> digests;
  absl::Status status;
};

void Count(const Options& options, const EpochResult& epoch, Outcome& outcome) {
  const std::set<uint64_t> positions(epoch.positions.begin(), epoch.positions.end());
  outcome.lost += options.samples - positions.size();
  outcome.doubled += epoch.positions.size() - positions.size();
  outcome.digests.push_back(epoch.digest);
  outcome.status.Update(epoch.status);
}

int Run(const Options& options) {
  Outcome undisturbed;
  {
    const ConfigFile quick(options.samples, /*sleep_us=*/0);
    StokerdProcess server({"--config", quick.path()});
    auto loader = Loader::Create(Job(options, {server.address()}));
    for (int epoch = 0; loader.ok() && epoch < options.epochs; ++epoch) Count(options, RunEpoch(**loader), undisturbed);
    undisturbed.status.Update(loader.status());
  }
  if (!undisturbed.status.ok()) {
    std::fprintf(stderr, "chaos: the undisturbed run failed: %s\n", undisturbed.status.ToString().c_str());
    return 1;
  }

  const ConfigFile config(options.samples, options.sleep_us);
  std::vector<std::unique_ptr<Member>> members;
  std::vector<std::string> addresses;
  for (int i = 0; i < options.servers; ++i) {
    members.push_back(std::make_unique<Member>(config));
    addresses.push_back(members.back()->address());
  }
  auto loader = Loader::Create(Job(options, addresses));
  if (!loader.ok()) {
    std::fprintf(stderr, "chaos: %s\n", loader.status().ToString().c_str());
    return 1;
  }
  const uint64_t batches = (*loader)->batches_per_epoch();
  const absl::Time begun = absl::Now();
  Outcome disturbed;
  size_t faults = 0;
  absl::Duration longest_wait;  // For one batch.
  {
    Tormentor tormentor(options, members, batches * options.epochs);
    for (int epoch = 0; epoch < options.epochs && disturbed.status.ok(); ++epoch) {
      absl::Time asked = absl::InfiniteFuture();
      const auto before_batch = [&](int done) {
        longest_wait = std::max(longest_wait, absl::Now() - asked);
        tormentor.At(epoch * batches + done);
        asked = absl::Now();
      };
      Count(options, RunEpoch(**loader, before_batch), disturbed);
      const bool equal = disturbed.digests.back() == undisturbed.digests[epoch];
      std::printf("epoch %d: %s%s, %zu faults so far, %.1f s\n", epoch, disturbed.digests.back().substr(0, 16).c_str(),
                  equal ? "" : " DIFFERS", tormentor.done(), absl::ToDoubleSeconds(absl::Now() - begun));
      std::fflush(stdout);
    }
    faults = tormentor.done();
  }
  const LoaderStats stats = (*loader)->stats();
  const bool equal = disturbed.digests == undisturbed.digests;
  std::printf(
      "%d epochs of %lu samples from %d servers, %d kills, %d stops, %d partitions (%zu faults happened): %lu lost, "
      "%lu "
      "doubled, digests %s\n%lu spans asked again, %lu asked twice for being late; the longest wait for a batch was "
      "%.2f s\n",
      options.epochs, options.samples, options.servers, options.kills, options.stops, options.partitions, faults,
      disturbed.lost, disturbed.doubled, equal ? "equal" : "DIFFERENT", stats.retried_spans, stats.hedged_spans,
      absl::ToDoubleSeconds(longest_wait));
  if (!disturbed.status.ok()) std::fprintf(stderr, "chaos: %s\n", disturbed.status.ToString().c_str());
  const nlohmann::ordered_json json = {{"epochs", options.epochs},
                                       {"samples", options.samples},
                                       {"servers", options.servers},
                                       {"kills", options.kills},
                                       {"stops", options.stops},
                                       {"partitions", options.partitions},
                                       {"seed", options.seed},
                                       {"faults", faults},
                                       {"lost", disturbed.lost},
                                       {"doubled", disturbed.doubled},
                                       {"equal", equal},
                                       {"digests", disturbed.digests},
                                       {"undisturbed", undisturbed.digests},
                                       {"retried_spans", stats.retried_spans},
                                       {"hedged_spans", stats.hedged_spans},
                                       {"longest_wait_seconds", absl::ToDoubleSeconds(longest_wait)},
                                       {"seconds", absl::ToDoubleSeconds(absl::Now() - begun)}};
  if (!options.json.empty() && !(std::ofstream(options.json) << json.dump(2) << "\n")) {
    std::fprintf(stderr, "chaos: cannot write %s\n", options.json.c_str());
    return 1;
  }
  const bool all = faults == static_cast<size_t>(options.kills + options.stops + options.partitions);
  return disturbed.status.ok() && equal && disturbed.lost == 0 && disturbed.doubled == 0 && all ? 0 : 1;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Reads epochs from stokerd processes that are killed, stopped (SIGSTOP) and cut off (one way or both) by a seed, "
      "and\n"
      "compares them with those of an undisturbed one. Exits with 0 if nothing was lost, doubled or different.",
      "chaos");
  Options options;
  app.add_option("--epochs", options.epochs)->capture_default_str()->check(CLI::Range(1, 100'000));
  app.add_option("--samples", options.samples, "Of an epoch")->capture_default_str()->check(CLI::Range(1, 100'000'000));
  app.add_option("--servers", options.servers)->capture_default_str()->check(CLI::Range(1, 64));
  app.add_option("--kills", options.kills, "In all epochs together; the server comes back within 0.6 s")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--stops", options.stops, "Likewise; for 0.1 to 4 s")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--partitions", options.partitions, "Likewise; for 0.1 to 4 s")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--sleep-us", options.sleep_us, "That a server takes for a sample beside making it")
      ->capture_default_str();
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--json", options.json, "Write the figures as one JSON object")->type_name("FILE");
  CLI11_PARSE(app, argc, argv);
  return Run(options);
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
