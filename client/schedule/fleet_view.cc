#include "client/schedule/fleet_view.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/check.h"
#include "common/identity/mix.h"

namespace stoker {

// ---- servers ----

void FleetView::Add(ServerId id, const ServerInfo& info) {
  STOKER_CHECK(info.parallelism >= 1);
  const auto [added, is_new] =
      servers_.try_emplace(id, Server{.info = info, .pace = ServerPace(info.parallelism, info.window)});
  STOKER_CHECK(is_new);
  absl::Duration shares;
  int known = 0;
  for (const auto& [other, server] : servers_)
    if (server.pace.known()) shares += server.pace.share_of_one(), ++known;
  if (last_share_.has_value()) added->second.pace.Assume(known > 0 ? shares / known : *last_share_);
  caching_ += info.caches ? 1 : 0;
  Refresh(id, added->second);
}

void FleetView::Close(ServerId id) {
  const auto found = servers_.find(id);
  if (found == servers_.end()) return;
  found->second.open = false;
  Refresh(id, found->second);
}

std::vector<FleetView::Owed> FleetView::Remove(ServerId id) {
  const auto found = servers_.find(id);
  if (found == servers_.end()) return {};
  Unplace(found->second);
  caching_ -= found->second.info.caches ? 1 : 0;
  std::vector<Owed> owed;
  for (const auto& [span, entry] : found->second.owed) {
    owed_bytes_ -= entry.bytes;
    owed.push_back(entry);
  }
  servers_.erase(found);
  return owed;
}

const FleetView::Server* FleetView::Find(ServerId id) const {
  const auto found = servers_.find(id);
  return found == servers_.end() ? nullptr : &found->second;
}

int FleetView::EndpointOf(ServerId id) const {
  const Server* server = Find(id);
  return server == nullptr || server->info.endpoint < 0 ? id : server->info.endpoint;
}

void FleetView::Unplace(Server& server) {
  if (std::exchange(server.placed, false)) by_estimate_.erase(server.place);
  if (std::exchange(server.roomy, false)) roomy_.erase(server.place);
  rate_ -= std::exchange(server.rate, 0);
}

void FleetView::Refresh(ServerId id, Server& server) {
  Unplace(server);
  if (!server.open) return;
  const int owed = server.owed_count(), window = server.pace.Window();
  server.place = {server.pace.Estimate(owed + 1), static_cast<double>(owed) / window, id};
  server.placed = by_estimate_.insert(server.place).second;
  if (owed < window) server.roomy = roomy_.insert(server.place).second;
  server.rate = server.pace.rate();
  rate_ += server.rate;
}

std::optional<FleetView::ServerId> FleetView::OwnerOf(const SpanId& span, absl::FunctionRef<bool(ServerId)> may) const {
  const uint64_t hash = MixAll({span.epoch, span.start, span.count});
  std::optional<ServerId> owner;
  std::tuple<uint64_t, bool, absl::Duration> most;
  for (const auto& [id, server] : servers_) {
    if (!server.open || !server.info.caches || !may(id)) continue;
    const std::tuple weight(MixAll({hash, server.info.name}), server.roomy, -server.place.estimate);
    if (owner.has_value() && weight <= most) continue;
    owner = id;
    most = weight;
  }
  return owner;
}

// ---- what servers owe ----

void FleetView::Ask(ServerId id, const SpanId& span, Ticket ticket, uint64_t bytes, absl::Time now) {
  Server& server = servers_.at(id);
  const int depth = server.owed_count() + 1;
  const absl::Duration usual = server.pace.Usual(depth);
  server.owed.emplace(span, Owed{ticket, bytes, now, ++server.asked, depth, usual});
  if (server.silent_since == absl::InfiniteFuture()) server.silent_since = now, server.silent_usual = usual;
  owed_bytes_ += bytes;
  Refresh(id, server);
}

std::optional<FleetView::Owed> FleetView::Settle(ServerId id, const SpanId& span, Ticket ticket) {
  const auto found = servers_.find(id);
  if (found == servers_.end()) return std::nullopt;
  auto [owed, end] = found->second.owed.equal_range(span);
  while (owed != end && owed->second.ticket != ticket) ++owed;
  if (owed == end) return std::nullopt;
  const Owed settled = owed->second;
  found->second.owed.erase(owed);
  owed_bytes_ -= settled.bytes;
  Refresh(id, found->second);
  return settled;
}

void FleetView::Answered(ServerId id, const Owed& settled, absl::Time now, absl::Duration queued) {
  Server& server = servers_.at(id);
  server.pace.Arrived(now - settled.asked, queued, settled.depth);
  server.answered = now;
  server.last_answered = std::max(server.last_answered, settled.number);
  const bool first = !last_share_.has_value();
  last_share_ = server.pace.share_of_one();
  if (first) AssumeOfOthers();
  server.silent_since = server.owed.empty() ? absl::InfiniteFuture() : now;
  server.silent_usual = server.pace.Usual(server.owed_count());
  Refresh(id, server);
}

void FleetView::AssumeOfOthers() {
  for (auto& [id, server] : servers_) {
    server.pace.Assume(*last_share_);
    Refresh(id, server);
  }
}

void FleetView::NoticeSilence(ServerId id, absl::Time now) {
  Server& server = servers_.at(id);
  for (const auto& [span, owed] : server.owed) {
    // While it answers others, it is this span that is lost, not the server that is slow.
    const absl::Duration silent = now - std::max(owed.asked, server.answered);
    if (silent > owed.usual) server.pace.Outstanding(silent, owed.depth);
  }
  if (!server.owed.empty()) Refresh(id, server);
}

}  // namespace stoker
