#ifndef STOKER_CLIENT_SCHEDULE_FLEET_VIEW_H_
#define STOKER_CLIENT_SCHEDULE_FLEET_VIEW_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "client/schedule/server_pace.h"
#include "common/identity/span_id.h"

namespace stoker {

// The servers of a job as its scheduler sees them: what each one owes, how fast it answers, and in which order they
// would make one more span.
//
// Pure: it has no clock and no network, and its owner tells it what happened and when. Single owner. Memory is in
// proportion to the servers and the spans that they owe.
class FleetView {
 public:
  // Names one connection to a stokerd, which is called a server here.
  using ServerId = int;

  // Names a span that is needed, see Scheduler. The same span may be needed twice.
  using Ticket = uint64_t;

  // What a server says of itself when it is connected.
  struct ServerInfo {
    int parallelism = 1;  // Spans that it works on at once; at least 1.
    bool caches = false;  // Whether it keeps spans for jobs that ask for the same.
    uint64_t name = 0;    // A hash of its address, equal in all jobs.

    // The stokerd behind this connection. Connections to one stokerd share a number, the ServerId of one of them: what
    // one of them failed, all did, and what one was asked for, no other is. Negative: there is no other connection.
    int endpoint = -1;

    // The workers of that stokerd, which all its connections share. Less than `parallelism`: there are no more.
    int workers = 0;

    // Spans that it asks to owe at once; 0: it does not say.
    int window = 0;
  };

  // A span that a server was asked for and has not answered.
  struct Owed {
    Ticket ticket = 0;
    uint64_t bytes = 0;
    absl::Time asked;
    uint64_t number = 0;   // The server was asked for so many spans by then, this one included.
    int depth = 1;         // It owed so many of them then, this one included.
    absl::Duration usual;  // The latency that was to be expected then.
  };

  // A server's place in the order in which servers would make one more span: by estimate, then by how full its window
  // is.
  struct Place {
    absl::Duration estimate;
    double fullness = 0;
    ServerId server = 0;
    friend bool operator<(const Place& a, const Place& b) {
      if (a.estimate != b.estimate) return a.estimate < b.estimate;
      if (a.fullness != b.fullness) return a.fullness < b.fullness;
      return a.server < b.server;
    }
  };

  struct Server {
    ServerInfo info;
    ServerPace pace;
    bool open = true;  // It may be asked.
    std::multimap<SpanId, Owed> owed;
    uint64_t asked = 0;                          // It was asked for so many spans so far.
    uint64_t last_answered = 0;                  // The highest Owed::number among those that it answered.
    absl::Time answered = absl::InfinitePast();  // When it last answered.

    // Since when it has owed something without an answer; infinite while it owes nothing, or after StopTiming.
    absl::Time silent_since = absl::InfiniteFuture();
    absl::Duration silent_usual;  // How long the next answer should have taken then.

    // These are kept by Refresh.
    Place place;
    bool placed = false;  // `place` is in by_estimate().
    bool roomy = false;   // `place` is in roomy().
    double rate = 0;      // This server's part of rate().

    int owed_count() const { return static_cast<int>(owed.size()); }
  };

  // Adds a server that may be asked. Requires that it is not there yet, and parallelism of at least 1.
  void Add(ServerId id, const ServerInfo& info);

  // Keeps a server from being asked; it still owes what it owes. Nothing happens if it is unknown.
  void Close(ServerId id);

  // Removes a server and returns what it owed; nothing if it is unknown.
  std::vector<Owed> Remove(ServerId id);

  // Notes that a server is asked for a span now. Requires that it is there.
  void Ask(ServerId id, const SpanId& span, Ticket ticket, uint64_t bytes, absl::Time now);

  // Takes a ticket off what a server owes and returns it; none if it does not owe it.
  std::optional<Owed> Settle(ServerId id, const SpanId& span, Ticket ticket);

  // Learns from an answer to what was settled just before, which waited for `queued` in the server's queue. Requires
  // that the server is there.
  void Answered(ServerId id, const Owed& settled, absl::Time now, absl::Duration queued);

  // Learns from what has not come yet. Requires that the server is there.
  void NoticeSilence(ServerId id, absl::Time now);

  // Stops measuring a server's silence until it is asked or answers again.
  void StopTiming(ServerId id) { servers_.at(id).silent_since = absl::InfiniteFuture(); }

  const std::map<ServerId, Server>& servers() const { return servers_; }
  const Server& at(ServerId id) const { return servers_.at(id); }
  const Server* Find(ServerId id) const;

  // The stokerd behind a connection: ServerInfo::endpoint, or the id itself where there is no other connection.
  int EndpointOf(ServerId id) const;

  // The open servers, the one that would make one more span first at the front; and those of them whose window has
  // room.
  const std::set<Place>& by_estimate() const { return by_estimate_; }
  const std::set<Place>& roomy() const { return roomy_; }

  // Spans per second of all open servers.
  double rate() const { return rate_; }

  // Servers that cache.
  int caching() const { return caching_; }

  // Bytes of all that is owed.
  uint64_t owed_bytes() const { return owed_bytes_; }

  // The open server that keeps a span for all jobs, by rendezvous hashing (Thaler and Ravishankar, 1998), among those
  // that cache and `may` be asked; of several connections to it, the one that would make the span first.
  std::optional<ServerId> OwnerOf(const SpanId& span, absl::FunctionRef<bool(ServerId)> may) const;

 private:
  // Keeps by_estimate_, roomy_ and rate_ true. To be called after whatever changed the server.
  void Refresh(ServerId id, Server& server);

  // Takes the server out of by_estimate_, roomy_ and rate_.
  void Unplace(Server& server);

  // Gives servers that have not answered yet the pace of the first that has.
  void AssumeOfOthers();

  std::map<ServerId, Server> servers_;
  std::set<Place> by_estimate_, roomy_;
  double rate_ = 0;
  int caching_ = 0;
  uint64_t owed_bytes_ = 0;

  // ServerPace::share_of_one of the server that answered last; none until the first answer.
  std::optional<absl::Duration> last_share_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_SCHEDULE_FLEET_VIEW_H_
