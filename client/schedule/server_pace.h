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

  // The server asks to owe at least `window` spans; 0: as many as is best by what is measured.
  explicit ServerPace(int parallelism, int window = 0) : parallelism_(parallelism), least_window_(window) {}

  // A span came `latency` after it was asked for, as the `depth`-th owed then. It waited for `queued` of that in the
  // server's queue, as the server says.
  void Arrived(absl::Duration latency, absl::Duration queued, int depth);

  // A span that was asked for `elapsed` ago, as the `depth`-th, has not come yet. This raises Estimate until the next
  // span comes.
  void Outstanding(absl::Duration elapsed, int depth);

  // Assumes the share_of_one() of another server until the first span comes; does nothing after that.
  void Assume(absl::Duration share_of_one) {
    if (!known_) share_ = share_of_one / parallelism_;
  }

  // Whether any span came.
  bool known() const { return known_; }

  // How long the `depth`-th span owed usually takes, from answers alone.
  absl::Duration Usual(int depth) const;

  // How long the `depth`-th span owed will take: Usual, or more where what is outstanding says so.
  absl::Duration Estimate(int depth) const;

  // Spans per second that the server makes when it is kept busy, as Estimate has it.
  double rate() const { return 1 / absl::ToDoubleSeconds(std::max(share_, silent_share_)); }

  // The share that the server would have with one worker: the time of one span.
  absl::Duration share_of_one() const { return share_ * parallelism_; }

  // Spans that the server should owe: those in work and on the way, by Little's law, and one more for each worker. It
  // is fewer than that where spans wait long in the server's queue, since other jobs fill it then: to ask for more
  // would make all wait longer, and none faster. But it is never fewer than the server asked for.
  int Window() const;

 private:
  int parallelism_;
  int least_window_;
  bool known_ = false;
  absl::Duration share_ = absl::Seconds(1);             // A moving average; a guess until a span came.
  absl::Duration silent_share_;                         // What the share would be if what is outstanding came now.
  absl::Duration queued_;                               // The wait in the queue; it falls at once and rises slowly.
  absl::Duration usually_unqueued_;                     // A moving average of the latency without that wait.
  absl::Duration unqueued_ = absl::InfiniteDuration();  // The least latency without that wait.
};

}  // namespace stoker

#endif  // STOKER_CLIENT_SCHEDULE_SERVER_PACE_H_
