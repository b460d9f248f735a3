#include "client/schedule/scheduler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/check.h"
#include "common/identity/mix.h"

namespace stoker {
namespace {

// A server whose estimate is this much above the best one's takes what is needed later.
constexpr double kMuchSlower = 1.5;

// What a span is late by: what so many exceed (Dean and Barroso, "The Tail at Scale", CACM 2013).
constexpr double kLatePart = 0.05;

// A server that owes something and is silent for longer than so many answers take may be gone: what it owes is asked
// for twice at no expense of what is merely late.
constexpr double kSuspiciousPart = 0.01;

constexpr double kDeadlineFactor = 2;  // Over what one answer in a hundred exceeds.
constexpr int kHungDeadlines = 3;      // Of silence: before that, what was asked counts as lost, and is asked again.
constexpr double kMostPatience = 64;
constexpr double kMostHedgeTokens = 8;

}  // namespace

// ---- servers ----

void Scheduler::AddServer(ServerId id, const ServerInfo& info) {
  STOKER_CHECK(info.parallelism >= 1);
  const auto [added, is_new] = servers_.try_emplace(id, Server{.info = info, .pace = ServerPace(info.parallelism)});
  STOKER_CHECK(is_new);
  absl::Duration shares;
  int known = 0;
  for (const auto& [other, server] : servers_)
    if (server.pace.known()) shares += server.pace.share_of_one(), ++known;
  if (answered_) added->second.pace.Assume(known > 0 ? shares / known : usual_share_);
  caching_ += info.caches ? 1 : 0;
  for (auto& [ticket, needed] : needed_) needed.failures.erase(MachineOf(id));
  Refresh(id, added->second);
}

void Scheduler::CloseServer(ServerId id) {
  const auto found = servers_.find(id);
  if (found == servers_.end()) return;
  found->second.open = false;
  Refresh(id, found->second);
}

int Scheduler::RemoveServer(ServerId id) {
  const auto found = servers_.find(id);
  if (found == servers_.end()) return 0;
  Unplace(found->second);
  caching_ -= found->second.info.caches ? 1 : 0;
  const auto owed = std::move(found->second.owed);
  servers_.erase(found);
  const size_t before = unassigned_.size();
  for (const auto& [span, entry] : owed) {
    owed_bytes_ -= entry.bytes;
    Needed& needed = needed_.at(entry.ticket);
    std::erase(needed.asked, id);
    if (needed.arriving == id) needed.arriving.reset();
    Return(entry.ticket);
  }
  return static_cast<int>(unassigned_.size() - before);
}

void Scheduler::Unplace(Server& server) {
  if (std::exchange(server.placed, false)) by_estimate_.erase(server.place);
  if (std::exchange(server.roomy, false)) roomy_.erase(server.place);
  rate_ -= std::exchange(server.rate, 0);
}

void Scheduler::Refresh(ServerId id, Server& server) {
  Unplace(server);
  if (!server.open) return;
  const int owed = static_cast<int>(server.owed.size()), window = server.pace.Window();
  server.place = {server.pace.Estimate(owed + 1), static_cast<double>(owed) / window, id};
  server.placed = by_estimate_.insert(server.place).second;
  if (owed < window) server.roomy = roomy_.insert(server.place).second;
  server.rate = server.pace.rate();
  rate_ += server.rate;
}

// ---- what is needed ----

Scheduler::Ticket Scheduler::Need(const SpanId& span, uint64_t bytes) {
  const Ticket ticket = next_ticket_++;
  needed_.emplace(ticket, Needed{.span = span, .bytes = bytes});
  unassigned_.insert(ticket);
  return ticket;
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
    unassigned_.erase(ticket);
  }
  return asked;
}

void Scheduler::Return(Ticket ticket) {
  const auto found = needed_.find(ticket);
  if (found != needed_.end() && found->second.asked.empty()) unassigned_.insert(ticket);
}

std::optional<Scheduler::Owed> Scheduler::Settle(ServerId id, Ticket ticket) {
  const auto found = servers_.find(id);
  const auto needed = needed_.find(ticket);
  if (found == servers_.end() || needed == needed_.end()) return std::nullopt;
  std::erase(needed->second.asked, id);
  auto [owed, end] = found->second.owed.equal_range(needed->second.span);
  while (owed != end && owed->second.ticket != ticket) ++owed;
  if (owed == end) return std::nullopt;
  const Owed settled = owed->second;
  found->second.owed.erase(owed);
  owed_bytes_ -= settled.bytes;
  Refresh(id, found->second);
  return settled;
}

// ---- asking ----

absl::Duration Scheduler::Due(Ticket ticket) const {
  return absl::Seconds(static_cast<double>(ticket - needed_.begin()->first) / std::max(rate_, 1e-9));
}

bool Scheduler::HasRoomFor(const Needed& needed) const {
  return owed_bytes_ == 0 || owed_bytes_ + needed.bytes <= options_.max_bytes;
}

int Scheduler::MachineOf(ServerId id) const {
  const auto found = servers_.find(id);
  return found == servers_.end() || found->second.info.machine < 0 ? id : found->second.info.machine;
}

bool Scheduler::May(ServerId id, const Needed& needed) const {
  const int machine = MachineOf(id);
  return !needed.failures.contains(machine) &&
         std::none_of(needed.asked.begin(), needed.asked.end(), [&](ServerId it) { return MachineOf(it) == machine; });
}

void Scheduler::Ask(ServerId id, Ticket ticket, absl::Time now, std::vector<Assignment>& assignments) {
  Server& server = servers_.at(id);
  Needed& needed = needed_.at(ticket);
  const int depth = static_cast<int>(server.owed.size()) + 1;
  const absl::Duration usual = server.pace.Usual(depth);
  server.owed.emplace(needed.span, Owed{ticket, needed.bytes, now, ++server.asked, depth, usual});
  if (server.silent_since == absl::InfiniteFuture()) server.silent_since = now, server.silent_usual = usual;
  owed_bytes_ += needed.bytes;
  needed.asked.push_back(id);
  unassigned_.erase(ticket);
  Refresh(id, server);
  assignments.push_back({id, ticket, needed.span});
}

// The first span that the server at `place` should be asked for.
std::optional<Scheduler::Ticket> Scheduler::FirstFor(const Place& place) const {
  const absl::Duration estimate = std::get<0>(place);
  Ticket first = needed_.begin()->first;
  if (estimate > std::get<0>(*by_estimate_.begin()) * kMuchSlower)
    first += static_cast<Ticket>(std::ceil(absl::ToDoubleSeconds(estimate) * rate_));
  for (auto next = unassigned_.lower_bound(first); next != unassigned_.end(); ++next)
    if (May(std::get<2>(place), needed_.at(*next))) return *next;
  return std::nullopt;
}

std::vector<Scheduler::Assignment> Scheduler::Assign(absl::Time now) {
  std::vector<Assignment> assignments;
  if (caching_ > 1) AssignToOwners(now, assignments);
  std::set<ServerId> passed;  // Servers with room that nothing fits.
  for (auto place = roomy_.begin(); place != roomy_.end() && !unassigned_.empty();) {
    const ServerId id = std::get<2>(*place);
    const auto ticket = passed.contains(id) ? std::nullopt : FirstFor(*place);
    if (!ticket.has_value()) {
      passed.insert(id);
      ++place;
      continue;
    }
    if (!HasRoomFor(needed_.at(*ticket))) break;
    Ask(id, *ticket, now, assignments);
    place = roomy_.begin();
  }
  return assignments;
}

// The server that keeps the span for others, by rendezvous hashing over those that are open; of those with one name,
// the one that would make it first.
std::optional<Scheduler::ServerId> Scheduler::OwnerOf(const Needed& needed) const {
  const uint64_t span = MixAll({needed.span.epoch, needed.span.start, needed.span.count});
  std::optional<ServerId> owner;
  std::tuple<uint64_t, bool, absl::Duration> most;
  for (const auto& [id, server] : servers_) {
    if (!server.open || !server.info.caches || !May(id, needed)) continue;
    const std::tuple weight(MixAll({span, server.info.name}), server.roomy, -std::get<0>(server.place));
    if (owner.has_value() && weight <= most) continue;
    owner = id;
    most = weight;
  }
  return owner;
}

void Scheduler::AssignToOwners(absl::Time now, std::vector<Assignment>& assignments) {
  for (auto next = unassigned_.begin(); next != unassigned_.end() && !roomy_.empty();) {
    const Ticket ticket = *next++;
    const Needed& needed = needed_.at(ticket);
    if (!HasRoomFor(needed)) return;
    const auto owner = OwnerOf(needed);
    if (!owner.has_value()) continue;
    const Server& server = servers_.at(*owner);
    const absl::Duration estimate = std::get<0>(server.place);
    const bool in_time = estimate <= std::max(Due(ticket), std::get<0>(*by_estimate_.begin()) * kMuchSlower);
    if (server.roomy && in_time) Ask(*owner, ticket, now, assignments);
  }
}

// ---- being late ----

absl::Duration Scheduler::DeadlineOf(ServerId id, const Server& server, int depth, absl::Duration usual) const {
  const auto found = patience_.find(id);
  const double patience = found == patience_.end() ? 1 : found->second;
  if (!answered_) return options_.first_deadline * patience;
  const absl::Duration late = std::min(usual, server.pace.Usual(depth)) * lateness_.ExceededBy(0.01) * kDeadlineFactor;
  return std::max(options_.least_deadline, late) * patience;
}

bool Scheduler::MayStillCome(const Server& server, const Owed& owed, absl::Duration deadline, absl::Time now) const {
  const int workers = std::max(server.info.parallelism, server.info.workers);
  const bool overtaken = owed.number + workers < server.last_answered;
  return !overtaken && now - server.answered < deadline;
}

// Another server that would make it in less time than it has been waited for; for the very next one also a server
// whose window is full.
std::optional<Scheduler::ServerId> Scheduler::SecondFor(Ticket ticket, absl::Duration elapsed) const {
  const Needed& needed = needed_.at(ticket);
  for (const Place& place : ticket == needed_.begin()->first ? by_estimate_ : roomy_) {
    if (std::get<0>(place) > elapsed) break;
    if (May(std::get<2>(place), needed)) return std::get<2>(place);
  }
  return std::nullopt;
}

std::vector<Scheduler::Assignment> Scheduler::Hedge(absl::Time now) {
  std::vector<Assignment> assignments;
  // How long what is late has been waited for, since it was asked for the last time.
  std::map<Ticket, absl::Duration> late;
  std::set<Ticket> fresh;  // Not late yet, where it was asked for last.
  std::set<Ticket> orphaned;
  const double lateness = lateness_.ExceededBy(kLatePart), suspicious = lateness_.ExceededBy(kSuspiciousPart);
  for (auto& [id, server] : servers_) {
    const bool suspect =
        now - server.silent_since >
        std::max(options_.least_hedge, std::min(server.silent_usual, server.pace.Usual(1)) * suspicious);
    for (const auto& [span, owed] : server.owed) {
      const absl::Duration elapsed = now - owed.asked;
      // While it answers others, it is this one that is lost, not the server that is slow.
      const absl::Duration silent = now - std::max(owed.asked, server.answered);
      if (silent > owed.usual) server.pace.Outstanding(silent, owed.depth);
      const absl::Duration usual = std::min(owed.usual, server.pace.Usual(owed.depth));
      if (elapsed <= std::max(options_.least_hedge, usual * lateness)) fresh.insert(owed.ticket);
      if (suspect) orphaned.insert(owed.ticket);
      const auto [entry, is_new] = late.try_emplace(owed.ticket, elapsed);
      entry->second = std::min(entry->second, elapsed);
    }
    if (!server.owed.empty()) Refresh(id, server);
  }
  for (const auto& [ticket, elapsed] : late) {
    const Needed& needed = needed_.at(ticket);
    const bool next = ticket == needed_.begin()->first;
    if (fresh.contains(ticket) || needed.arriving.has_value() || needed.asked.size() >= (next ? 4 : 2)) continue;
    const bool free = next || orphaned.contains(ticket);
    if ((!free && hedge_tokens_ < 1) || (!next && !HasRoomFor(needed))) continue;
    const auto second = SecondFor(ticket, elapsed);
    if (!second.has_value() || Due(ticket) > servers_.at(*second).pace.Estimate(1) * 2) continue;
    Ask(*second, ticket, now, assignments);
    if (!free) hedge_tokens_ -= 1;
    ++hedged_;
  }
  return assignments;
}

Scheduler::Overdue Scheduler::Expire(absl::Time now) {
  Overdue overdue;
  for (auto& [id, server] : servers_) {
    const int depth = static_cast<int>(server.owed.size()) + 1;
    if (now - server.silent_since >= DeadlineOf(id, server, depth, server.silent_usual) * kHungDeadlines) {
      server.silent_since = absl::InfiniteFuture();
      double& patience = patience_.try_emplace(id, 1).first->second;
      patience = std::min(2 * patience, kMostPatience);
      overdue.hung.push_back(id);
      continue;
    }
    for (const auto& [span, owed] : server.owed) {
      const absl::Duration deadline = DeadlineOf(id, server, owed.depth, owed.usual);
      if (now - owed.asked < deadline || needed_.at(owed.ticket).arriving) continue;
      if (!MayStillCome(server, owed, deadline, now)) overdue.lost.push_back({id, owed.ticket, span});
    }
  }
  for (const Assignment& lost : overdue.lost) Retry(lost.server, lost.ticket);
  return overdue;
}

// ---- answers ----

std::optional<Scheduler::Ticket> Scheduler::Arrived(ServerId id, const SpanId& span) {
  const auto found = servers_.find(id);
  if (found == servers_.end()) return std::nullopt;
  const auto owed = found->second.owed.find(span);
  if (owed == found->second.owed.end()) return std::nullopt;
  Needed& needed = needed_.at(owed->second.ticket);
  if (needed.arriving.has_value()) return std::nullopt;
  needed.arriving = id;
  return owed->second.ticket;
}

std::vector<Scheduler::Assignment> Scheduler::Done(ServerId id, Ticket ticket, absl::Time now, absl::Duration queued) {
  const auto settled = Settle(id, ticket);
  const auto found = needed_.find(ticket);
  if (found == needed_.end()) return {};
  if (settled.has_value()) {
    Server& server = servers_.at(id);
    const absl::Duration latency = now - settled->asked;
    if (server.pace.known()) lateness_.Add(absl::FDivDuration(latency, settled->usual));
    server.pace.Arrived(latency, queued, settled->depth);
    server.answered = now;
    server.last_answered = std::max(server.last_answered, settled->number);
    usual_share_ = server.pace.share_of_one();
    if (!std::exchange(answered_, true)) AssumeOfOthers();
    double& patience = patience_.try_emplace(id, 1).first->second;
    patience = std::max(1.0, patience / 2);
    server.silent_since = server.owed.empty() ? absl::InfiniteFuture() : now;
    server.silent_usual = server.pace.Usual(static_cast<int>(server.owed.size()));
    Refresh(id, server);
  }
  hedge_tokens_ = std::min(hedge_tokens_ + options_.hedges, kMostHedgeTokens);
  std::vector<Assignment> others;
  const std::vector<ServerId> asked = found->second.asked;
  for (ServerId other : asked) {
    const auto loser = Settle(other, ticket);
    if (!loser.has_value()) continue;
    others.push_back({other, ticket, found->second.span});
  }
  needed_.erase(found);
  unassigned_.erase(ticket);
  return others;
}

// What was asked before anyone answered was asked on a guess.
void Scheduler::AssumeOfOthers() {
  for (auto& [id, server] : servers_) {
    server.pace.Assume(usual_share_);
    Refresh(id, server);
  }
}

bool Scheduler::Failed(ServerId id, Ticket ticket, const std::string& reason, const std::set<ServerId>& members) {
  Settle(id, ticket);
  const auto found = needed_.find(ticket);
  if (found == needed_.end()) return true;
  if (found->second.arriving == id) found->second.arriving.reset();
  found->second.failures[MachineOf(id)] = reason;
  Return(ticket);
  return std::any_of(members.begin(), members.end(),
                     [&](ServerId member) { return !found->second.failures.contains(member); });
}

void Scheduler::Retry(ServerId id, Ticket ticket) {
  Settle(id, ticket);
  const auto found = needed_.find(ticket);
  if (found != needed_.end() && found->second.arriving == id) found->second.arriving.reset();
  Return(ticket);
}

std::string Scheduler::FirstReasons() const {
  for (const auto& [ticket, needed] : needed_)
    if (!needed.failures.empty()) return Reasons(ticket);
  return "";
}

std::string Scheduler::Reasons(Ticket ticket) const {
  const auto found = needed_.find(ticket);
  if (found == needed_.end()) return "";
  std::set<std::string> reasons;
  for (const auto& [server, reason] : found->second.failures) reasons.insert(reason);
  return absl::StrJoin(reasons, "; ");
}

}  // namespace stoker
