#ifndef STOKER_CLIENT_SCHEDULE_SERVER_PACE_H_
#define STOKER_CLIENT_SCHEDULE_SERVER_PACE_H_

#include <algorithm>

#include "absl/time/time.h"

namespace stoker {

// How fast one server answers one client, learned from its answers. A value.
//
// A server that works on `parallelism` spans at once makes the n-th span owed to us after about max(n, parallelism)
// times one span's share of its time. That share is what is measured: it holds for a server that is asked for little
// as well as for one that is kept busy, and grows where other jobs, a slow disk or the network take their part.
class ServerPace {
 public:
  static constexpr int kLeastWindow = 3, kMostWindow = 512;

  explicit ServerPace(int parallelism) : parallelism_(parallelism) {}

  // A span came `latency` after it was asked for, as the `depth`-th then owed. In the server's queue it waited for
  // `queued`.
  void Arrived(absl::Duration latency, absl::Duration queued, int depth);

  // A span that was asked for `elapsed` ago, as the `depth`-th, has not come yet. Held against it until the next one
  // comes.
  void Outstanding(absl::Duration elapsed, int depth);

  // Assumes another server's share, for the same parallelism, until the first span comes.
  void Assume(absl::Duration share_of_one) {
    if (!known_) share_ = share_of_one / parallelism_;
  }

  bool known() const { return known_; }

  // How long the `depth`-th span owed usually takes; and how long it will take, for all that is known now.
  absl::Duration Usual(int depth) const;
  absl::Duration Estimate(int depth) const;

  // Spans per second that it makes when it is kept busy, for all that is known now.
  double rate() const { return 1 / absl::ToDoubleSeconds(std::max(share_, silent_share_)); }

  // What share it would have with one worker.
  absl::Duration share_of_one() const { return share_ * parallelism_; }

  // Spans that it should owe: those in work and on the way, by Little's law, and one more for each worker. Fewer of
  // these where they wait long in its queue, which other jobs fill then: more would make all wait longer, and none
  // faster.
  int Window() const;

 private:
  int parallelism_;
  bool known_ = false;
  absl::Duration share_ = absl::Seconds(1);
  absl::Duration silent_share_;                         // At least so much, if what is outstanding came now.
  absl::Duration queued_;                               // In its queue, at least: it falls at once and rises slowly.
  absl::Duration usually_unqueued_;                     // The latency without that.
  absl::Duration unqueued_ = absl::InfiniteDuration();  // The least latency without the wait in its queue.
};

}  // namespace stoker

#endif  // STOKER_CLIENT_SCHEDULE_SERVER_PACE_H_
