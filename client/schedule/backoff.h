#ifndef STOKER_CLIENT_SCHEDULE_BACKOFF_H_
#define STOKER_CLIENT_SCHEDULE_BACKOFF_H_

#include <algorithm>

#include "absl/time/time.h"

namespace stoker {

// How long to leave a server alone whose connection ended. The pause grows each time, and has a random part, so that
// not all clients come back at once. A server that then serves for long is forgiven; one that comes and goes is not.
// A value.
class Backoff {
 public:
  static constexpr absl::Duration kFirst = absl::Milliseconds(100), kLongest = absl::Seconds(5);

  // A connection that served for so long makes the next pause the first again.
  static constexpr absl::Duration kForgiven = absl::Seconds(30);

  // The pause after a connection that served for `served`. `jitter` is a random number from 0 to 1, which decides half
  // of the pause.
  absl::Duration Pause(absl::Duration served, double jitter) {
    if (served >= kForgiven) pause_ = kFirst;
    const absl::Duration pause = pause_ * (0.5 + jitter / 2);
    pause_ = std::min(2 * pause_, kLongest);
    return pause;
  }

 private:
  absl::Duration pause_ = kFirst;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_SCHEDULE_BACKOFF_H_
