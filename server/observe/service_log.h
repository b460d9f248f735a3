#ifndef STOKER_SERVER_OBSERVE_SERVICE_LOG_H_
#define STOKER_SERVER_OBSERVE_SERVICE_LOG_H_

#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/observe/line_budget.h"
#include "server/observe/metrics.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Counts what all streams of a server do, for one line of log now and then in place of lines for each stream.
// Thread-safe.
class ServiceLog {
 public:
  void Opened(const std::string& dataset);
  void Refused();                          // A stream ended before it was open.
  void Ended(const std::string& dataset);  // A stream ended that was open.

  // A span with this header was made, or could not be made.
  void Made(const std::string& dataset, const v1::SpanHeader& header);

  // A span of so many bytes was taken by the client's connection, which took so long.
  void Sent(const std::string& dataset, uint64_t bytes, absl::Duration taken) { metrics_.Sent(dataset, bytes, taken); }

  // A client of the dataset says that it waited so long for batches, of which `share` is this server's.
  void Waited(const std::string& dataset, absl::Duration waited, absl::Duration share) {
    metrics_.Waited(dataset, waited, share);
  }

  // A call ended, see Metrics::Called.
  void Called(const std::string& method, absl::StatusCode code, absl::Duration taken) {
    metrics_.Called(method, code, taken);
  }

  // How many streams were opened ever, and how many of these are open.
  struct Streams {
    uint64_t opened = 0, open = 0;
  };
  Streams streams() const;

  // The same counts and more, for Prometheus.
  Metrics& metrics() { return metrics_; }

  // Bounds the lines that peers cause.
  LineBudget& budget() { return budget_; }

  // What was done since the last call: "1 streams opened, 0 ended, 0 refused, 2 open now; 16 spans, 4096 samples, 0
  // substituted, 0 spans failed". Empty where nothing was.
  std::string TakeRecent();

  // The same of all that was done.
  std::string Total() const;

 private:
  struct Counts {
    uint64_t opened = 0, ended = 0, refused = 0;
    uint64_t spans = 0, samples = 0, substituted = 0, failed = 0;
    bool operator==(const Counts&) const = default;
  };
  std::string Text(const Counts& since) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  LineBudget budget_;
  Metrics metrics_;
  mutable absl::Mutex mutex_;
  Counts total_ ABSL_GUARDED_BY(mutex_);
  Counts told_ ABSL_GUARDED_BY(mutex_);  // The total at the last TakeRecent().
};

}  // namespace stoker

#endif  // STOKER_SERVER_OBSERVE_SERVICE_LOG_H_
