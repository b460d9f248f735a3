#ifndef STOKER_SERVER_READ_FOR_EACH_H_
#define STOKER_SERVER_READ_FOR_EACH_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace stoker {

// Calls `work(thread, i)` for each i < count on several threads. After the first error no further call begins; that
// error is returned.
template <typename Work>
absl::Status ForEach(uint64_t count, int threads, const Work& work) {
  std::atomic<uint64_t> next = 0;
  std::atomic<bool> ended = false;
  absl::Mutex mutex;
  absl::Status first;
  {
    std::vector<std::jthread> running;
    for (int thread = 0; thread < threads && static_cast<uint64_t>(thread) < count; ++thread)
      running.emplace_back([&, thread] {
        for (uint64_t i; !ended && (i = next++) < count;) {
          const absl::Status status = work(thread, i);
          if (status.ok()) continue;
          ended = true;
          const absl::MutexLock lock(&mutex);
          first.Update(status);
        }
      });
  }
  return first;
}

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FOR_EACH_H_
