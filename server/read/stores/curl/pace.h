#ifndef STOKER_SERVER_READ_STORES_CURL_PACE_H_
#define STOKER_SERVER_READ_STORES_CURL_PACE_H_

#include <algorithm>
#include <cstdint>
#include <random>

#include "absl/time/time.h"

namespace stoker {

// How many requests may be in flight at a server that throttles: as TCP finds the rate of a network, half as many once
// it throttles, and one more after so many answers as may be in flight. One thread at a time.
class Pace {
 public:
  // Requires most > 0.
  explicit Pace(int most) : most_(most), allowed_(most) {}

  // Whether one more may start beside `in_flight` others.
  bool MayStart(int in_flight) const { return in_flight < static_cast<int>(allowed_); }

  // Counts a request that was answered.
  void OnAnswer() { allowed_ = std::min<double>(most_, allowed_ + 1 / allowed_); }

  // Counts a request that was throttled, having started at `started`. Those that were in flight together halve the pace
  // once.
  void OnThrottled(absl::Time started, absl::Time now) {
    if (started < halved_) return;
    allowed_ = std::max(1.0, allowed_ / 2);
    halved_ = now;
  }

  int allowed() const { return static_cast<int>(allowed_); }

 private:
  const int most_;
  double allowed_;
  absl::Time halved_ = absl::InfinitePast();
};

// Returns how long to wait after the try number `tried`, the first of which is 1: twice as long each time, from `first`
// to `longest`, of which a random half to whole, so that those who failed together do not come back together.
template <typename Random>
absl::Duration BackOff(int tried, absl::Duration first, absl::Duration longest, Random& random) {
  absl::Duration pause = first;
  for (int i = 1; i < tried && pause < longest; ++i) pause *= 2;
  return std::min(pause, longest) * std::uniform_real_distribution<double>(0.5, 1)(random);
}

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_CURL_PACE_H_
