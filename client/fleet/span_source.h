#ifndef STOKER_CLIENT_FLEET_SPAN_SOURCE_H_
#define STOKER_CLIENT_FLEET_SPAN_SOURCE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/fleet/client.h"
#include "client/fleet/links.h"
#include "client/fleet/stats.h"
#include "client/receive/span_stream.h"
#include "client/schedule/scheduler.h"

namespace stoker {

// Fetches spans from a fleet of servers: keeps a stream to each, asks as the scheduler says, copies what comes to where
// it belongs, and asks again for what was lost. Servers that go away, or stay silent past a deadline, are tried again,
// with growing pauses; those that come back, or appear under a name, are used from then on; one whose dataset or pixels
// differ is not, and where all differ, what is needed fails. links.h knows the connections, scheduler.h what is asked
// from whom.
//
// Thread-safe. Calls back on the transport's thread and its own, without any lock. Must be shut down before it is let
// go.
class SpanSource : public std::enable_shared_from_this<SpanSource> {
 public:
  struct Options {
    Client* client = nullptr;          // Outlives Shutdown().
    v1::Open open;                     // Each stream is opened with it.
    v1::DescribeResponse description;  // Every server must agree with it.
    Scheduler::Options scheduler;
  };

  // One span to fetch.
  struct Request {
    SpanId span;
    // Where each field's bytes go, in a span's order. They may be written to until this request's copy of `owner` is
    // let go, which is after `done` was called or Forget returned.
    std::vector<std::span<uint8_t>> destinations;
    std::shared_ptr<void> owner;  // Keeps the destinations.
    // Called once, with the header of the span that came; or with DataLoss (a sample's bytes are bad),
    // FailedPrecondition (the pipeline does not fit them, or every server has other data now), or Unavailable (every
    // server failed the span; the message has each one's reason).
    std::function<void(absl::StatusOr<v1::SpanHeader>)> done;
  };
  using Ticket = Scheduler::Ticket;

  explicit SpanSource(Options options);

  // Begins to connect. Call once.
  void Start();

  // Ends all streams and waits for their end. No callback comes after it.
  void Shutdown();

  // Fetches spans, which are needed in this order and after all those before. Returns a ticket for each.
  std::vector<Ticket> Fetch(std::vector<Request> requests);

  // Drops what is needed no more. A `done` that is being called meanwhile may still be under way; no other is called.
  void Forget(const std::set<Ticket>& tickets);

  FleetStats stats() const;

  // Why servers are not used now, for an error: "a:7077: connection refused; b:7077: …".
  std::string Problems() const;

 private:
  class Listener;

  // The rounds of the poller's thread.
  void Poll() ABSL_LOCKS_EXCLUDED(mutex_);
  void UpdateMembers() ABSL_LOCKS_EXCLUDED(mutex_);
  void Connect() ABSL_LOCKS_EXCLUDED(mutex_);
  void Expire() ABSL_LOCKS_EXCLUDED(mutex_);
  void RefuseOtherData() ABSL_LOCKS_EXCLUDED(mutex_);

  // A stream that is given up for staying silent, and the connection that it has.
  struct Hopeless {
    std::string address;
    int connection = 0;
    std::shared_ptr<SpanStream> stream;
  };
  Hopeless HopelessOf(int link) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Ends such streams, and their connections: the fault may be the connection's alone.
  void GiveUp(const std::vector<Hopeless>& all) ABSL_LOCKS_EXCLUDED(mutex_);

  // What a stream of a link tells, see SpanStream::Handler.
  absl::Status OnOpened(int link, const v1::Opened& opened) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnSpan(int link, const SpanMessage& span) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnDrain(int link) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnClosed(int link, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  // OnSpan's parts.
  absl::Status CheckShape(uint64_t stream_key, const SpanMessage& span) const;
  void OnGoodSpan(int link, Ticket ticket, const SpanMessage& span, absl::Time begun) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnFailedSpan(int link, Ticket ticket, const v1::Error& error) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnGarbled(int link, Ticket ticket, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Asks servers for what the scheduler says. To be called after whatever may have changed that. With `hedge`, also
  // asks for what is late.
  void SendWants(bool hedge = false) ABSL_LOCKS_EXCLUDED(mutex_);

  // What to take back from which stream. It is sent without the lock.
  using Cancels = std::vector<std::pair<std::shared_ptr<SpanStream>, SpanId>>;
  void AddCancels(const std::vector<Scheduler::Assignment>& asked, Cancels& cancels) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Takes a ticket's request out, or null if it was forgotten.
  std::unique_ptr<Request> TakeRequest(Ticket ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Client* const client_;  // This does not own it: the transport's thread may destroy this, but no client.
  const v1::Open open_;
  const v1::DescribeResponse description_;

  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Scheduler scheduler_ ABSL_GUARDED_BY(mutex_);  // Its ServerIds are those of links_.
  Links links_ ABSL_GUARDED_BY(mutex_);
  int streams_ ABSL_GUARDED_BY(mutex_) = 0;  // Those that may still call back.
  std::map<Ticket, std::unique_ptr<Request>> requests_ ABSL_GUARDED_BY(mutex_);
  std::minstd_rand jitter_ ABSL_GUARDED_BY(mutex_);
  FleetStats totals_ ABSL_GUARDED_BY(mutex_);  // All but `servers` and `hedged_spans`.

  std::optional<uint64_t> look_ups_;  // Client::LookUps() that the links are of. Only the poller's thread touches it.
  std::thread poller_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_FLEET_SPAN_SOURCE_H_
