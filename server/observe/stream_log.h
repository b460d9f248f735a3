#ifndef STOKER_SERVER_OBSERVE_STREAM_LOG_H_
#define STOKER_SERVER_OBSERVE_STREAM_LOG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/time/steady_time.h"
#include "server/observe/service_log.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Logs what happens to one stream: for operators the first samples that went wrong, by name, and for debugging its
// begin and its end. It counts what it does not print, and its last line has the counts. Thread-safe.
class StreamLog {
 public:
  // `peer` is gRPC's name of the client. `service` counts what all streams do, and bounds what they make the server
  // log.
  StreamLog(std::string peer, std::shared_ptr<ServiceLog> service)
      : peer_(std::move(peer)), service_(std::move(service)), begun_(SteadyNow()) {}

  void Opened(const std::string& dataset);

  // A span with this header was made, or could not be made.
  void Made(const v1::SpanHeader& header);

  // A span of so many bytes was taken by the client's connection, which took so long.
  void Sent(uint64_t bytes, absl::Duration taken);

  // The client says that it waited so long for batches since it said so last, and tells so on `streams` streams (0 is
  // taken for 1). More than can be is not counted.
  void Waited(absl::Duration waited, uint32_t streams);

  // What it did so far.
  struct Figures {
    std::string dataset;  // empty until it is open
    absl::Duration age, waited;
    uint64_t spans = 0, samples = 0, sent_bytes = 0;
  };
  Figures figures() const;

  // To be called once.
  void Ended(const absl::Status& status);

 private:
  // After this many bad samples and failed spans, further ones are counted but not named.
  static constexpr uint64_t kMaxNamed = 20;

  std::string dataset() ABSL_LOCKS_EXCLUDED(mutex_);

  // Logs a warning of a kind ("substituted"), if the budget of the peer's host allows.
  void Warn(const std::string& kind, const std::string& text);

  const std::string peer_;
  const std::shared_ptr<ServiceLog> service_;
  const absl::Time begun_;

  mutable absl::Mutex mutex_;
  bool opened_ ABSL_GUARDED_BY(mutex_) = false;
  std::string dataset_ ABSL_GUARDED_BY(mutex_);
  uint64_t spans_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t samples_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t substituted_ ABSL_GUARDED_BY(mutex_) = 0;  // samples
  uint64_t failed_ ABSL_GUARDED_BY(mutex_) = 0;       // spans
  uint64_t sent_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Duration waited_ ABSL_GUARDED_BY(mutex_);  // what the client reported
};

}  // namespace stoker

#endif  // STOKER_SERVER_OBSERVE_STREAM_LOG_H_
