#include "client/schedule/scheduler.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "common/check.h"

namespace stoker {

void Scheduler::AddServer(ServerId server, int window) {
  STOKER_CHECK(window >= 1);
  const bool added = servers_.try_emplace(server, Server{.window = window}).second;
  STOKER_CHECK(added);
  for (auto& [ticket, needed] : needed_) needed.failures.erase(server);
}

void Scheduler::CloseServer(ServerId server) {
  if (auto found = servers_.find(server); found != servers_.end()) found->second.open = false;
}

int Scheduler::RemoveServer(ServerId server) {
  auto found = servers_.find(server);
  if (found == servers_.end()) return 0;
  for (const auto& [span, ticket] : found->second.owed) unassigned_.insert(ticket);
  const int lost = static_cast<int>(found->second.owed.size());
  servers_.erase(found);
  return lost;
}

Scheduler::Ticket Scheduler::Need(const SpanId& span) {
  const Ticket ticket = next_ticket_++;
  needed_.emplace(ticket, Needed{.span = span});
  unassigned_.insert(ticket);
  return ticket;
}

std::vector<Scheduler::Assignment> Scheduler::Forget(const std::set<Ticket>& tickets) {
  std::vector<Assignment> asked;
  for (auto& server : servers_) {
    std::erase_if(server.second.owed, [&](const auto& owed) {
      if (!tickets.contains(owed.second)) return false;
      asked.push_back({server.first, owed.second, owed.first});
      return true;
    });
  }
  for (Ticket ticket : tickets) {
    needed_.erase(ticket);
    unassigned_.erase(ticket);
  }
  return asked;
}

std::pair<const Scheduler::ServerId, Scheduler::Server>* Scheduler::Choose(const Needed& needed) {
  std::pair<const ServerId, Server>* best = nullptr;
  for (auto& candidate : servers_) {
    const Server& server = candidate.second;
    if (server.room() <= 0 || needed.failures.contains(candidate.first)) continue;
    if (best == nullptr || int64_t{server.room()} * best->second.window > int64_t{best->second.room()} * server.window)
      best = &candidate;
  }
  return best;
}

std::vector<Scheduler::Assignment> Scheduler::Assign() {
  int room = 0;
  for (const auto& [id, server] : servers_) room += std::max(server.room(), 0);
  std::vector<Assignment> assignments;
  for (auto next = unassigned_.begin(); next != unassigned_.end() && room > 0;) {
    const Ticket ticket = *next;
    const Needed& needed = needed_.at(ticket);
    auto* chosen = Choose(needed);
    if (chosen == nullptr) {  // Only servers that failed it have room.
      ++next;
      continue;
    }
    chosen->second.owed.emplace(needed.span, ticket);
    assignments.push_back({chosen->first, ticket, needed.span});
    next = unassigned_.erase(next);
    --room;
  }
  return assignments;
}

std::optional<Scheduler::Ticket> Scheduler::Arrived(ServerId server, const SpanId& span) {
  auto found = servers_.find(server);
  if (found == servers_.end()) return std::nullopt;
  auto owed = found->second.owed.find(span);
  if (owed == found->second.owed.end()) return std::nullopt;
  return owed->second;
}

void Scheduler::Settle(ServerId server, Ticket ticket) {
  auto found = servers_.find(server);
  if (found == servers_.end()) return;
  std::erase_if(found->second.owed, [&](const auto& owed) { return owed.second == ticket; });
}

void Scheduler::Done(ServerId server, Ticket ticket) {
  Settle(server, ticket);
  needed_.erase(ticket);
  unassigned_.erase(ticket);
}

bool Scheduler::Failed(ServerId server, Ticket ticket, const std::string& reason, const std::set<ServerId>& members) {
  Settle(server, ticket);
  auto found = needed_.find(ticket);
  if (found == needed_.end()) return true;
  found->second.failures[server] = reason;
  unassigned_.insert(ticket);
  return std::any_of(members.begin(), members.end(),
                     [&](ServerId member) { return !found->second.failures.contains(member); });
}

void Scheduler::Retry(ServerId server, Ticket ticket) {
  Settle(server, ticket);
  if (needed_.contains(ticket)) unassigned_.insert(ticket);
}

std::string Scheduler::FirstReasons() const {
  for (const auto& [ticket, needed] : needed_)
    if (!needed.failures.empty()) return Reasons(ticket);
  return "";
}

std::string Scheduler::Reasons(Ticket ticket) const {
  auto found = needed_.find(ticket);
  if (found == needed_.end()) return "";
  std::set<std::string> reasons;
  for (const auto& [server, reason] : found->second.failures) reasons.insert(reason);
  return absl::StrJoin(reasons, "; ");
}

}  // namespace stoker
