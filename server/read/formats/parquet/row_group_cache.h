#ifndef STOKER_SERVER_READ_FORMATS_PARQUET_ROW_GROUP_CACHE_H_
#define STOKER_SERVER_READ_FORMATS_PARQUET_ROW_GROUP_CACHE_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/read/formats/parquet/parquet_reader.h"

namespace stoker {

// Keeps decoded row groups, those that were used last. Threads that need one row group have one of them load it, and
// the others wait. Thread-safe.
//
// Bounds: what is kept, used and loaded takes at most `most_bytes`, or as much as one row group alone, if that is more.
// A thread waits until there is room, so it must hold no row group of this cache when it asks for another.
class RowGroupCache {
  struct Entry;

 public:
  explicit RowGroupCache(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // A row group that is not dropped while this lives.
  class Used {
   public:
    Used(Used&& other) noexcept : cache_(other.cache_), entry_(std::move(other.entry_)) { other.entry_ = nullptr; }
    ~Used();
    const RowGroup& operator*() const;
    const RowGroup* operator->() const { return &**this; }

   private:
    friend class RowGroupCache;
    Used(RowGroupCache& cache, std::shared_ptr<Entry> entry) : cache_(&cache), entry_(std::move(entry)) {}
    RowGroupCache* cache_;
    std::shared_ptr<Entry> entry_;
  };

  using Load = std::function<absl::StatusOr<std::unique_ptr<const RowGroup>>()>;

  // Returns the row group `number`, which takes about `bytes` while `load` is called and after. An error of `load` goes
  // to all who wait; DataLoss is kept, since bytes that are wrong stay so.
  absl::StatusOr<Used> Get(uint64_t number, uint64_t bytes, const Load& load);

 private:
  struct Entry {
    bool loading = true;
    absl::Status status;
    std::unique_ptr<const RowGroup> group;
    uint64_t bytes = 0;
    int users = 0;
    std::list<uint64_t>::iterator used;  // its place in used_, once it was loaded
  };

  // Waits until `bytes` more are free, dropping what was used longest ago.
  void MakeRoom(uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool DropOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Keep(uint64_t number, Entry& entry, absl::StatusOr<std::unique_ptr<const RowGroup>> loaded)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint64_t most_bytes_;

  absl::Mutex mutex_;
  absl::CondVar changed_;
  std::unordered_map<uint64_t, std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
  std::list<uint64_t> used_ ABSL_GUARDED_BY(mutex_);  // numbers of loaded entries, the last used first
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;        // of all entries
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_PARQUET_ROW_GROUP_CACHE_H_
