#ifndef STOKER_CLIENT_FLEET_STATS_H_
#define STOKER_CLIENT_FLEET_STATS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// What the servers of a job did for it so far. A value.
struct FleetStats {
  uint64_t spans = 0, bytes = 0;  // Spans that came, and the bytes of their payloads.
  uint64_t retried_spans = 0;     // Spans asked for again: their server went away, hung, failed or garbled them.
  uint64_t hedged_spans = 0;      // Spans that were late, hence asked for from a second server too.
  uint64_t cached_spans = 0;      // Spans that a server had made for another job.
  uint64_t verified_spans = 0;    // Spans that another server made too, with the same bytes.
  uint64_t unverified_spans = 0;  // Spans that were chosen for that, but no other server could make them.
  uint64_t differing_spans = 0;   // Spans that two servers made with different bytes.
  absl::Duration received;        // The receiving thread's time for checking and copying.
  v1::StageTimes server;          // The servers' nanoseconds, summed over spans.

  // The first of the differences, each a sentence that names the sample and the servers.
  std::vector<std::string> differences;

  // One server, as the job knows it.
  struct Server {
    std::string address;
    bool connected = false;
    uint64_t spans = 0;
    std::string problem;  // Why the server is not used now; empty if it is.
  };
  std::vector<Server> servers;  // Sorted by address.
};

}  // namespace stoker

#endif  // STOKER_CLIENT_FLEET_STATS_H_
