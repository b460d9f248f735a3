#include "client/schedule/scheduler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_join.h"

namespace stoker {
namespace {

// A server whose estimate is so many times the best one's takes what is needed later. Estimates of equal servers differ
// by a span or two of a window, which must not count.
constexpr double kMuchSlower = 1.5;

// A late span is asked for twice only when it is needed within so many times what the second server takes for one.
// Before that there is still time for the first answer to come, and for a second server that is idle.
constexpr double kHedgeAhead = 2;

// Spans per second, for a division, where no server is open: everything is due in ages.
constexpr double kLeastRate = 1e-9;

}  // namespace

// ---- servers ----

void Scheduler::AddServer(ServerId id, const ServerInfo& info) {
  fleet_.Add(id, info);
  for (auto& [ticket, needed] : needed_) needed.failures.erase(fleet_.EndpointOf(id));
}

int Scheduler::RemoveServer(ServerId id) {
  const size_t before = unassigned_.size();
  for (const FleetView::Owed& owed : fleet_.Remove(id)) {
    Needed& needed = needed_.at(owed.ticket);
    std::erase(needed.asked, id);
    if (needed.arriving == id) needed.arriving.reset();
    Return(owed.ticket);
  }
  return static_cast<int>(unassigned_.size() - before);
}

// ---- what is needed ----

Scheduler::Ticket Scheduler::Need(const SpanId& span, uint64_t bytes) {
  const Ticket ticket = next_ticket_++;
  needed_.emplace(ticket, Needed{.span = span, .bytes = bytes});
  unassigned_.insert(ticket);
  return ticket;
}

Scheduler::Ticket Scheduler::Check(const SpanId& span, uint64_t bytes, std::set<int> but) {
  const Ticket ticket = next_check_++;
  needed_.emplace(ticket, Needed{.span = span, .bytes = bytes, .but = std::move(but)});
  unchecked_.insert(ticket);
  return ticket;
}

bool Scheduler::MayBeMade(Ticket ticket) const {
  const auto found = needed_.find(ticket);
  if (found == needed_.end()) return false;
  if (!found->second.asked.empty()) return true;
  return std::any_of(fleet_.servers().begin(), fleet_.servers().end(),
                     [&](const auto& entry) { return entry.second.open && May(entry.first, found->second); });
}

std::vector<Scheduler::Assignment> Scheduler::Forget(const std::set<Ticket>& tickets) {
  std::vector<Assignment> asked;
  for (Ticket ticket : tickets) {
    const auto found = needed_.find(ticket);
    if (found == needed_.end()) continue;
    const std::vector<ServerId> servers = found->second.asked;
    for (ServerId id : servers) {
      asked.push_back({id, ticket, found->second.span});
      Settle(id, ticket);
    }
    needed_.erase(found);
    Waiting(ticket).erase(ticket);
    failed_.erase(ticket);
  }
  return asked;
}

void Scheduler::Return(Ticket ticket) {
  const auto found = needed_.find(ticket);
  if (found != needed_.end() && found->second.asked.empty()) Waiting(ticket).insert(ticket);
}

std::optional<FleetView::Owed> Scheduler::Settle(ServerId id, Ticket ticket) {
  const auto found = needed_.find(ticket);
  if (found == needed_.end()) return std::nullopt;
  std::erase(found->second.asked, id);
  return fleet_.Settle(id, found->second.span, ticket);
}

absl::Duration Scheduler::Due(Ticket ticket) const {
  return absl::Seconds(static_cast<double>(ticket - needed_.begin()->first) / std::max(fleet_.rate(), kLeastRate));
}

// ---- asking ----

bool Scheduler::HasRoomFor(const Needed& needed) const {
  return fleet_.owed_bytes() == 0 || fleet_.owed_bytes() + needed.bytes <= options_.max_bytes;
}

bool Scheduler::May(ServerId id, const Needed& needed) const {
  const int endpoint = fleet_.EndpointOf(id);
  return !needed.failures.contains(endpoint) && !needed.but.contains(endpoint) &&
         std::none_of(needed.asked.begin(), needed.asked.end(),
                      [&](ServerId it) { return fleet_.EndpointOf(it) == endpoint; });
}

void Scheduler::Ask(ServerId id, Ticket ticket, absl::Time now, std::vector<Assignment>& assignments) {
  Needed& needed = needed_.at(ticket);
  fleet_.Ask(id, needed.span, ticket, needed.bytes, now);
  needed.asked.push_back(id);
  Waiting(ticket).erase(ticket);
  assignments.push_back({id, ticket, needed.span, IsCheck(ticket)});
}

std::optional<Scheduler::Ticket> Scheduler::FirstFor(const FleetView::Place& place) const {
  // What a server failed waits for no faster one, which may be the one that failed it.
  for (Ticket ticket : failed_)
    if (unassigned_.contains(ticket) && May(place.server, needed_.at(ticket))) return ticket;
  Ticket first = needed_.begin()->first;
  if (place.estimate > fleet_.by_estimate().begin()->estimate * kMuchSlower)
    first += static_cast<Ticket>(std::ceil(absl::ToDoubleSeconds(place.estimate) * fleet_.rate()));
  for (auto next = unassigned_.lower_bound(first); next != unassigned_.end(); ++next)
    if (May(place.server, needed_.at(*next))) return *next;
  return std::nullopt;
}

std::vector<Scheduler::Assignment> Scheduler::Assign(absl::Time now) {
  std::vector<Assignment> assignments;
  if (!unchecked_.empty()) AssignChecks(now, assignments);
  if (fleet_.caching() > 1) AssignToOwners(now, assignments);
  std::set<ServerId> passed;  // Servers with room that nothing fits.
  const std::set<FleetView::Place>& roomy = fleet_.roomy();
  for (auto place = roomy.begin(); place != roomy.end() && !unassigned_.empty();) {
    const ServerId id = place->server;
    const auto ticket = passed.contains(id) ? std::nullopt : FirstFor(*place);
    if (!ticket.has_value()) {
      passed.insert(id);
      ++place;
      continue;
    }
    if (!HasRoomFor(needed_.at(*ticket))) break;
    Ask(id, *ticket, now, assignments);
    place = roomy.begin();
  }
  return assignments;
}

void Scheduler::AssignToOwners(absl::Time now, std::vector<Assignment>& assignments) {
  for (auto next = unassigned_.begin(); next != unassigned_.end() && !fleet_.roomy().empty();) {
    const Ticket ticket = *next++;
    const Needed& needed = needed_.at(ticket);
    if (!HasRoomFor(needed)) return;
    const auto owner = fleet_.OwnerOf(needed.span, [&](ServerId id) { return May(id, needed); });
    if (!owner.has_value()) continue;
    const FleetView::Server& server = fleet_.at(*owner);
    const absl::Duration best = fleet_.by_estimate().begin()->estimate;
    const bool in_time = server.place.estimate <= std::max(Due(ticket), best * kMuchSlower);
    if (server.roomy && in_time) Ask(*owner, ticket, now, assignments);
  }
}

// Checks come first, since a window may never have room that nothing else wants. That they take half of it at most lets
// what is needed go on.
void Scheduler::AssignChecks(absl::Time now, std::vector<Assignment>& assignments) {
  std::map<ServerId, int> checks;  // Those that servers owe.
  for (auto check = needed_.lower_bound(kFirstCheck); check != needed_.end(); ++check)
    for (ServerId id : check->second.asked) ++checks[id];
  const std::set<FleetView::Place> roomy = fleet_.roomy();
  for (const FleetView::Place& place : roomy) {
    const int most = std::max(1, fleet_.at(place.server).pace.Window() / 2);
    for (auto next = unchecked_.begin(); next != unchecked_.end() && checks[place.server] < most;) {
      const Ticket ticket = *next++;
      const Needed& needed = needed_.at(ticket);
      if (!HasRoomFor(needed)) return;
      if (!fleet_.at(place.server).roomy || !May(place.server, needed)) continue;
      Ask(place.server, ticket, now, assignments);
      ++checks[place.server];
    }
  }
}

// ---- being late ----

std::optional<Scheduler::ServerId> Scheduler::SecondFor(Ticket ticket, absl::Duration elapsed) const {
  const Needed& needed = needed_.at(ticket);
  for (const FleetView::Place& place : IsNext(ticket) ? fleet_.by_estimate() : fleet_.roomy()) {
    if (place.estimate > elapsed) break;
    if (May(place.server, needed)) return place.server;
  }
  return std::nullopt;
}

std::map<Scheduler::Ticket, Scheduler::Awaited> Scheduler::LookAtOwed(absl::Time now) {
  std::map<Ticket, Awaited> all;
  const LatePolicy::Limits limits = late_.limits();
  for (const auto& [id, server] : fleet_.servers()) {
    fleet_.NoticeSilence(id, now);
    const bool suspect = limits.IsSuspect(server, now);
    for (const auto& [span, owed] : server.owed) {
      Awaited& awaited = all[owed.ticket];
      awaited.elapsed = std::min(awaited.elapsed, now - owed.asked);
      awaited.late = awaited.late && limits.IsLate(server, owed, now);
      awaited.orphaned = awaited.orphaned || suspect;
    }
  }
  return all;
}

std::vector<Scheduler::Assignment> Scheduler::Hedge(absl::Time now) {
  std::vector<Assignment> assignments;
  for (const auto& [ticket, awaited] : LookAtOwed(now)) {
    if (IsCheck(ticket)) break;  // Nothing waits for it.
    const Needed& needed = needed_.at(ticket);
    const bool next = IsNext(ticket), free = next || awaited.orphaned;
    if (!awaited.late || needed.arriving.has_value() || needed.asked.size() >= LatePolicy::MostServers(next)) continue;
    if ((!free && !late_.MayHedge()) || (!next && !HasRoomFor(needed))) continue;
    const auto second = SecondFor(ticket, awaited.elapsed);
    if (!second.has_value() || Due(ticket) > fleet_.at(*second).pace.Estimate(1) * kHedgeAhead) continue;
    Ask(*second, ticket, now, assignments);
    if (!free) late_.SpendHedge();
    ++hedged_;
  }
  return assignments;
}

Scheduler::Overdue Scheduler::Expire(absl::Time now) {
  Overdue overdue;
  const LatePolicy::Limits limits = late_.limits();
  for (const auto& [id, server] : fleet_.servers()) {
    if (limits.Hangs(id, server, now)) {
      fleet_.StopTiming(id);
      late_.Hung(id);
      overdue.hung.push_back(id);
      continue;
    }
    for (const auto& [span, owed] : server.owed)
      if (limits.IsLost(id, server, owed, now) && !needed_.at(owed.ticket).arriving.has_value())
        overdue.lost.push_back({id, owed.ticket, span});
  }
  for (const Assignment& lost : overdue.lost) Retry(lost.server, lost.ticket);
  return overdue;
}

// ---- answers ----

std::optional<Scheduler::Ticket> Scheduler::Arrived(ServerId id, const SpanId& span) {
  const FleetView::Server* server = fleet_.Find(id);
  if (server == nullptr) return std::nullopt;
  const auto owed = server->owed.find(span);
  if (owed == server->owed.end()) return std::nullopt;
  Needed& needed = needed_.at(owed->second.ticket);
  if (needed.arriving.has_value()) return std::nullopt;
  needed.arriving = id;
  return owed->second.ticket;
}

std::vector<Scheduler::Assignment> Scheduler::Done(ServerId id, Ticket ticket, absl::Time now, absl::Duration queued) {
  const auto found = needed_.find(ticket);
  if (found == needed_.end()) return {};
  if (const auto settled = Settle(id, ticket)) {
    const double factor = absl::FDivDuration(now - settled->asked, settled->usual);
    late_.Answered(id, fleet_.at(id).pace.known() ? std::optional(factor) : std::nullopt);
    fleet_.Answered(id, *settled, now, queued);
  }
  late_.EarnHedge();
  std::vector<Assignment> others;
  const std::vector<ServerId> asked = found->second.asked;
  for (ServerId other : asked)
    if (Settle(other, ticket).has_value()) others.push_back({other, ticket, found->second.span});
  needed_.erase(found);
  Waiting(ticket).erase(ticket);
  failed_.erase(ticket);
  return others;
}

bool Scheduler::Failed(ServerId id, Ticket ticket, const std::string& reason, const std::set<int>& members) {
  Settle(id, ticket);
  const auto found = needed_.find(ticket);
  if (found == needed_.end()) return true;
  if (found->second.arriving == id) found->second.arriving.reset();
  found->second.failures[fleet_.EndpointOf(id)] = reason;
  failed_.insert(ticket);
  Return(ticket);
  return std::any_of(members.begin(), members.end(), [&](int endpoint) {
    return !found->second.failures.contains(endpoint) && !found->second.but.contains(endpoint);
  });
}

void Scheduler::Retry(ServerId id, Ticket ticket) {
  Settle(id, ticket);
  const auto found = needed_.find(ticket);
  if (found != needed_.end() && found->second.arriving == id) found->second.arriving.reset();
  Return(ticket);
}

std::string Scheduler::FirstReasons() const {
  for (const auto& [ticket, needed] : needed_)
    if (!needed.failures.empty() && !IsCheck(ticket)) return Reasons(ticket);
  return "";
}

std::string Scheduler::Reasons(Ticket ticket) const {
  const auto found = needed_.find(ticket);
  if (found == needed_.end()) return "";
  std::set<std::string> reasons;
  for (const auto& [endpoint, reason] : found->second.failures) reasons.insert(reason);
  return absl::StrJoin(reasons, "; ");
}

}  // namespace stoker
