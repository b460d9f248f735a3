#ifndef STOKER_CLIENT_FLEET_LINKS_H_
#define STOKER_CLIENT_FLEET_LINKS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/fleet/stats.h"
#include "client/receive/span_stream.h"
#include "client/schedule/backoff.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// One connection to a server, tried again and again, and how it fares. A value.
struct Link {
  std::string address;
  int connection = 0;  // Counts the connections to this address, from 0.
  int endpoint = 0;    // Equal for all connections to this address: the first one's id.

  bool member = true;                  // The job's servers still include this address.
  bool streaming = false;              // There is a stream, which may not be open yet.
  bool opened = false;                 // The server opened the stream.
  std::shared_ptr<SpanStream> stream;  // Null between attempts.
  uint64_t stream_key = 0;             // What the server calls the stream, once it is open.
  bool takes_reports = false;          // It wants to know how the job fares.

  absl::Time begun, opened_at;  // When the stream was begun, and when the server opened it.
  absl::Time next_attempt = absl::InfinitePast();
  Backoff backoff;

  std::string problem = "not connected yet";  // Why the server is not used; empty if it is.
  bool hung = false;                          // The stream is given up since the server was silent.
  bool differs = false;  // The last stream was not opened, for the server has other data or pixels.
  int garbled = 0;       // Garbled spans since the last good one.
  uint64_t spans = 0;    // Good spans, of all streams.
};

// The connections that a job has, or tries to have, to its servers: which there should be, when each is tried again,
// and why one is not used.
//
// Pure: it has no clock and opens nothing; its owner tells it what happened and when. Single owner. Memory is in
// proportion to the servers.
class Links {
 public:
  // `connections` to each server; at least 1.
  explicit Links(int connections) : connections_(connections) {}

  // The servers are at `addresses` now. Links to others go, those with a stream when that ended. Where the addresses
  // are not `complete`, since a name could not be looked up, what was a server stays one.
  void Update(const std::vector<std::string>& addresses, bool complete);

  // The links that are to be tried now.
  std::vector<int> Due(absl::Time now) const;

  // The links whose stream should have opened by now.
  std::vector<int> Unopened(absl::Time now) const;

  // What became of a link. Each requires that the link is there, which it is while it has a stream.
  void Begin(int id, absl::Time now);
  void SetStream(int id, std::shared_ptr<SpanStream> stream) { links_.at(id).stream = std::move(stream); }
  void Opened(int id, const v1::Opened& opened, absl::Time now);
  void Received(int id);
  void Draining(int id) { links_.at(id).problem = "shutting down"; }
  void Hung(int id);

  // A span could not be used. True if that happened so often in a row that the stream must end.
  bool Garbled(int id, const std::string& problem);

  // The stream ended. `jitter` is a random number from 0 to 1, see Backoff.
  void Closed(int id, const absl::Status& status, absl::Time now, double jitter);

  // True if there are servers and each of them was found to differ when it was tried last.
  bool AllDiffer() const;

  // True if a server with another Link::endpoint may open soon: it is being tried, or was not tried yet.
  bool AnotherMayOpen(int endpoint) const;

  // Servers that were found to differ are to be tried at once, and may have changed.
  void TryDifferingNow();

  const Link& at(int id) const { return links_.at(id); }
  const Link* Find(int id) const;
  const std::map<int, Link>& all() const { return links_; }

  // Link::endpoint of all servers that the job has.
  std::set<int> Endpoints() const;

  // Each address, with the figures of all its connections.
  std::vector<FleetStats::Server> Servers() const;

  // "a:7077: connected", "b:7077: connection refused", … for each link.
  std::vector<std::string> Problems() const;

 private:
  const int connections_;
  std::map<int, Link> links_;
  int next_ = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_FLEET_LINKS_H_
