#ifndef STOKER_SERVER_READ_CHILD_CHILD_POOL_H_
#define STOKER_SERVER_READ_CHILD_CHILD_POOL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/read/child/child_process.h"

namespace stoker {

// Children with one program, each of which answers one request at a time. They are started when they are needed, at
// most so many, and in place of those that ended. Thread-safe. Nothing may be asked of it while it ends.
class ChildPool {
 public:
  struct Options {
    ChildProcess::Options process;
    int most = 1;  // children at once
  };

  explicit ChildPool(Options options) : options_(std::move(options)) {}

  // Has a child answer, and waits until one is free. A request that ends its child is asked once more, of a new one.
  // Errors are DataLoss where that ends as well by a crash, or where the child says that what it was asked to read is
  // at fault, or takes too much memory; Unavailable where this machine is at fault, or time was over; NotFound where
  // there is no such program; and those of `fetch` (see ChildProcess), as they are.
  absl::StatusOr<ChildAnswer> Ask(const std::vector<std::span<const uint8_t>>& parts, uint64_t most_bytes,
                                  const ChildProcess::Fetch& fetch = nullptr);

  // Returns how many children were started so far.
  int started() const;

 private:
  absl::StatusOr<std::unique_ptr<ChildProcess>> Take();
  void Return(std::unique_ptr<ChildProcess> child);
  absl::StatusOr<ChildAnswer> AskOne(const std::vector<std::span<const uint8_t>>& parts, uint64_t most_bytes,
                                     const ChildProcess::Fetch& fetch);
  bool HasFree() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return !idle_.empty() || children_ < options_.most; }

  const Options options_;

  mutable absl::Mutex mutex_;
  std::vector<std::unique_ptr<ChildProcess>> idle_ ABSL_GUARDED_BY(mutex_);
  int children_ ABSL_GUARDED_BY(mutex_) = 0;  // with those that are asked
  int started_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CHILD_CHILD_POOL_H_
