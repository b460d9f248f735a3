#ifndef STOKER_CLIENT_SCHEDULE_SCHEDULER_H_
#define STOKER_CLIENT_SCHEDULE_SCHEDULER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/schedule/fleet_view.h"
#include "client/schedule/late_policy.h"
#include "common/identity/span_id.h"

namespace stoker {

// Decides which span is asked from which server. It keeps the needed spans, each with a ticket; FleetView knows the
// servers, and LatePolicy decides what is late. Pure: it has no clock, no network and no threads; its owner tells it
// what happened and when, and carries out what it answers.
//
// - Each server has a window of spans that it may owe, from its measured pace, refilled as spans arrive.
// - What is needed first goes to the server that is expected to make it first. A much slower server takes what is
//   needed later and will be there in time, or nothing.
// - A span that is late against the fleet's own answers is asked from a second server, and the very next one from up to
//   four: the first answer counts.
// - A span that is past its deadline counts as lost if later ones overtook it or the server is silent: servers answer
//   in order, and one that is shared by many may be slow. A server that stays silent for three deadlines hangs.
// - What a lost server owed goes back to its place in the order.
// - Servers that cache spans are asked for those that they own, so that jobs of equal shape ask equal servers, as long
//   as that costs no time.
// - A span that came may be checked: made once more by a server that did not make it. Nothing waits for a check. It
// takes
//   a place in the server's window like any other span, but checks take no more than half of it, or one place.
//
// Single owner. Memory is in proportion to the needed spans and the servers.
class Scheduler {
 public:
  using ServerId = FleetView::ServerId;
  using ServerInfo = FleetView::ServerInfo;

  // A needed span's place in the order of need. The same span may be needed twice.
  using Ticket = FleetView::Ticket;

  struct Options {
    // Bounds what is asked for and not there yet; one span always may be, whatever its size.
    uint64_t max_bytes = uint64_t{1} << 30;
    LatePolicy::Options late;
  };

  // A span to ask a server for, or that it was asked for.
  struct Assignment {
    ServerId server = 0;
    Ticket ticket = 0;
    SpanId span;
    bool anew = false;  // It is to be made past all caches: it is a check.
  };

  Scheduler() : Scheduler(Options{}) {}
  explicit Scheduler(const Options& options) : options_(options), late_(options.late) {}

  // Adds a server that may be asked. What it failed when it was there before is forgiven. Requires that it is not
  // there yet.
  void AddServer(ServerId server, const ServerInfo& info);

  // Keeps a server from being asked; it still owes what it owes (it drains).
  void CloseServer(ServerId server) { fleet_.Close(server); }

  // Removes a server that is gone: what it alone owed is needed again. Returns how many spans that were. Nothing
  // happens if it is unknown.
  int RemoveServer(ServerId server);

  // Adds a span of `bytes` that is needed after all those before.
  Ticket Need(const SpanId& span, uint64_t bytes);

  // Adds a span of `bytes` that came already, and is to be made once more, past all caches, by a server whose endpoint
  // is none of `but`. The ticket is answered as those of Need are, and Failed and Forget hold for it too.
  Ticket Check(const SpanId& span, uint64_t bytes, std::set<int> but);

  // Whether the ticket is one of Check.
  static bool IsCheck(Ticket ticket) { return ticket >= kFirstCheck; }

  // Whether the ticket's span is under way, or could be made by a server that is here now. False for a ticket that is
  // not there.
  bool MayBeMade(Ticket ticket) const;

  // Drops what is needed no more, and returns the servers that it was asked from.
  std::vector<Assignment> Forget(const std::set<Ticket>& tickets);

  // Returns what to ask for now.
  std::vector<Assignment> Assign(absl::Time now);

  // Returns what to ask for once more, and learns from answers that do not come. To be called every few dozen
  // milliseconds, before Assign.
  std::vector<Assignment> Hedge(absl::Time now);

  struct Overdue {
    std::vector<Assignment> lost;  // These are to be taken back from their servers; they are needed again.
    std::vector<ServerId> hung;    // These are to be disconnected; each is named once.
  };

  // Returns what passed its deadline.
  Overdue Expire(absl::Time now);

  // A server begins to send a span. Returns the ticket that it answers; none if the span was not asked for, is needed
  // no more or is being taken from another server. The ticket stays with the server until Done, Failed or Retry.
  std::optional<Ticket> Arrived(ServerId server, const SpanId& span);

  // The span is here; it waited for `queued` in the server's queue. Returns where else it was asked for, to be taken
  // back.
  std::vector<Assignment> Done(ServerId server, Ticket ticket, absl::Time now, absl::Duration queued);

  // The server cannot make the span: others are asked, now or when they come. `members` are the endpoints (see
  // ServerInfo) of all servers that the job has, whether they are connected or not. Returns false if all of them have
  // failed it by now.
  bool Failed(ServerId server, Ticket ticket, const std::string& reason, const std::set<int>& members);

  // The span was not asked for after all, or arrived unusable: any server is asked again.
  void Retry(ServerId server, Ticket ticket);

  // Why servers failed a ticket, joined; empty if none did.
  std::string Reasons(Ticket ticket) const;

  // Why servers failed the first needed span that any failed; empty if there is none.
  std::string FirstReasons() const;

  // Spans that are needed and asked from no server. Checks do not count.
  size_t unassigned() const { return unassigned_.size(); }

  // Spans that were asked for twice so far.
  uint64_t hedged() const { return hedged_; }

 private:
  // Checks come after all that is needed.
  static constexpr Ticket kFirstCheck = Ticket{1} << 63;

  struct Needed {
    SpanId span;
    uint64_t bytes = 0;
    std::vector<ServerId> asked;
    std::optional<ServerId> arriving;     // The server that it is being taken from.
    std::map<int, std::string> failures;  // Why endpoints failed it.
    std::set<int> but;                    // If it is a check, these endpoints must not make it.
  };

  // A span that some server owes, as Hedge looks at it.
  struct Awaited {
    absl::Duration elapsed = absl::InfiniteDuration();  // Since it was asked for the last time.
    bool late = true;                                   // Everywhere it was asked for.
    bool orphaned = false;                              // A server that owes it is suspect.
  };

  bool IsNext(Ticket ticket) const { return ticket == needed_.begin()->first; }

  // Where a ticket waits that is asked from no server.
  std::set<Ticket>& Waiting(Ticket ticket) { return IsCheck(ticket) ? unchecked_ : unassigned_; }

  // Asks the server for the ticket's span, and adds that to `assignments`.
  void Ask(ServerId id, Ticket ticket, absl::Time now, std::vector<Assignment>& assignments);

  // Takes the ticket off what the server owes and returns that; none if it does not owe it.
  std::optional<FleetView::Owed> Settle(ServerId server, Ticket ticket);

  // Needs the ticket again, unless another server owes it.
  void Return(Ticket ticket);

  bool HasRoomFor(const Needed& needed) const;

  // Whether the server may be asked: no connection to its endpoint was, and the endpoint did not fail the span.
  bool May(ServerId id, const Needed& needed) const;

  // The first span that the server at `place` should be asked for.
  std::optional<Ticket> FirstFor(const FleetView::Place& place) const;

  // Asks servers that cache for the spans that they own, where these will be there in time.
  void AssignToOwners(absl::Time now, std::vector<Assignment>& assignments);

  // Asks servers with room for checks.
  void AssignChecks(absl::Time now, std::vector<Assignment>& assignments);

  // What is owed, by ticket. Servers are held to what they owe on the way.
  std::map<Ticket, Awaited> LookAtOwed(absl::Time now);

  // Another server that would make the span in less time than it has been waited for; for the very next span also a
  // server whose window is full.
  std::optional<ServerId> SecondFor(Ticket ticket, absl::Duration elapsed) const;

  // How long until the ticket is needed, if spans are used up as fast as all servers make them.
  absl::Duration Due(Ticket ticket) const;

  const Options options_;
  FleetView fleet_;
  LatePolicy late_;
  Ticket next_ticket_ = 0, next_check_ = kFirstCheck;
  std::map<Ticket, Needed> needed_;
  std::set<Ticket> unassigned_, unchecked_;
  std::set<Ticket> failed_;  // Those of them that a server failed may be among these.
  uint64_t hedged_ = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_SCHEDULE_SCHEDULER_H_
