#ifndef STOKER_CLIENT_SCHEDULE_LATE_POLICY_H_
#define STOKER_CLIENT_SCHEDULE_LATE_POLICY_H_

#include <map>
#include <optional>

#include "absl/time/time.h"
#include "client/schedule/fleet_view.h"
#include "client/schedule/lateness.h"

namespace stoker {

// Decides when an answer that does not come is late (a second server may be asked), when its server is suspect (what it
// owes may be asked for at no expense of the budget), when it is lost (it is taken back), and when its server hangs
// (it is disconnected). All follow from how long the fleet's own answers take.
//
// Pure: it has no clock. Single owner. Memory is in proportion to the servers that there ever were.
class LatePolicy {
 public:
  using ServerId = FleetView::ServerId;

  struct Options {
    absl::Duration least_deadline = absl::Seconds(2);     // No span is lost earlier.
    absl::Duration first_deadline = absl::Seconds(30);    // A span's deadline while no server has answered yet.
    absl::Duration least_hedge = absl::Milliseconds(50);  // No span is late earlier, and no server suspect.

    // The part of all spans that may be asked for twice. The very next span, and what a suspect server owes, do not
    // count.
    double hedges = 0.05;
  };

  explicit LatePolicy(const Options& options) : options_(options) {}

  // Servers that a span may be asked from at once. The very next span holds up the whole job, so it is worth more.
  static size_t MostServers(bool is_next) { return is_next ? 4 : 2; }

  // Learns from an answer that took `factor` times as long as was usual for that server; none where nothing was known
  // of the server yet.
  void Answered(ServerId id, std::optional<double> factor);

  // Gives a server that hung more time when it comes back.
  void Hung(ServerId id);

  // Earns a part of a hedge, for each span that came.
  void EarnHedge();

  // Whether the budget has a hedge left; and takes one from it.
  bool MayHedge() const { return hedge_budget_ >= 1; }
  void SpendHedge() { hedge_budget_ -= 1; }

  // What is too long, by the answers that came before limits() was called.
  class Limits {
   public:
    bool IsLate(const FleetView::Server& server, const FleetView::Owed& owed, absl::Time now) const;
    bool IsSuspect(const FleetView::Server& server, absl::Time now) const;
    bool IsLost(ServerId id, const FleetView::Server& server, const FleetView::Owed& owed, absl::Time now) const;
    bool Hangs(ServerId id, const FleetView::Server& server, absl::Time now) const;

   private:
    friend class LatePolicy;
    Limits(const LatePolicy& policy, double late, double rare) : policy_(policy), late_(late), rare_(rare) {}

    // How long an answer may take before it is lost, where it usually takes `usual`.
    absl::Duration Deadline(ServerId id, absl::Duration usual) const;

    const LatePolicy& policy_;
    const double late_, rare_;  // The factors over the usual latency that late and rare answers exceed.
  };

  // Requires that the policy outlives them.
  Limits limits() const;

 private:
  const Options options_;
  Lateness lateness_;
  bool answered_ = false;                // Whether any server ever answered.
  std::map<ServerId, double> patience_;  // A factor on a server's deadlines, above 1 after it hung.
  double hedge_budget_ = 1;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_SCHEDULE_LATE_POLICY_H_
