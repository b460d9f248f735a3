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
#include "client/fleet/span_checks.h"
#include "client/fleet/stats.h"
#include "client/receive/span_stream.h"
#include "client/schedule/scheduler.h"
#include "common/fields/span_layout.h"

namespace stoker {

// Fetches spans from a fleet of servers: keeps a stream to each, asks as the scheduler says, copies what comes to where
// it belongs, and asks again for what was lost. Servers that go away, or stay silent past a deadline, are tried again,
// with growing pauses; those that come back, or appear under a name, are used from then on; one whose dataset or pixels
// differ is not, and where all differ, what is needed fails. links.h knows the connections, scheduler.h what is asked
// from whom. A share of the spans is checked: another server makes them too, see span_checks.h.
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
    // How long the job has waited for spans so far, which servers are told.
    std::function<absl::Duration()> waited = [] { return absl::ZeroDuration(); };
    double verify = 0;  // The share of spans to check, from 0 to 1, where there are two servers or more.
    // Called with DataLoss, which names the sample and the servers, for the first differences that are found.
    std::function<void(const absl::Status&)> on_difference = [](const absl::Status&) {};
  };

  // One span to fetch.
  struct Request {
    SpanId span;
    // Where each field's samples go, and of those that differ in size the sizes. They may be written to until this
    // request's copy of `owner` is let go, which is after `done` was called or Forget returned.
    std::vector<std::span<uint8_t>> destinations;
    std::shared_ptr<void> owner;  // Keeps the destinations.
    // Returns room for a span's samples of a field whose samples differ in size. It is called for each such field, in
    // order, and again where a span comes anew; what was returned last has the samples. An error ends the request.
    std::function<absl::StatusOr<std::span<uint8_t>>(size_t field, uint64_t bytes)> room;
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

  // Waits until `epoch` and those before have no check that could be made with the servers that are here, or `until`.
  // True if that is so; what the checks found was told then.
  bool AwaitChecks(uint64_t epoch, absl::Time until) ABSL_LOCKS_EXCLUDED(mutex_);

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
  void Report() ABSL_LOCKS_EXCLUDED(mutex_);

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
  void OnGoodSpan(int link, Ticket ticket, const SpanMessage& span, std::span<const FieldSamples> fields,
                  absl::Time begun) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnNoRoom(Ticket ticket, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Where the parts of a payload go, in its order, and each field's samples there.
  struct Landing {
    std::vector<std::span<uint8_t>> destinations;
    std::vector<FieldSamples> fields;
  };

  // Returns where a request wants a span of its own, or the error of its `room`.
  absl::StatusOr<Landing> LandingOf(const Request& request, const v1::SpanHeader& header) const;

  // Copies a payload, and checks that its samples can be. DataLoss where its bytes are not those that were sent.
  absl::Status Land(const SpanMessage& span, const Landing& landing) const;
  void OnFailedSpan(int link, Ticket ticket, const v1::Error& error) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnGarbled(int link, Ticket ticket, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Checks, in span_source_checks.cc. The first begins one of a span that came; the next two tell what another server
  // made of it, or that it could make nothing.
  void BeginCheck(const SpanId& span, Making making) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnCheck(int link, Ticket ticket, const SpanMessage& span) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnFailedCheck(int link, Ticket ticket, const v1::Error& error) ABSL_LOCKS_EXCLUDED(mutex_);

  // A server found a sample of a needed span bad. True if another one is asked first, which may not.
  bool AskAnother(int link, Ticket ticket, const v1::Error& error) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // A poller's round: fails such spans where no other server is there to ask, or about to be.
  void SettleRefusals() ABSL_LOCKS_EXCLUDED(mutex_);

  // Adds what a server made, and asks a third one where two differ.
  void Judge(Ticket ticket, Making making) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // A poller's round: tells differences that are found, or that no other server is there to decide.
  void TellDifferences() ABSL_LOCKS_EXCLUDED(mutex_);
  void Tell(const SpanCheck& difference) ABSL_LOCKS_EXCLUDED(mutex_);

  // The name of a sample at one of these servers; empty if it cannot be had in a moment.
  std::string NameOf(uint64_t sample_id, const std::vector<Making>& servers) const;

  // Whether the check's span lies in an epoch up to `epoch`, and it may still be answered.
  bool IsOpen(Ticket ticket, const SpanCheck& check, uint64_t epoch) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Asks servers for what the scheduler says. To be called after whatever may have changed that. With `hedge`, also
  // asks for what is late.
  void SendWants(bool hedge = false) ABSL_LOCKS_EXCLUDED(mutex_);

  // What to take back from which stream. It is sent without the lock.
  using Cancels = std::vector<std::pair<std::shared_ptr<SpanStream>, SpanId>>;
  void AddCancels(const std::vector<Scheduler::Assignment>& asked, Cancels& cancels) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // A request that was not answered yet.
  struct Pending : Request {
    std::optional<Making> refusal;  // A server found a sample bad; another one is asked.
  };

  // Takes a ticket's request out, or null if it was forgotten.
  std::unique_ptr<Pending> TakeRequest(Ticket ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Client* const client_;  // This does not own it: the transport's thread may destroy this, but no client.
  const v1::Open open_;
  const v1::DescribeResponse description_;
  const std::vector<v1::Field> fields_;  // the description's
  const SpanLayout layout_;              // of these
  const std::function<absl::Duration()> waited_;
  const double verify_;
  const std::function<void(const absl::Status&)> on_difference_;
  const uint64_t secret_;  // See LookAt.

  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Scheduler scheduler_ ABSL_GUARDED_BY(mutex_);  // Its ServerIds are those of links_.
  Links links_ ABSL_GUARDED_BY(mutex_);
  int streams_ ABSL_GUARDED_BY(mutex_) = 0;  // Those that may still call back.
  std::map<Ticket, std::unique_ptr<Pending>> requests_ ABSL_GUARDED_BY(mutex_);
  std::minstd_rand jitter_ ABSL_GUARDED_BY(mutex_);
  FleetStats totals_ ABSL_GUARDED_BY(mutex_);  // All but `servers` and `hedged_spans`.
  std::map<Ticket, SpanCheck> checks_ ABSL_GUARDED_BY(mutex_);
  std::vector<SpanCheck> differences_ ABSL_GUARDED_BY(mutex_);  // Those that are found, and not told yet.
  bool telling_ ABSL_GUARDED_BY(mutex_) = false;
  absl::CondVar checked_;  // Signalled when there are fewer of them.

  // Only the poller's thread touches these.
  std::optional<uint64_t> look_ups_;  // Client::LookUps() that the links are of.
  absl::Duration reported_;           // What servers were told of `waited`,
  absl::Time report_at_;              // and when they are told again.
  std::thread poller_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_FLEET_SPAN_SOURCE_H_
