#ifndef STOKER_CLIENT_SCHEDULE_SCHEDULER_H_
#define STOKER_CLIENT_SCHEDULE_SCHEDULER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/identity/span_id.h"

namespace stoker {

// Which span to ask from which server. Pure: no clock, no network, no threads; its owner tells it what happened and
// carries out what it answers.
//
// Pull-based: each server has a window of spans that it may owe, refilled as spans arrive, so that servers are used
// by their speed. What is needed first is asked for first; what a lost server owed goes back to its place.
//
// Single owner. Memory is in proportion to the spans needed.
class Scheduler {
 public:
  using ServerId = int;
  // A needed span's place in the order of need. The same span may be needed twice.
  using Ticket = uint64_t;

  // A span to ask a server for.
  struct Assignment {
    ServerId server = 0;
    Ticket ticket = 0;
    SpanId span;
  };

  // A server that may be asked for up to `window` ≥ 1 spans at once. What it failed when it was there before is
  // forgiven. Requires that it is not there yet.
  void AddServer(ServerId server, int window);

  // A server that is asked no more, but still owes (it drains).
  void CloseServer(ServerId server);

  // A server that is gone: what it owed is needed again. Returns how many spans that were. Nothing if unknown.
  int RemoveServer(ServerId server);

  // Adds a span that is needed after all those before.
  Ticket Need(const SpanId& span);

  // Drops what is needed no more, and returns the servers that it was asked from.
  std::vector<Assignment> Forget(const std::set<Ticket>& tickets);

  // What to ask for now.
  std::vector<Assignment> Assign();

  // A server sent a span. The ticket that it answers, or none if it was not asked for or is needed no more. The
  // ticket stays with the server until Done, Failed or Retry.
  std::optional<Ticket> Arrived(ServerId server, const SpanId& span);

  // The span is here.
  void Done(ServerId server, Ticket ticket);

  // The server cannot make it: others are asked, now or when they come. False if all of `members`, the servers that
  // the job has, whether they are there or not, have failed it by now.
  bool Failed(ServerId server, Ticket ticket, const std::string& reason, const std::set<ServerId>& members);

  // It arrived unusable: anyone is asked again.
  void Retry(ServerId server, Ticket ticket);

  // Why servers failed a ticket, joined; empty if none did.
  std::string Reasons(Ticket ticket) const;

  // The same of the first needed span that a server failed.
  std::string FirstReasons() const;

  // Spans that are needed and asked from no one.
  size_t unassigned() const { return unassigned_.size(); }

 private:
  struct Server {
    int window = 1;
    bool open = true;
    std::multimap<SpanId, Ticket> owed;
    int room() const { return open ? window - static_cast<int>(owed.size()) : 0; }
  };
  struct Needed {
    SpanId span;
    std::map<ServerId, std::string> failures;
  };

  // Takes the ticket off what the server owes.
  void Settle(ServerId server, Ticket ticket);

  // The server with most room, relative to its window, that has not failed `needed`; null if there is none.
  std::pair<const ServerId, Server>* Choose(const Needed& needed);

  Ticket next_ticket_ = 0;
  std::map<ServerId, Server> servers_;
  std::map<Ticket, Needed> needed_;
  std::set<Ticket> unassigned_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_SCHEDULE_SCHEDULER_H_
