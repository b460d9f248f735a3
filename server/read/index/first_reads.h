#ifndef STOKER_SERVER_READ_INDEX_FIRST_READS_H_
#define STOKER_SERVER_READ_INDEX_FIRST_READS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/read/index/published_index.h"
#include "server/read/stores/forwarding_store.h"

namespace stoker {

// Stores through which a format learns the fields of a dataset: one that remembers what it reads, and one that answers
// from what was remembered. So a format whose index lies beside its shards reads no shard when it is made, and needs
// nothing else for that. All else goes to the store below. Both say that they are remote, so that a format reads the
// same ranges wherever the dataset lies. Thread-safe.

// What is read beyond these bytes in all is not remembered.
inline constexpr uint64_t kMostFirstBytes = uint64_t{16} << 20;

// Remembers what is read.
class RecordingStore final : public ForwardingStore {
 public:
  explicit RecordingStore(std::shared_ptr<Store> store) : ForwardingStore(std::move(store)) {}

  // Returns what was read so far.
  std::vector<FirstRead> reads() const;

  bool is_remote() const override { return true; }
  void Read(const Range& range, Done done) override;

 private:
  void Remember(const Range& range);

  mutable absl::Mutex mutex_;
  std::vector<FirstRead> reads_ ABSL_GUARDED_BY(mutex_);
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of all of them
};

// Answers reads of objects that are unchanged (CheckUnchanged) from what was remembered, if they are of the same range.
class ReplayingStore final : public ForwardingStore {
 public:
  ReplayingStore(std::shared_ptr<Store> store, std::vector<FirstRead> reads, IndexPlace place)
      : ForwardingStore(std::move(store)), place_(std::move(place)), reads_(std::move(reads)) {}

  // Forgets what was remembered.
  void Forget();

  bool is_remote() const override { return true; }
  void Read(const Range& range, Done done) override;

 private:
  bool Replay(const Range& range) const;

  const IndexPlace place_;
  mutable absl::Mutex mutex_;
  std::vector<FirstRead> reads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_INDEX_FIRST_READS_H_
