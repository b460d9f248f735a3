#ifndef STOKER_SERVER_OBSERVE_AUDIT_LOG_H_
#define STOKER_SERVER_OBSERVE_AUDIT_LOG_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace stoker {

// Logs who opened a stream of which dataset, and who was refused: a line for each, at level info. Streams that are
// opened and those that are refused may have kBurst lines at once and kLinesPerSecond in the long run each, so that
// neither hides the other; the next line says how many were left out. Thread-safe.
class AuditLog {
 public:
  static constexpr int kBurst = 100;
  static constexpr int kLinesPerSecond = 10;

  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  using Sink = std::function<void(const std::string& line)>;

  // Tests bring a clock and a sink of their own; by default lines go to the log.
  AuditLog();
  AuditLog(Clock now, Sink sink) : now_(std::move(now)), sink_(std::move(sink)) {}

  struct Who {
    std::string identity;  // empty: unknown
    std::string proof;     // such as "certificate"
    std::string peer;      // gRPC's name of the address
  };

  void Opened(const Who& who, const std::string& dataset);

  // `dataset` is what was asked for, and empty where nothing was.
  void Refused(const Who& who, const std::string& dataset, const absl::Status& why);

 private:
  // What one kind of lines may still write. It fills up with time.
  struct Bucket {
    double lines = kBurst;
    std::chrono::steady_clock::time_point filled = {};
    uint64_t left_out = 0;
  };

  // True if a line may be written now; `left_out` is then the number of those before it that were not.
  bool Take(Bucket& bucket, uint64_t& left_out) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Write(bool opened, const std::string& line);

  const Clock now_;
  const Sink sink_;

  absl::Mutex mutex_;
  Bucket opened_ ABSL_GUARDED_BY(mutex_), refused_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_OBSERVE_AUDIT_LOG_H_
