#include "client/schedule/server_pace.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

// The weight of a new measurement in an average, as TCP weighs round trips (RFC 6298).
constexpr double kWeight = 1.0 / 8;

// No share is below this: shares divide.
constexpr absl::Duration kLeastShare = absl::Microseconds(1);

// A queue is crowded where spans wait in it for more than so many times the latency that they have without it. One job
// alone keeps about one span queued for each worker, and so waits for about one latency.
constexpr double kFairQueue = 2;

// A window's spans beyond those for the workers, so that small servers too find another one when answers come together;
// also the least that a crowded queue leaves.
constexpr int kSpare = 2;

// The least latency rises by this part with each span, since routes change, and a minimum of all time would never rise.
constexpr double kForget = 1.0 / 1024;

}  // namespace

void ServerPace::Arrived(absl::Duration latency, absl::Duration queued, int depth) {
  const absl::Duration share = std::max(latency / std::max(depth, parallelism_), kLeastShare);
  share_ = known_ ? share_ + (share - share_) * kWeight : share;
  queued = std::clamp(queued, absl::ZeroDuration(), latency);  // A server's word is not trusted.
  queued_ = known_ ? std::min(queued, queued_ + (queued - queued_) * kWeight) : queued;
  const absl::Duration unqueued = std::max(latency - queued, kLeastShare);
  usually_unqueued_ = known_ ? usually_unqueued_ + (unqueued - usually_unqueued_) * kWeight : unqueued;
  known_ = true;
  silent_share_ = absl::ZeroDuration();
  unqueued_ = std::min(unqueued, unqueued_ * (1 + kForget));
}

void ServerPace::Outstanding(absl::Duration elapsed, int depth) {
  silent_share_ = std::max(silent_share_, elapsed / std::max(depth, parallelism_));
}

absl::Duration ServerPace::Usual(int depth) const { return share_ * std::max(depth, parallelism_); }

absl::Duration ServerPace::Estimate(int depth) const {
  return std::max(share_, silent_share_) * std::max(depth, parallelism_);
}

int ServerPace::Window() const {
  const int least = std::clamp(least_window_, kLeastWindow, kMostWindow);
  if (!known_) return std::max(least, 2 * parallelism_ + kSpare);
  const double on_the_way = std::ceil(absl::FDivDuration(unqueued_, share_));
  const double crowded = std::max(1.0, absl::FDivDuration(queued_, usually_unqueued_ * kFairQueue));
  const double window = on_the_way + std::max<double>(kSpare, (parallelism_ + kSpare) / crowded);
  return static_cast<int>(std::clamp<double>(window, least, kMostWindow));
}

}  // namespace stoker
