#ifndef STOKER_CLIENT_CLI_FLEET_RATES_H_
#define STOKER_CLIENT_CLI_FLEET_RATES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/v1/data_service.pb.h"

namespace stoker {

// How servers fared between two looks at them: what `stoker status` prints. All functions are pure.

// What one server did for one dataset, or for all.
struct DatasetRates {
  std::string name;
  uint32_t streams = 0;
  double samples = 0, megabytes = 0;  // a second
  double waiting = 0;                 // of the server's clients, those that wait for a batch, on average
  double waiting_share = 0;           // the same, each divided by the servers that it uses
  double blocked = 0;                 // connections that a ready span waits for, on average
  uint64_t substituted = 0, failed = 0;
};

// One server.
struct ServerRates {
  std::string address;
  std::string problem;  // Why it tells nothing; then all else is empty.
  std::string build;
  bool draining = false;
  double uptime_seconds = 0;
  double busy = 0;  // the workers' share of their time, 0 to 1
  uint64_t waiting_spans = 0;
  DatasetRates all;
  std::vector<DatasetRates> datasets;
};

// Returns what was done from `was` to `is`, which the same server said. Where it was started anew in between, all that
// it has done counts, over its uptime.
ServerRates RatesOf(const std::string& address, const v1::StatusResponse& was, const v1::StatusResponse& is);

// Says in a sentence who is slow: servers, the way to the clients, or nobody.
std::string Bottleneck(const std::vector<ServerRates>& servers);

// Returns a table with a line for each server, and below it for each of its datasets where `datasets` says so. Ends
// with what Bottleneck says.
std::string FleetTable(const std::vector<ServerRates>& servers, bool datasets);

// Returns the same as JSON, in one line: {"servers": [{"address", "problem", "build", "draining", "uptime_seconds",
// "busy", "waiting_spans", "streams", "samples_per_second", …, "datasets": [{"name", …}]}], "bottleneck"}.
std::string FleetJson(const std::vector<ServerRates>& servers);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_FLEET_RATES_H_
