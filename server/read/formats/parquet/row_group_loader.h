#ifndef STOKER_SERVER_READ_FORMATS_PARQUET_ROW_GROUP_LOADER_H_
#define STOKER_SERVER_READ_FORMATS_PARQUET_ROW_GROUP_LOADER_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace stoker {

// Threads that load row groups ahead of their use, in the order in which they were asked to. They begin with the first
// task. Thread-safe. The destructor waits for all tasks; it must not be called by one.
class RowGroupLoader {
 public:
  explicit RowGroupLoader(int threads) : most_threads_(threads) {}
  RowGroupLoader(const RowGroupLoader&) = delete;
  RowGroupLoader& operator=(const RowGroupLoader&) = delete;
  ~RowGroupLoader();

  void Add(std::function<void()> task);

 private:
  void Run();
  bool HasTaskOrEnds() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return ending_ || !tasks_.empty(); }

  const int most_threads_;
  absl::Mutex mutex_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_PARQUET_ROW_GROUP_LOADER_H_
