#ifndef STOKER_SERVER_OBSERVE_STREAM_LOG_H_
#define STOKER_SERVER_OBSERVE_STREAM_LOG_H_

#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Logs for operators what happens to one stream: its begin, its end, and the first samples that went wrong, by name. It
// counts what it does not print, and its last line has the counts. Thread-safe.
class StreamLog {
 public:
  explicit StreamLog(std::string peer) : peer_(std::move(peer)) {}

  void Opened(const std::string& dataset);

  // A span with this header was made, or could not be made.
  void Made(const v1::SpanHeader& header);

  void Ended(const absl::Status& status);

 private:
  // After this many bad samples and failed spans, further ones are counted but not named.
  static constexpr uint64_t kMaxNamed = 20;

  const std::string peer_;

  absl::Mutex mutex_;
  std::string dataset_ ABSL_GUARDED_BY(mutex_);
  uint64_t spans_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t samples_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t substituted_ ABSL_GUARDED_BY(mutex_) = 0;  // samples
  uint64_t failed_ ABSL_GUARDED_BY(mutex_) = 0;       // spans
};

}  // namespace stoker

#endif  // STOKER_SERVER_OBSERVE_STREAM_LOG_H_
