#ifndef STOKER_SERVER_OBSERVE_STREAM_LOG_H_
#define STOKER_SERVER_OBSERVE_STREAM_LOG_H_

#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// What operators read of one stream: its begin and end, and the samples that went wrong, the first of them by
// name. Counts what it does not print. Thread-safe.
class StreamLog {
 public:
  explicit StreamLog(std::string peer) : peer_(std::move(peer)) {}

  void Opened(const std::string& dataset);
  void Made(const v1::SpanHeader& header);
  void Ended(const absl::Status& status);

 private:
  // Samples that are named before further ones are only counted.
  static constexpr uint64_t kMaxNamed = 20;

  const std::string peer_;

  absl::Mutex mutex_;
  std::string dataset_ ABSL_GUARDED_BY(mutex_);
  uint64_t spans_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t samples_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t substituted_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t failed_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker

#endif  // STOKER_SERVER_OBSERVE_STREAM_LOG_H_
