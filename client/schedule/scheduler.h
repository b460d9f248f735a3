#ifndef STOKER_CLIENT_SCHEDULE_SCHEDULER_H_
#define STOKER_CLIENT_SCHEDULE_SCHEDULER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/time/time.h"
#include "client/schedule/lateness.h"
#include "client/schedule/server_pace.h"
#include "common/identity/span_id.h"

namespace stoker {

// Which span to ask from which server. Pure: no clock, no network, no threads; its owner tells it what happened and
// when, and carries out what it answers.
//
// - Each server has a window of spans that it may owe, from its measured pace, refilled as spans arrive.
// - What is needed first goes to the server that is expected to make it first. One that is much slower takes what is
//   needed later, when it will be there in time, or nothing.
// - A span that is late against the fleet's own distribution is asked from a second server, and the very next one from
//   up to four: the first answer counts.
// - One that is past its deadline counts as lost, if later ones overtook it or the server is silent: servers answer in
//   order, and one that is shared by many may be slow. A server that stays silent for three deadlines counts as hung.
// - What a lost server owed goes back to its place in the order.
// - Servers that cache spans get those that they own by rendezvous hashing (Thaler and Ravishankar, 1998), so that
//   jobs of equal shape ask equal servers, as long as that costs no time.
//
// Single owner. Memory is in proportion to the spans needed and the servers.
class Scheduler {
 public:
  using ServerId = int;
  // A needed span's place in the order of need. The same span may be needed twice.
  using Ticket = uint64_t;

  struct Options {
    // Asked for and not there yet, at most; one span always may be.
    uint64_t max_bytes = uint64_t{1} << 30;
    absl::Duration least_deadline = absl::Seconds(2);   // of a span
    absl::Duration first_deadline = absl::Seconds(30);  // While no server has answered yet.
    absl::Duration least_hedge = absl::Milliseconds(50);
    double hedges = 0.05;  // Of all spans, at most so many are asked for twice; beside the very next one, and beside
                           // what a server owes that has fallen silent.
  };

  struct ServerInfo {
    int parallelism = 1;  // Spans that it works on at once; at least 1.
    bool caches = false;  // Whether it keeps spans for jobs that ask for the same.
    uint64_t name = 0;    // A hash of its address.

    // With several connections to one server, each of which is a ServerId: a number that they share, which is no other
    // server's id, and the workers of all. What one failed, all did; what one was asked for, no other is.
    int machine = -1;  // Itself.
    int workers = 0;   // `parallelism`.
  };

  // A span to ask a server for, or that it was asked for.
  struct Assignment {
    ServerId server = 0;
    Ticket ticket = 0;
    SpanId span;
  };

  Scheduler() : Scheduler(Options{}) {}
  explicit Scheduler(const Options& options) : options_(options) {}

  // A server that may be asked. What it failed when it was there before is forgiven. Requires that it is not there
  // yet.
  void AddServer(ServerId server, const ServerInfo& info);

  // A server that is asked no more, but still owes (it drains).
  void CloseServer(ServerId server);

  // A server that is gone: what it alone owed is needed again. Returns how many spans that were. Nothing if unknown.
  int RemoveServer(ServerId server);

  // Adds a span of `bytes` that is needed after all those before.
  Ticket Need(const SpanId& span, uint64_t bytes);

  // Drops what is needed no more, and returns the servers that it was asked from.
  std::vector<Assignment> Forget(const std::set<Ticket>& tickets);

  // What to ask for now.
  std::vector<Assignment> Assign(absl::Time now);

  // What to ask for once more. To be called every few dozen milliseconds, before Assign: also learns from
  // answers that do not come.
  std::vector<Assignment> Hedge(absl::Time now);

  // What passed its deadline.
  struct Overdue {
    std::vector<Assignment> lost;  // To be taken back; needed again.
    std::vector<ServerId> hung;    // To be disconnected; each is named once.
  };
  Overdue Expire(absl::Time now);

  // A server sends a span. The ticket that it answers, or none if it was not asked for, is needed no more or is
  // being taken from another server. The ticket stays with the server until Done, Failed or Retry.
  std::optional<Ticket> Arrived(ServerId server, const SpanId& span);

  // The span is here; it waited for `queued` in the server's queue. Returns where else it was asked for, to be taken
  // back.
  std::vector<Assignment> Done(ServerId server, Ticket ticket, absl::Time now, absl::Duration queued);

  // The server cannot make it: others are asked, now or when they come. False if all of `members`, the servers
  // (machines) that the job has, whether they are there or not, have failed it by now.
  bool Failed(ServerId server, Ticket ticket, const std::string& reason, const std::set<ServerId>& members);

  // It was not asked for after all, or arrived unusable: anyone is asked again.
  void Retry(ServerId server, Ticket ticket);

  // Why servers failed a ticket, joined; empty if none did.
  std::string Reasons(Ticket ticket) const;

  // The same of the first needed span that a server failed.
  std::string FirstReasons() const;

  // Spans that are needed and asked from no one.
  size_t unassigned() const { return unassigned_.size(); }

  // Spans that were asked for twice so far.
  uint64_t hedged() const { return hedged_; }

 private:
  struct Owed {
    Ticket ticket = 0;
    uint64_t bytes = 0;
    absl::Time asked;
    uint64_t number = 0;   // Of all that the server was asked for.
    int depth = 1;         // Spans that it owed then, this one included.
    absl::Duration usual;  // Latency, for all that was known then.
  };
  // Servers in the order in which they would make one more span: by estimate, then by how full their window is.
  using Place = std::tuple<absl::Duration, double, ServerId>;
  struct Server {
    ServerInfo info;
    ServerPace pace;
    bool open = true;
    std::multimap<SpanId, Owed> owed;
    uint64_t asked = 0;                                // Spans so far,
    uint64_t last_answered = 0;                        // and the latest of these that came.
    absl::Time answered = absl::InfinitePast();        // The last time.
    absl::Time silent_since = absl::InfiniteFuture();  // While it owes something, or was asked and never answered.
    absl::Duration silent_usual;                       // What an answer should have taken then.
    Place place;
    bool placed = false, roomy = false;  // In by_estimate_, in roomy_.
    double rate = 0;                     // Its part of rate_.
  };
  struct Needed {
    SpanId span;
    uint64_t bytes = 0;
    std::vector<ServerId> asked;
    std::optional<ServerId> arriving;     // From where it is being taken.
    std::map<int, std::string> failures;  // By machine.
  };

  void Ask(ServerId id, Ticket ticket, absl::Time now, std::vector<Assignment>& assignments);

  // Takes the ticket off what the server owes. None if it does not owe it.
  std::optional<Owed> Settle(ServerId server, Ticket ticket);

  void AssumeOfOthers();

  // Needs the ticket again, unless another server owes it.
  void Return(Ticket ticket);

  // Keeps by_estimate_, roomy_ and rate_ true, after whatever changed the server.
  void Refresh(ServerId id, Server& server);
  void Unplace(Server& server);

  int MachineOf(ServerId id) const;
  bool HasRoomFor(const Needed& needed) const;
  bool May(ServerId id, const Needed& needed) const;
  std::optional<Ticket> FirstFor(const Place& place) const;
  void AssignToOwners(absl::Time now, std::vector<Assignment>& assignments);
  std::optional<ServerId> OwnerOf(const Needed& needed) const;
  std::optional<ServerId> SecondFor(Ticket ticket, absl::Duration elapsed) const;

  // Whether an answer that is late is still to be expected: in order, from a server that answers.
  bool MayStillCome(const Server& server, const Owed& owed, absl::Duration deadline, absl::Time now) const;

  // How long until the ticket is needed, if spans are used up as fast as all servers make them.
  absl::Duration Due(Ticket ticket) const;

  // How long the `depth`-th span of a server may take, where `usual` was the usual latency when it was asked for.
  absl::Duration DeadlineOf(ServerId id, const Server& server, int depth, absl::Duration usual) const;

  const Options options_;
  Ticket next_ticket_ = 0;
  std::map<ServerId, Server> servers_;
  std::map<Ticket, Needed> needed_;
  std::set<Ticket> unassigned_;
  std::set<Place> by_estimate_, roomy_;  // Of open servers; of those whose window has room.
  double rate_ = 0;                      // Spans per second of all open servers.
  int caching_ = 0;                      // Servers that cache.
  uint64_t owed_bytes_ = 0;

  Lateness lateness_;
  bool answered_ = false;                // Whether any server ever did,
  absl::Duration usual_share_;           // and what that of the last one was, for one worker.
  std::map<ServerId, double> patience_;  // Factor on deadlines of servers that were hung; outlives their connections.
  double hedge_tokens_ = 1;
  uint64_t hedged_ = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_SCHEDULE_SCHEDULER_H_
