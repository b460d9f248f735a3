#ifndef STOKER_SERVER_READ_CACHED_RAW_CACHE_H_
#define STOKER_SERVER_READ_CACHED_RAW_CACHE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/read/cached/admission.h"
#include "server/read/cached/disk_tier.h"
#include "server/read/cached/memory_tier.h"
#include "server/read/cached/sample_key.h"

namespace stoker {

// Keeps the stored bytes of samples that were read from slow storage, in memory and on a local disk, so that later
// epochs, other jobs and other datasets over the same objects need not read them again. It keeps what it is given:
// whoever has read a sample puts it, once its bytes have parsed.
//
// Thread-safe. One thread writes to the disk, from a queue that is bounded in bytes, and some read from it.
class RawCache {
 public:
  struct Options {
    uint64_t memory_bytes = 0;              // for samples that are kept in memory; 0: none are
    std::optional<DiskTier::Options> disk;  // none: nothing is kept on a disk
    int disk_threads = 8;                   // that read from the disk
    uint64_t queue_bytes = 32 << 20;        // of samples that wait to be written
    bool waits = false;                     // whether Put waits for room in the queue, rather than keep nothing
    Admission::Kind kind = Admission::Kind::kServing;
  };

  struct Stats {
    uint64_t memory_hits = 0, disk_hits = 0, misses = 0;  // samples, since the start
    uint64_t dropped = 0;  // samples that came faster than the disk took them, since the start
    MemoryTier::Stats memory;
    DiskTier::Stats disk;
  };

  // Where the disk cannot be used, `warn` of its options is told why, and the cache is without it.
  explicit RawCache(Options options);
  RawCache(const RawCache&) = delete;
  RawCache& operator=(const RawCache&) = delete;

  // Writes what waits to be written.
  ~RawCache();

  // Whether there is a disk.
  bool has_disk() const { return disk_ != nullptr; }

  // Tells of samples that may be asked for, all of `bytes`: see Admission.
  void AddDataset(uint64_t bytes);
  void RemoveDataset(uint64_t bytes);

  // Tells how many bytes others take of the disk's size, at any time: see DiskTier::SetOthers.
  void SetOthersOnDisk(uint64_t bytes) {
    if (disk_ != nullptr) disk_->SetOthers(bytes);
  }

  // Whether a sample is kept, as far as can be told without reading. It counts as no use.
  bool Has(const SampleKey& key) const;

  // Likewise on the disk, and it counts as a use.
  bool UseOnDisk(const SampleKey& key) { return disk_ != nullptr && disk_->Use(key); }

  // Counts a sample of `size` bytes that somebody needs, and for which Has() said no.
  void Miss(uint64_t size);

  // Returns the sample of `size` bytes, or null where it is not in memory.
  KeptBytes GetFromMemory(const SampleKey& key, uint64_t size);

  // Fills `into`, which has the sample's size, from the disk, and calls `done` on a thread of ours, where it must not
  // block: with false where the sample is not kept. Then `into` has any bytes. The memory must live until then.
  void ReadFromDisk(const SampleKey& key, std::span<uint8_t> into, std::function<void(bool)> done);

  // Fills `into` from memory or the disk, and waits for it. False where the sample is not kept.
  bool Read(const SampleKey& key, std::span<uint8_t> into);

  // Keeps a copy of a sample where the tiers have room for it, or make some. Where memory runs out, nothing is kept.
  void Put(const SampleKey& key, std::span<const uint8_t> bytes);

  // Waits until all that was put is written, or failed to be.
  void Flush();

  Stats stats() const;

  // Returns the most bytes of memory that the cache takes.
  uint64_t most_bytes() const { return most_bytes_; }

  // For the log: "raw cache: 10 samples from memory, 2 from disk, 5 from stores; 1.5MiB in memory, 4GiB on disk".
  // Samples are those since `was`.
  std::string Text(const Stats& was) const;

 private:
  struct ReadRequest {
    SampleKey key;
    std::span<uint8_t> into;
    std::function<void(bool)> done;
  };
  struct WriteRequest {
    SampleKey key;
    KeptBytes bytes;
  };

  bool ReadNow(const SampleKey& key, std::span<uint8_t> into);
  bool ReserveQueue(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  void ReleaseQueue(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  void RunReads() ABSL_LOCKS_EXCLUDED(mutex_);
  void RunWrites() ABSL_LOCKS_EXCLUDED(mutex_);

  const Options options_;
  MemoryTier memory_;
  const std::unique_ptr<DiskTier> disk_;  // null where there is none
  const uint64_t most_bytes_;
  std::atomic<uint64_t> memory_hits_ = 0, disk_hits_ = 0, misses_ = 0, dropped_ = 0;

  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t dataset_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of those that were added and not removed
  std::deque<ReadRequest> reads_ ABSL_GUARDED_BY(mutex_);
  std::deque<WriteRequest> writes_ ABSL_GUARDED_BY(mutex_);
  uint64_t queued_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of what waits to be written, or is being written

  std::vector<std::thread> threads_;  // They use the rest.
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CACHED_RAW_CACHE_H_
