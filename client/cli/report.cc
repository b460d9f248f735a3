#include "client/cli/report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/cli/printable.h"
#include "nlohmann/json.hpp"

namespace stoker {
namespace {

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

double GigabytesReceived(const Figures& figures) { return figures.stats.bytes / 1e9; }

// One stage of the servers' work.
struct Stage {
  const char* name;
  double seconds;  // what all spans together spent in it
  double share;    // its part of all stages' time, 0 to 1
};

std::vector<Stage> Stages(const v1::StageTimes& times) {
  std::vector<Stage> stages = {{"read", times.read() / 1e9, 0},
                               {"decode", times.decode() / 1e9, 0},
                               {"augment", times.augment() / 1e9, 0},
                               {"own_ops", times.own_ops() / 1e9, 0},
                               {"pack", times.pack() / 1e9, 0}};
  double work = 0;
  for (const Stage& stage : stages) work += stage.seconds;
  for (Stage& stage : stages) stage.share = Ratio(stage.seconds, work);
  return stages;
}

double WorkSeconds(const v1::StageTimes& times) {
  return (times.read() + times.decode() + times.augment() + times.own_ops() + times.pack()) / 1e9;
}

// Spreads `seconds` over the samples that were received. These are more than were handed out, since spans come ahead.
double MillisecondsPerSample(const Figures& figures, double seconds) {
  return Ratio(seconds * 1e3, Ratio(figures.stats.bytes, figures.sample_bytes));
}

// Returns the share, 0 to 1, of the servers' workers that were busy on average.
double BusyShare(const Figures& figures) {
  const auto used = std::count_if(figures.stats.servers.begin(), figures.stats.servers.end(),
                                  [](const LoaderStats::Server& server) { return server.spans > 0; });
  return Ratio(WorkSeconds(figures.stats.server), figures.seconds * figures.parallelism * used);
}

double WaitShare(const Figures& figures) { return Ratio(absl::ToDoubleSeconds(figures.stats.waited), figures.seconds); }

std::string SlowServers(const Figures& figures) {
  const auto stages = Stages(figures.stats.server);
  const Stage& most = *std::max_element(stages.begin(), stages.end(),
                                        [](const Stage& a, const Stage& b) { return a.seconds < b.seconds; });
  return absl::StrFormat("the servers: %.0f %% of their work is %s; more servers make it faster", most.share * 100,
                         most.name);
}

std::string SlowClient(const Figures& figures) {
  const double transform = Ratio(absl::ToDoubleSeconds(figures.stats.transformed), figures.seconds);
  const double receive = Ratio(absl::ToDoubleSeconds(figures.stats.received), figures.seconds);
  const double own = Ratio(figures.own_seconds, figures.seconds);
  if (transform >= 0.5)
    return absl::StrFormat("this client: the pipeline's device ops take %.0f %% of its time", transform * 100);
  if (receive >= 0.5) return absl::StrFormat("this client: receiving takes %.0f %% of a thread's time", receive * 100);
  if (own >= 0.5) return absl::StrFormat("this command: --digest takes %.0f %% of its time", own * 100);
  return "this client: it takes batches as fast as it can";
}

// Prints the GPUs' shares as "; GPU 0 93 %, GPU 1 91 %", or nothing if they are unknown.
std::string GpusBusy(const Figures& figures) {
  std::string text;
  for (size_t i = 0; i < figures.gpu_shares.size(); ++i)
    absl::StrAppendFormat(&text, "%s GPU %d %.0f %%", i == 0 ? ";" : ",", i, figures.gpu_shares[i] * 100);
  return text;
}

nlohmann::ordered_json ToJson(const Cursor& cursor) { return {{"epoch", cursor.epoch}, {"position", cursor.position}}; }

// Servers have more to do than they can if their spans wait for a worker at least this many times as long as the work
// takes.
constexpr double kQueueing = 0.5;

}  // namespace

double Figures::images_per_second() const { return Ratio(stats.samples, seconds); }
double Figures::megabytes_per_second() const { return images_per_second() * sample_bytes / 1e6; }

std::string Bottleneck(const Figures& figures) {
  if (figures.stats.spans == 0) return "unknown: nothing was received";
  if (WaitShare(figures) < 0.2) return SlowClient(figures);
  const double busy = BusyShare(figures), work = WorkSeconds(figures.stats.server);
  if (busy >= 0.5 || figures.stats.server.wait() / 1e9 >= kQueueing * work) return SlowServers(figures);
  return absl::StrFormat("between them: the servers are %.0f %% busy; try a larger --prefetch, and look at the network",
                         busy * 100);
}

std::string ToText(const Figures& figures) {
  const LoaderStats& stats = figures.stats;
  std::string text =
      absl::StrFormat("%s: %d samples in %d batches, %.2f s%s\n\n", Printable(figures.dataset), stats.samples,
                      stats.batches, figures.seconds, figures.interrupted ? " (interrupted)" : "");
  absl::StrAppendFormat(&text, "  %-14s%.1f %s/s, %.1f MB/s\n", "throughput", figures.images_per_second(),
                        figures.images ? "images" : "samples", figures.megabytes_per_second());
  absl::StrAppendFormat(&text, "  %-14swaits %.0f %% of the time; first batch after %.2f s\n", "client",
                        WaitShare(figures) * 100, figures.first_batch_seconds);
  absl::StrAppendFormat(&text, "  %-14s%.3f CPU core-seconds per GB; receive %.2f s, transform %.2f s\n", "",
                        Ratio(figures.cpu_seconds, GigabytesReceived(figures)), absl::ToDoubleSeconds(stats.received),
                        absl::ToDoubleSeconds(stats.transformed));
  if (figures.host_cpu_share >= 0)
    absl::StrAppendFormat(&text, "  %-14sCPUs %.0f %% busy%s\n", "this machine", figures.host_cpu_share * 100,
                          GpusBusy(figures));
  absl::StrAppendFormat(&text, "  %-14s%-8s ms/sample   share of work\n", "servers", "stage");
  for (const Stage& stage : Stages(stats.server))
    absl::StrAppendFormat(&text, "  %-14s%-8s %9.4f   %3.0f %%\n", "", stage.name,
                          MillisecondsPerSample(figures, stage.seconds), stage.share * 100);
  absl::StrAppendFormat(&text, "  %-14s%-8s %9.4f   for a worker\n", "", "wait",
                        MillisecondsPerSample(figures, stats.server.wait() / 1e9));
  if (stats.server.fetch() > 0)
    absl::StrAppendFormat(&text, "  %-14s%-8s %9.4f   for bytes from slow storage\n", "", "fetch",
                          MillisecondsPerSample(figures, stats.server.fetch() / 1e9));
  for (const LoaderStats::Server& server : stats.servers)
    absl::StrAppendFormat(&text, "  %-14s%s: %d spans%s%s\n", "", server.address, server.spans,
                          server.problem.empty() ? "" : "; ", Printable(server.problem));
  if (stats.retried_spans > 0)
    absl::StrAppendFormat(&text, "  %-14s%d spans asked for again\n", "", stats.retried_spans);
  if (stats.hedged_spans > 0)
    absl::StrAppendFormat(&text, "  %-14s%d spans late, asked for from another server too\n", "", stats.hedged_spans);
  if (stats.cached_spans > 0)
    absl::StrAppendFormat(&text, "  %-14s%d spans from servers' caches\n", "", stats.cached_spans);
  if (stats.verified_spans + stats.differing_spans > 0)
    absl::StrAppendFormat(&text, "  %-14s%d spans made twice and compared, %d of them different\n", "",
                          stats.verified_spans + stats.differing_spans, stats.differing_spans);
  for (const std::string& difference : stats.differences)
    absl::StrAppendFormat(&text, "  %-14s%s\n", "differing", Printable(difference));
  absl::StrAppendFormat(&text, "  %-14s%s\n", "bottleneck", Bottleneck(figures));
  if (stats.substituted > 0) absl::StrAppendFormat(&text, "  %-14s%d bad samples\n", "substituted", stats.substituted);
  for (const Substituted& bad : figures.substituted)
    absl::StrAppendFormat(&text, "  %-14s%s: %s\n", "", Printable(bad.bad_sample_name), Printable(bad.reason));
  if (stats.substituted > figures.substituted.size()) absl::StrAppendFormat(&text, "  %-14s…\n", "");
  for (size_t epoch = 0; epoch < figures.digests.size(); ++epoch)
    absl::StrAppendFormat(&text, "  %-14s%s\n", absl::StrCat("digest ", figures.from.epoch + epoch),
                          figures.digests[epoch]);
  if (!figures.sheet.empty()) absl::StrAppendFormat(&text, "  %-14s%s\n", "sheet", figures.sheet);
  if (!figures.state.empty())
    absl::StrAppendFormat(&text, "  %-14s%s: from epoch %d, position %d, to epoch %d, position %d\n", "state",
                          figures.state, figures.from.epoch, figures.from.position, figures.to.epoch,
                          figures.to.position);
  return text;
}

std::string ToJson(const Figures& figures) {
  const LoaderStats& stats = figures.stats;
  nlohmann::ordered_json json = {
      {"dataset", figures.dataset},
      {"fingerprint", figures.fingerprint},
      {"sample_bytes", figures.sample_bytes},
      {"images_per_second", figures.images_per_second()},
      {"megabytes_per_second", figures.megabytes_per_second()},
      {"seconds", figures.seconds},
      {"samples", stats.samples},
      {"batches", stats.batches},
      {"spans", stats.spans},
      {"retried_spans", stats.retried_spans},
      {"hedged_spans", stats.hedged_spans},
      {"cached_spans", stats.cached_spans},
      {"verified_spans", stats.verified_spans},
      {"unverified_spans", stats.unverified_spans},
      {"differing_spans", stats.differing_spans},
      {"substituted", stats.substituted},
      {"interrupted", figures.interrupted},
      {"bottleneck", Bottleneck(figures)},
  };
  json["client"] = {{"wait_seconds", absl::ToDoubleSeconds(stats.waited)},
                    {"wait_share", WaitShare(figures)},
                    {"receive_seconds", absl::ToDoubleSeconds(stats.received)},
                    {"transform_seconds", absl::ToDoubleSeconds(stats.transformed)},
                    {"first_batch_seconds", figures.first_batch_seconds},
                    {"received_bytes", stats.bytes},
                    {"cpu_seconds", figures.cpu_seconds},
                    {"own_seconds", figures.own_seconds},
                    {"cpu_seconds_per_gigabyte", Ratio(figures.cpu_seconds, GigabytesReceived(figures))}};
  json["machine"] = nlohmann::ordered_json::object();
  if (figures.host_cpu_share >= 0) json["machine"]["cpu_share"] = figures.host_cpu_share;
  if (!figures.gpu_shares.empty()) json["machine"]["gpu_shares"] = figures.gpu_shares;
  json["server"] = {{"busy_share", BusyShare(figures)},
                    {"wait", {{"ms_per_sample", MillisecondsPerSample(figures, stats.server.wait() / 1e9)}}},
                    {"fetch", {{"ms_per_sample", MillisecondsPerSample(figures, stats.server.fetch() / 1e9)}}}};
  for (const Stage& stage : Stages(stats.server))
    json["server"][stage.name] = {{"ms_per_sample", MillisecondsPerSample(figures, stage.seconds)},
                                  {"share", stage.share}};
  json["servers"] = nlohmann::json::array();
  for (const LoaderStats::Server& server : stats.servers)
    json["servers"].push_back({{"address", server.address},
                               {"spans", server.spans},
                               {"connected", server.connected},
                               {"problem", server.problem}});
  if (!figures.digests.empty()) {
    json["digest"] = figures.digests[0];
    json["digests"] = figures.digests;
  }
  if (!figures.sheet.empty()) json["sheet"] = figures.sheet;
  if (!figures.state.empty())
    json["state"] = {{"file", figures.state}, {"from", ToJson(figures.from)}, {"to", ToJson(figures.to)}};
  // Files' names need not be UTF-8, so invalid bytes are replaced.
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace stoker
