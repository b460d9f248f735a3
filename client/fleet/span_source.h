#ifndef STOKER_CLIENT_FLEET_SPAN_SOURCE_H_
#define STOKER_CLIENT_FLEET_SPAN_SOURCE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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
#include "client/fleet/stats.h"
#include "client/receive/span_stream.h"
#include "client/schedule/scheduler.h"

namespace stoker {

// Spans from a fleet of servers: keeps a stream to each, asks as the scheduler says, copies what comes to where it
// belongs, and asks again for what was lost. Servers that go away, or stay silent past a deadline, are tried again,
// with growing pauses; those that come back, or appear under a name, are used from then on; one whose dataset or pixels
// differ is not.
//
// Thread-safe. Calls back on the transport's thread, without any lock. Must be shut down before it is let go.
class SpanSource : public std::enable_shared_from_this<SpanSource> {
 public:
  struct Options {
    Client* client = nullptr;  // Outlives Shutdown().
    v1::Open open;
    v1::DescribeResponse description;  // What every server must agree with.
    Scheduler::Options scheduler;
  };

  // One span to fetch.
  struct Request {
    SpanId span;
    // Where each field's bytes go, in a span's order. Written to until `done` was called or Forget returned and
    // `owner` is let go.
    std::vector<std::span<uint8_t>> destinations;
    std::shared_ptr<void> owner;  // Keeps the destinations.
    // The header of the span that came; or DataLoss (the sample's bytes), FailedPrecondition (the pipeline), or
    // Unavailable (every server failed it, with each one's reason).
    std::function<void(absl::StatusOr<v1::SpanHeader>)> done;
  };
  using Ticket = Scheduler::Ticket;

  explicit SpanSource(Options options);

  // Begins to connect. Call once.
  void Start();

  // Ends all streams and waits for their end. No callback comes after it.
  void Shutdown();

  // Fetches spans, which are needed after all those before; a ticket for each.
  std::vector<Ticket> Fetch(std::vector<Request> requests);

  // Drops what is needed no more: `done` is not called for it from now on.
  void Forget(const std::set<Ticket>& tickets);

  FleetStats stats() const;

  // Why servers are not used now, for an error: "a:7077: connection refused; b:7077: …".
  std::string Problems() const;

 private:
  class Link;

  void Poll();
  void PollConnections() ABSL_LOCKS_EXCLUDED(mutex_);
  void Expire() ABSL_LOCKS_EXCLUDED(mutex_);
  void GiveUp(const Link& link) ABSL_LOCKS_EXCLUDED(mutex_);
  void Connect(Link& link) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void UpdateMembers();

  // What a link was told, see SpanStream::Handler.
  absl::Status OnOpened(Link& link, const v1::Opened& opened);
  void OnSpan(Link& link, const SpanMessage& span);
  void OnDrain(Link& link);
  void OnClosed(Link& link, const absl::Status& status);

  // OnSpan's parts.
  absl::Status CheckShape(const Link& link, const SpanMessage& span) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnFailedSpan(Link& link, Ticket ticket, const v1::Error& error);
  void OnGarbled(Link& link, Ticket ticket, const absl::Status& status);

  // Asks servers for what the scheduler says. Called without the lock, after whatever may have changed it. With
  // `hedge`, also for what is late.
  void SendWants(bool hedge = false) ABSL_LOCKS_EXCLUDED(mutex_);

  // What to take back from which stream.
  using Cancels = std::vector<std::pair<std::shared_ptr<SpanStream>, SpanId>>;
  void AddCancels(const std::vector<Scheduler::Assignment>& asked, Cancels& cancels) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Takes a ticket's request out, or null if it was forgotten.
  std::unique_ptr<Request> TakeRequest(Ticket ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Client* const client_;  // Not owned: the last owner of this may be the transport's own thread.
  const v1::Open open_;
  const v1::DescribeResponse description_;

  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Scheduler scheduler_ ABSL_GUARDED_BY(mutex_);
  std::map<int, std::shared_ptr<Link>> links_ ABSL_GUARDED_BY(mutex_);
  int next_link_ ABSL_GUARDED_BY(mutex_) = 0;
  int streams_ ABSL_GUARDED_BY(mutex_) = 0;  // that have not ended
  std::map<Ticket, std::unique_ptr<Request>> requests_ ABSL_GUARDED_BY(mutex_);
  std::minstd_rand jitter_ ABSL_GUARDED_BY(mutex_);

  uint64_t spans_ ABSL_GUARDED_BY(mutex_) = 0, bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t retried_ ABSL_GUARDED_BY(mutex_) = 0, cached_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Duration received_ ABSL_GUARDED_BY(mutex_);
  v1::StageTimes server_times_ ABSL_GUARDED_BY(mutex_);

  std::thread poller_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_FLEET_SPAN_SOURCE_H_
