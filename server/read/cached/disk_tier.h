#ifndef STOKER_SERVER_READ_CACHED_DISK_TIER_H_
#define STOKER_SERVER_READ_CACHED_DISK_TIER_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/read/cached/admission.h"
#include "server/read/cached/sample_key.h"
#include "server/read/cached/segment.h"
#include "server/read/stores/local/file.h"

namespace stoker {

// Keeps samples in a folder on a local disk, by their keys: in segments, which are files that are appended to until
// they are full and go as a whole (see segment.h). Which samples it takes once it is full, Admission says.
//
// One process has the folder to itself. It may be killed at any time, and the folder deleted at any time. What is read
// is compared with its checksum; what is damaged was not kept.
//
// Thread-safe, but for Write, which is for one thread at a time. Read and Write block; no lock is held meanwhile. At
// most kMostOpenFiles segments are open, and some more while they are read.
class DiskTier {
 public:
  static constexpr char kFolder[] = "stoker-raw-cache";  // below the configured path
  static constexpr size_t kMostOpenFiles = 128;
  static constexpr uint64_t kTableBytesPerRecord = 48;  // of memory

  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  struct Options {
    std::string path;           // the folder to make ours in; it is made too
    uint64_t size_bytes = 0;    // of all files, and of others_bytes
    uint64_t others_bytes = 0;  // that others take of size_bytes: see SetOthers
    uint64_t most_records = ~uint64_t{};
    uint64_t segment_bytes = 0;  // 0: as many as suit size_bytes
    Admission::Kind kind = Admission::Kind::kServing;
    // Is told what the operator should see, on any thread that reads or writes.
    std::function<void(const std::string&)> warn = [](const std::string&) {};
    Clock clock = std::chrono::steady_clock::now;
  };

  struct Stats {
    uint64_t bytes = 0, samples = 0;  // kept now
    uint64_t damaged = 0;             // samples that were kept and could not be read, since the start
    uint64_t refused = 0;             // samples for which there was no room, since the start
    bool fails = false;               // the disk took nothing when it was tried last
  };

  // Opens the folder and finds out what it has. FailedPrecondition where another process uses it, PermissionDenied
  // where others could write to it, Unavailable where it cannot be made or read.
  static absl::StatusOr<std::unique_ptr<DiskTier>> Open(Options options);

  DiskTier(const DiskTier&) = delete;
  DiskTier& operator=(const DiskTier&) = delete;
  ~DiskTier();

  // See Admission::ExpectBytes.
  void ExpectBytes(uint64_t bytes);

  // Others, which come first, take so many of size_bytes now. Gives up what has no room beside them, but for the
  // segment that is written to.
  void SetOthers(uint64_t bytes);

  // Somebody needs a sample of `size` bytes that is not here.
  void Ask(uint64_t size);

  // Whether a sample is kept under `key`, by the first 8 bytes of it.
  bool Has(const SampleKey& key) const;

  // Like Has, and counts as a use.
  bool Use(const SampleKey& key);

  // Fills `into`, which has the sample's size, with the sample. False where it is not kept or is damaged: then `into`
  // has any bytes. It counts as a use.
  bool Read(const SampleKey& key, std::span<uint8_t> into);

  // Whether a sample of `size` bytes is to be written: it is not kept, and there is room for it or will be. Another
  // call may give another answer.
  bool Wants(const SampleKey& key, uint64_t size);

  // Writes a sample, if the disk takes it; else it tells so by `warn`, once, and tries no other for a while.
  void Write(const SampleKey& key, std::span<const uint8_t> sample);

  Stats stats() const;

 private:
  struct Segment {
    uint64_t bytes = 0;                      // of its file
    uint64_t used = 0;                       // when it was, as Admission counts
    std::vector<uint64_t> short_keys;        // of its records
    std::shared_ptr<const Descriptor> file;  // open for reading; null where it is not open
  };
  struct Location {
    uint32_t segment = 0, offset = 0;
    bool operator==(const Location&) const = default;
  };

  explicit DiskTier(Options options);

  // These are called by Open and the one thread that writes, without the lock.
  absl::Status TakeFolder();
  absl::Status Load();
  void LoadSegment(uint32_t number);
  bool IsThere() const;
  absl::Status Append(const SampleKey& key, std::span<const uint8_t> sample);
  absl::Status StartSegment();
  void EndSegment();
  void WriteTable(uint32_t number, uint64_t segment_bytes, const std::vector<RecordPlace>& records) const;
  bool MakeRoom(uint64_t bytes);
  void Unlink(uint32_t number) const;

  // Opens a segment for reading. NotFound where it is gone.
  absl::StatusOr<std::shared_ptr<const Descriptor>> OpenForReading(uint32_t number) ABSL_LOCKS_EXCLUDED(mutex_);

  // The file of what lies at `at` is gone.
  void ForgetAt(uint64_t short_key, const Location& at) ABSL_LOCKS_EXCLUDED(mutex_);

  std::shared_ptr<const Descriptor> folder() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether the disk is not to be tried now.
  bool IsPaused() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return fails_ && options_.clock() < paused_until_; }

  // Forgets what is kept under `short_key` if it is what lies at `at`. Returns whether it was.
  bool ForgetRecord(uint64_t short_key, const Location& at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Forgets what a segment has.
  void Forget(uint32_t number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Returns the bytes that all files may have.
  uint64_t Room() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return options_.size_bytes - std::min(options_.size_bytes, others_bytes_);
  }

  bool IsFull(uint64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Returns the segment that was not used for longest, beside the one that is written to; none where there is none.
  std::optional<uint32_t> Oldest() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Whether Oldest() belongs to nothing that is read.
  bool IsOldestStale() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  const std::string folder_path_;
  const uint64_t segment_bytes_;

  // The thread that writes has these, once Open has ended.
  Descriptor lock_;            // of the folder's file "lock"
  Descriptor active_;          // the segment that is written to
  uint64_t active_bytes_ = 0;  // of whole records
  std::vector<RecordPlace> active_records_;
  uint32_t next_number_ = 1;

  mutable absl::Mutex mutex_;
  std::shared_ptr<const Descriptor> folder_ ABSL_GUARDED_BY(mutex_);
  Admission admission_ ABSL_GUARDED_BY(mutex_);
  std::map<uint32_t, Segment> segments_ ABSL_GUARDED_BY(mutex_);           // by their numbers, which ascend in time
  absl::flat_hash_map<uint64_t, Location> table_ ABSL_GUARDED_BY(mutex_);  // by ShortKey
  std::deque<uint32_t> open_ ABSL_GUARDED_BY(mutex_);   // segments in the order in which they were opened
  uint32_t active_number_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: none
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t others_bytes_ ABSL_GUARDED_BY(mutex_);
  uint64_t oldest_used_ ABSL_GUARDED_BY(mutex_) = 0;  // no segment was used before
  bool fails_ ABSL_GUARDED_BY(mutex_) = false;        // the disk took nothing when it was tried last
  std::chrono::steady_clock::time_point paused_until_ ABSL_GUARDED_BY(mutex_);  // it is not tried before
  Stats counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CACHED_DISK_TIER_H_
