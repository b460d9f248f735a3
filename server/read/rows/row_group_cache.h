#ifndef STOKER_SERVER_READ_ROWS_ROW_GROUP_CACHE_H_
#define STOKER_SERVER_READ_ROWS_ROW_GROUP_CACHE_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/read/rows/row_group.h"

namespace stoker {

// Keeps decoded row groups. Threads that need one row group have one of them load it, and the others wait. Thread-safe.
//
// Row groups may be loaded ahead of their use, and are wanted until whoever wanted them lets them go. To make room for
// another row group ahead, nothing that is wanted is dropped; what has no room is loaded once there is some. A thread
// that needs a row group now may drop wanted ones; it drops the one first that is needed last.
//
// Row groups that nobody wants are dropped in this order. First go those whose rows were all used, the last used up
// before the others: an epoch uses each row once, so that this one is needed again last. Then goes what was used
// longest ago. In a simulation of block shuffle, a cache of two thirds of a dataset had half of the row groups that it
// was asked for; by last use alone it had a third.
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

  // About how many bytes a row group takes.
  struct Size {
    uint64_t loaded = 0;   // once it is there
    uint64_t loading = 0;  // beside these, while it is loaded
  };

  using Load = std::function<absl::StatusOr<std::unique_ptr<const RowGroup>>()>;

  // Returns the row group `number`, of whose rows the caller uses one. An error of `load` goes to all who wait;
  // DataLoss is kept, since bytes that are wrong stay so.
  absl::StatusOr<Used> Get(uint64_t number, const Size& size, const Load& load);

  // Wants the row group `number` until LetGo, and has it loaded if it is not there. `begin` is called once there is
  // room, in the order of the calls: now, or by the thread that made room, and never where somebody else loads it
  // meanwhile or nobody wants it any more. It is to see to the loading and to EndAhead, and must not block. `done` is
  // called once there is nothing to wait for: when whoever loads it has ended, else now, so that nobody waits for room.
  void LoadAhead(uint64_t number, const Size& size, std::function<void()> begin, std::function<void()> done);

  // Takes what was loaded since `begin`.
  void EndAhead(uint64_t number, absl::StatusOr<std::unique_ptr<const RowGroup>> loaded);

  // Ends what LoadAhead began, once for each call of it.
  void LetGo(uint64_t number);

 private:
  struct Entry {
    bool loading = true;
    absl::Status status;
    std::unique_ptr<const RowGroup> group;
    uint64_t bytes = 0;
    int users = 0;
    uint64_t used_rows = 0;                    // calls of Get; a row that was used twice is taken for two
    std::vector<std::function<void()>> waits;  // LoadAhead's, until it is loaded
    std::list<uint64_t>::iterator place;       // in order_, once it was loaded
  };

  // Counts a use of a row.
  void Use(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Those who want a row group.
  struct Wanted {
    int times = 0;
    bool is_pending = false;  // it is in pending_
  };

  // What is to be loaded ahead, and had no room.
  struct Pending {
    uint64_t number;
    Size size;
    std::function<void()> begin;
  };

  // Makes an entry that is loaded ahead, and returns it; null where it has no room.
  Entry* AddAhead(uint64_t number, const Size& size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Returns those of pending_ that may begin, and forgets them.
  std::vector<std::function<void()>> TakePending() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Waits until `bytes` more are free, dropping others.
  void MakeRoom(uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Drops what is to be dropped first, but nothing that is wanted unless it `may_drop_wanted`.
  bool DropOne(bool may_drop_wanted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasRoomFor(uint64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return bytes <= most_bytes_ && bytes_ <= most_bytes_ - bytes;
  }

  void Keep(uint64_t number, Entry& entry, absl::StatusOr<std::unique_ptr<const RowGroup>> loaded)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint64_t most_bytes_;

  absl::Mutex mutex_;
  absl::CondVar changed_;
  std::unordered_map<uint64_t, std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
  // Numbers of loaded entries, those to be dropped first at the end.
  std::list<uint64_t> order_ ABSL_GUARDED_BY(mutex_);
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of all entries
  std::unordered_map<uint64_t, Wanted> wanted_ ABSL_GUARDED_BY(mutex_);
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;             // threads that need room now
  std::list<Pending> pending_ ABSL_GUARDED_BY(mutex_);  // in the order of the calls
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_ROWS_ROW_GROUP_CACHE_H_
