#ifndef STOKER_SERVER_READ_CACHED_MEMORY_TIER_H_
#define STOKER_SERVER_READ_CACHED_MEMORY_TIER_H_

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/read/cached/admission.h"
#include "server/read/cached/sample_key.h"

namespace stoker {

// The stored bytes of a sample. They never change.
using KeptBytes = std::shared_ptr<const std::vector<uint8_t>>;

// Keeps samples in memory, by their keys. See Admission for which.
//
// Thread-safe. The budget bounds the samples, with kEntryBytes for each. One that is given up while somebody holds it
// lives until it is let go; its holder must account for that.
class MemoryTier {
 public:
  static constexpr uint64_t kEntryBytes = 256;  // of tables and the allocator, beside the sample's own

  struct Stats {
    uint64_t bytes = 0, samples = 0;
  };

  MemoryTier(uint64_t budget_bytes, Admission::Kind kind) : budget_bytes_(budget_bytes), admission_(kind) {}

  bool enabled() const { return budget_bytes_ > 0; }

  // See Admission::ExpectBytes.
  void ExpectBytes(uint64_t bytes);

  // Somebody needs a sample of `size` bytes that is not here.
  void Ask(uint64_t size);

  // Returns the sample of `size` bytes that is kept under `key`, or null. It counts as a use, if it is there.
  KeptBytes Get(const SampleKey& key, uint64_t size);

  // Whether a sample is kept under `key`. It counts as no use.
  bool Has(const SampleKey& key) const;

  // Makes room for a sample of `size` bytes, where it is to be kept. The caller ends with Put or Release then.
  bool Reserve(uint64_t size);

  // Keeps a sample, for which there is room.
  void Put(const SampleKey& key, KeptBytes bytes);

  // Gives back the room of a sample that will not come.
  void Release(uint64_t size);

  Stats stats() const;

 private:
  struct Entry {
    SampleKey key;
    KeptBytes bytes;
    uint64_t used = 0;  // when it was, as Admission counts
  };
  using Entries = std::list<Entry>;

  const uint64_t budget_bytes_;

  mutable absl::Mutex mutex_;
  Admission admission_ ABSL_GUARDED_BY(mutex_);
  Entries entries_ ABSL_GUARDED_BY(mutex_);  // the one that was used last at the front
  std::unordered_map<SampleKey, Entries::iterator, HashOfSampleKey> by_key_ ABSL_GUARDED_BY(mutex_);
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of entries, and those that are reserved
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CACHED_MEMORY_TIER_H_
