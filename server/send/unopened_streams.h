#ifndef STOKER_SERVER_SEND_UNOPENED_STREAMS_H_
#define STOKER_SERVER_SEND_UNOPENED_STREAMS_H_

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace stoker {

// The streams that were begun and did not send `open` yet. They cost memory and no engine has an account for them, so
// they are few, in all and for each host, and each has a time to open.
//
// Thread-safe. It must outlive its tickets.
class UnopenedStreams {
 public:
  struct Limits {
    size_t streams = 2048;          // in all
    size_t streams_per_host = 256;  // a host with many ranks, or many hosts behind one address, open at once
    absl::Duration timeout = absl::Seconds(10);
  };

  // The elapsed time of a clock that never jumps.
  using Clock = std::function<absl::Duration()>;
  static absl::Duration SteadyTime();

  UnopenedStreams() : UnopenedStreams(Limits{}, SteadyTime) {}
  UnopenedStreams(const Limits& limits, Clock clock) : limits_(limits), clock_(std::move(clock)) {}

  // One stream's place. Its destruction gives the place back.
  class Ticket;

  // A place for a stream of `host`; null if there is none left. `expire` is
  // called at most once, by Expire, unless the ticket is destroyed before.
  std::unique_ptr<Ticket> Begin(const std::string& host, std::function<void(const absl::Status&)> expire);

  // Ends the streams whose time is up. Returns their number. To be called about once a second.
  size_t Expire();

  size_t size() const;

 private:
  struct Stream {
    absl::Duration expires;
    std::string host;
    std::function<void(const absl::Status&)> expire;
  };
  using Streams = std::list<Stream>;  // In the order in which they began, which is that in which they expire.

  void End(Streams::iterator stream);
  void Uncount(Streams::iterator stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Limits limits_;
  const Clock clock_;
  mutable absl::Mutex mutex_;
  Streams streams_ ABSL_GUARDED_BY(mutex_);
  Streams expired_ ABSL_GUARDED_BY(mutex_);  // Out of the count, while their tickets still point at them.
  std::map<std::string, size_t> of_host_ ABSL_GUARDED_BY(mutex_);
};

class UnopenedStreams::Ticket {
 public:
  Ticket(UnopenedStreams* streams, Streams::iterator stream) : streams_(streams), stream_(stream) {}
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket() { streams_->End(stream_); }

 private:
  UnopenedStreams* const streams_;
  const Streams::iterator stream_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_SEND_UNOPENED_STREAMS_H_
