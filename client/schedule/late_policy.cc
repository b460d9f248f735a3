#include "client/schedule/late_policy.h"

#include <algorithm>

namespace stoker {
namespace {

// A span is late when it takes longer than all but this part of the fleet's answers. Dean and Barroso ("The Tail at
// Scale", CACM 2013) defer the second request to the 95th percentile, which bounds what is made twice to 5 %.
constexpr double kLatePart = 0.05;

// Silence that only one answer in a hundred exceeds makes a server suspect: late answers are common, and what a suspect
// server owes is asked for beside the budget, so this must be rare. Deadlines are measured by the same answers.
constexpr double kRarePart = 0.01;

// A deadline is so many times what a rare answer takes: what is asked for again too early is made in vain.
constexpr double kDeadlineFactor = 2;

// A server that is silent for so many deadlines hangs. It has until then to answer what counts as lost after one, since
// a new connection loses all that it owes.
constexpr int kHungDeadlines = 3;

// Each time that a server hangs, its deadlines double, so that one that is slow rather than dead is used in the end;
// but not without bound: 64 least deadlines are two minutes.
constexpr double kMorePatience = 2;
constexpr double kMostPatience = 64;

// The budget saves up at most so many hedges, so that a long calm does not pay for a burst that loads all servers.
constexpr double kMostHedgeBudget = 8;

}  // namespace

void LatePolicy::Answered(ServerId id, std::optional<double> factor) {
  answered_ = true;
  if (factor.has_value()) lateness_.Add(*factor);
  double& patience = patience_.try_emplace(id, 1).first->second;
  patience = std::max(1.0, patience / kMorePatience);
}

void LatePolicy::Hung(ServerId id) {
  double& patience = patience_.try_emplace(id, 1).first->second;
  patience = std::min(kMorePatience * patience, kMostPatience);
}

void LatePolicy::EarnHedge() { hedge_budget_ = std::min(hedge_budget_ + options_.hedges, kMostHedgeBudget); }

LatePolicy::Limits LatePolicy::limits() const {
  return Limits(*this, lateness_.ExceededBy(kLatePart), lateness_.ExceededBy(kRarePart));
}

bool LatePolicy::Limits::IsLate(const FleetView::Server& server, const FleetView::Owed& owed, absl::Time now) const {
  const absl::Duration usual = std::min(owed.usual, server.pace.Usual(owed.depth));
  return now - owed.asked > std::max(policy_.options_.least_hedge, usual * late_);
}

bool LatePolicy::Limits::IsSuspect(const FleetView::Server& server, absl::Time now) const {
  const absl::Duration usual = std::min(server.silent_usual, server.pace.Usual(1));
  return now - server.silent_since > std::max(policy_.options_.least_hedge, usual * rare_);
}

bool LatePolicy::Limits::IsLost(ServerId id, const FleetView::Server& server, const FleetView::Owed& owed,
                                absl::Time now) const {
  const absl::Duration deadline = Deadline(id, std::min(owed.usual, server.pace.Usual(owed.depth)));
  if (now - owed.asked < deadline) return false;
  // Servers answer in order, but for what their workers have in hand. So a span that no later one overtook may still
  // come from a server that answers.
  const int workers = std::max(server.info.parallelism, server.info.workers);
  const bool overtaken = owed.number + workers < server.last_answered;
  return overtaken || now - server.answered >= deadline;
}

bool LatePolicy::Limits::Hangs(ServerId id, const FleetView::Server& server, absl::Time now) const {
  const absl::Duration usual = std::min(server.silent_usual, server.pace.Usual(server.owed_count() + 1));
  return now - server.silent_since >= Deadline(id, usual) * kHungDeadlines;
}

absl::Duration LatePolicy::Limits::Deadline(ServerId id, absl::Duration usual) const {
  const auto found = policy_.patience_.find(id);
  const double patience = found == policy_.patience_.end() ? 1 : found->second;
  if (!policy_.answered_) return policy_.options_.first_deadline * patience;
  return std::max(policy_.options_.least_deadline, usual * rare_ * kDeadlineFactor) * patience;
}

}  // namespace stoker
