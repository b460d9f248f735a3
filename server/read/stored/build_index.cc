#include "server/read/stored/build_index.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// What the threads share. Shards are appended in order, as soon as those before them are there.
struct Build {
  absl::Mutex mutex;
  absl::Status status ABSL_GUARDED_BY(mutex);
  std::vector<std::optional<ShardIndex::Rows>> rows ABSL_GUARDED_BY(mutex);
  size_t appended ABSL_GUARDED_BY(mutex) = 0;
  uint64_t found ABSL_GUARDED_BY(mutex) = 0;
  ShardIndex index ABSL_GUARDED_BY(mutex);
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
};

}  // namespace

absl::StatusOr<ShardIndex> BuildIndex(Store& store, const ShardFormat& format, std::vector<ObjectInfo> objects,
                                      int threads, const std::function<void(uint64_t samples)>& progress,
                                      const std::atomic<bool>* stop) {
  Build build;
  {
    absl::MutexLock lock(&build.mutex);
    build.rows.resize(objects.size());
    build.index.parts = format.parts();
  }
  const auto work = [&] {
    for (size_t i; !build.failed && !(stop != nullptr && *stop) && (i = build.next++) < objects.size();) {
      auto rows = format.Index(store, objects[i]);
      absl::MutexLock lock(&build.mutex);
      build.status.Update(rows.status());
      build.failed = !build.status.ok();
      if (!rows.ok()) return;
      build.found += rows->size();
      build.rows[i].emplace(*std::move(rows));
      for (size_t& at = build.appended; at < objects.size() && build.rows[at].has_value(); ++at) {
        build.index.Append(objects[at], *build.rows[at]);
        build.rows[at].reset();
      }
      if (progress) progress(build.found);
    }
  };
  std::vector<std::thread> workers;
  for (size_t i = 1; i < std::min<size_t>(std::max(threads, 1), objects.size()); ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  absl::MutexLock lock(&build.mutex);
  STOKER_RETURN_IF_ERROR(build.status);
  if (build.appended < objects.size()) return absl::CancelledError("stopped");
  return std::move(build.index);
}

}  // namespace stoker
