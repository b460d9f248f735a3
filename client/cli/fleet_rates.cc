#include "client/cli/fleet_rates.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/cli/printable.h"
#include "nlohmann/json.hpp"

namespace stoker {
namespace {

constexpr double kMega = 1e6;

// From here on a client waits for so much of its time that somebody should look.
constexpr double kNoticeable = 0.1;
// Then these say where the time goes. Windows are pulled: connections of jobs that wait block little where servers are
// slow, and half of the time and more where the way is.
constexpr double kBusy = 0.7, kBlocked = 0.5;

constexpr size_t kMostNameBytes = 48, kMostDatasets = 1000;  // that are printed of what a server says

// A server's name of something, fit to print.
std::string ShortName(const std::string& name) {
  return Printable(name.size() <= kMostNameBytes ? name : name.substr(0, kMostNameBytes) + "...");
}

DatasetRates RatesOf(const v1::DatasetStatus& was, const v1::DatasetStatus& is, double seconds) {
  const auto rate = [seconds](double before, double now) { return seconds > 0 ? (now - before) / seconds : 0; };
  return {.name = is.name(),
          .streams = is.streams(),
          .samples = rate(static_cast<double>(was.samples()), static_cast<double>(is.samples())),
          .megabytes = rate(static_cast<double>(was.sent_bytes()), static_cast<double>(is.sent_bytes())) / kMega,
          .waiting = rate(was.whole_client_wait_seconds(), is.whole_client_wait_seconds()),
          .waiting_share = rate(was.client_wait_seconds(), is.client_wait_seconds()),
          .blocked = rate(was.send_blocked_seconds(), is.send_blocked_seconds()),
          .substituted = is.substituted(),
          .failed = is.failed_spans()};
}

void Add(DatasetRates& all, const DatasetRates& one) {
  all.streams += one.streams;
  all.samples += one.samples;
  all.megabytes += one.megabytes;
  all.waiting += one.waiting;
  all.waiting_share += one.waiting_share;
  all.blocked += one.blocked;
  all.substituted += one.substituted;
  all.failed += one.failed;
}

nlohmann::ordered_json ToJson(const DatasetRates& rates) {
  return {{"streams", rates.streams},
          {"samples_per_second", rates.samples},
          {"megabytes_per_second", rates.megabytes},
          {"clients_waiting", rates.waiting},
          {"clients_waiting_share", rates.waiting_share},
          {"sends_blocked", rates.blocked},
          {"substituted", rates.substituted},
          {"failed_spans", rates.failed}};
}

// "3d 4h", "5m 6s": the two largest units.
std::string ShortDuration(double seconds) {
  constexpr double kMost = 1e12;
  const auto whole = static_cast<int64_t>(seconds >= 0 && seconds < kMost ? seconds : 0);
  if (whole >= 86400) return absl::StrFormat("%dd %dh", whole / 86400, whole % 86400 / 3600);
  if (whole >= 3600) return absl::StrFormat("%dh %dm", whole / 3600, whole % 3600 / 60);
  if (whole >= 60) return absl::StrFormat("%dm %ds", whole / 60, whole % 60);
  return absl::StrFormat("%ds", whole);
}

void AppendRates(const DatasetRates& rates, std::string& out) {
  absl::StrAppendFormat(&out, "%8d %11.1f %8.1f %8.2f %8.2f", rates.streams, rates.samples, rates.megabytes,
                        rates.waiting, rates.blocked);
}

}  // namespace

ServerRates RatesOf(const std::string& address, const v1::StatusResponse& was, const v1::StatusResponse& is) {
  const bool restarted = is.uptime_seconds() < was.uptime_seconds();
  const v1::StatusResponse& from = restarted ? v1::StatusResponse::default_instance() : was;
  const double seconds = is.uptime_seconds() - from.uptime_seconds();
  ServerRates rates = {.address = address,
                       .build = is.build(),
                       .draining = is.draining(),
                       .uptime_seconds = is.uptime_seconds(),
                       .waiting_spans = is.waiting_spans()};
  if (seconds > 0 && is.workers() > 0)
    rates.busy = std::clamp((is.busy_seconds() - from.busy_seconds()) / seconds / is.workers(), 0.0, 1.0);
  std::map<std::string, const v1::DatasetStatus*> before;
  for (const v1::DatasetStatus& dataset : from.datasets()) before[dataset.name()] = &dataset;
  for (const v1::DatasetStatus& dataset : is.datasets()) {
    const auto known = before.find(dataset.name());
    rates.datasets.push_back(
        RatesOf(known == before.end() ? v1::DatasetStatus::default_instance() : *known->second, dataset, seconds));
    Add(rates.all, rates.datasets.back());
  }
  return rates;
}

std::string Bottleneck(const std::vector<ServerRates>& servers) {
  double waiting = 0, shares = 0, blocked = 0, busy = 0, streams = 0, clients = 0;
  int serving = 0;
  for (const ServerRates& server : servers) {
    if (!server.problem.empty()) continue;
    ++serving;
    busy += server.busy;
    waiting = std::max(waiting, server.all.waiting);
    shares += server.all.waiting_share;
    blocked += server.all.blocked;
    streams += server.all.streams;
    clients = std::max<double>(clients, server.all.streams);  // Each has a stream to every server that it uses.
  }
  if (serving == 0) return "No server tells how it fares.";
  busy /= serving;
  if (streams == 0) return "No client reads.";
  waiting = std::max(waiting, shares);  // The shares of those that were not asked are missing in the sum.
  if (waiting / clients < kNoticeable) return "No client waits: the servers keep up.";
  const std::string wait = absl::StrFormat("Clients wait: %.1f of %.0f at a time. ", waiting, clients);
  if (busy >= kBusy)
    return absl::StrFormat("%sThe servers' workers are busy, %.0f %% of their time: more servers make it faster.", wait,
                           busy * 100);
  if (blocked / streams >= kBlocked)
    return absl::StrCat(wait,
                        "Spans are ready and wait for connections: the network, or the clients' receiving, is "
                        "slow.");
  return absl::StrFormat(
      "%sThe servers' workers are busy only %.0f %% of their time: look at their storage, and at the "
      "clients' prefetch.",
      wait, busy * 100);
}

std::string FleetTable(const std::vector<ServerRates>& servers, bool datasets) {
  size_t width = std::string_view("SERVER").size();
  for (const ServerRates& server : servers) {
    width = std::max(width, server.address.size());
    for (const DatasetRates& one : server.datasets)
      width = std::max(width, datasets ? ShortName(one.name).size() + 2 : 0);
  }
  std::string table =
      absl::StrFormat("%-*s %-8s %5s %8s %11s %8s %8s %8s %7s %7s %9s\n", width, "SERVER", "STATE", "BUSY", "STREAMS",
                      "SAMPLES/S", "MB/S", "WAITING", "BLOCKED", "QUEUED", "FAILED", "UPTIME");
  for (const ServerRates& server : servers) {
    if (!server.problem.empty()) {
      absl::StrAppendFormat(&table, "%-*s %s\n", width, server.address, Printable(server.problem));
      continue;
    }
    absl::StrAppendFormat(&table, "%-*s %-8s %4.0f%% ", width, server.address, server.draining ? "draining" : "serving",
                          server.busy * 100);
    AppendRates(server.all, table);
    absl::StrAppendFormat(&table, " %7d %7d %9s\n", server.waiting_spans, server.all.failed,
                          ShortDuration(server.uptime_seconds));
    size_t shown = 0;
    for (const DatasetRates& one : server.datasets) {
      if (!datasets || ++shown > kMostDatasets) break;
      absl::StrAppendFormat(&table, "  %-*s %-8s %5s ", width - 2, ShortName(one.name), "", "");
      AppendRates(one, table);
      absl::StrAppendFormat(&table, " %7s %7d\n", "", one.failed);
    }
  }
  return absl::StrCat(table, Bottleneck(servers), "\n");
}

std::string FleetJson(const std::vector<ServerRates>& servers) {
  auto list = nlohmann::ordered_json::array();
  for (const ServerRates& server : servers) {
    nlohmann::ordered_json told = {{"address", server.address}, {"problem", server.problem}};
    if (server.problem.empty()) {
      told.update({{"build", server.build},
                   {"draining", server.draining},
                   {"uptime_seconds", server.uptime_seconds},
                   {"busy", server.busy},
                   {"waiting_spans", server.waiting_spans}});
      told.update(ToJson(server.all));
      told["datasets"] = nlohmann::ordered_json::array();
      for (const DatasetRates& one : server.datasets) {
        nlohmann::ordered_json dataset = {{"name", one.name}};
        dataset.update(ToJson(one));
        told["datasets"].push_back(std::move(dataset));
      }
    }
    list.push_back(std::move(told));
  }
  const nlohmann::ordered_json all = {{"servers", list}, {"bottleneck", Bottleneck(servers)}};
  return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace stoker
