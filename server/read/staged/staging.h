#ifndef STOKER_SERVER_READ_STAGED_STAGING_H_
#define STOKER_SERVER_READ_STAGED_STAGING_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/read/staged/decompressor.h"
#include "server/read/staged/staged_file.h"
#include "server/read/stores/store.h"

namespace stoker {

// A folder that keeps files decompressed, or copies of files that are not compressed. Any number of datasets and
// processes share it, and the next start finds it as it was. A file's name is the SHA-256 of its store, name, size and
// version, so a changed object is another file.
//
// A file appears under its name when it is whole. While one process makes it, others wait for it (flock). What a killed
// one left is removed. The folder may be deleted at any time: files that are open go on, others are made anew.
//
// Thread-safe. The files take at most `size_bytes` in all: those that nobody in this process uses go first, from the
// one that was opened longest ago on. No lock is held over I/O but the file's own, and the one that on_room is called
// under.
class Staging {
 public:
  // A stream of zeros shrinks 1032 times by gzip. What shrinks more is made to fill disks.
  static constexpr uint64_t kMostRatio = 1100;

  struct Options {
    std::string path;
    uint64_t size_bytes = 0;
    int threads = 4;  // files that are made at once; each takes some MiB of memory, and up to 128 MiB for zstd
    // If set, it is called now and then with the compressed bytes that were taken, by one thread at a time.
    std::function<void(uint64_t taken, uint64_t of)> progress;
    // If set, it is called with the bytes that the files take, or are about to take, whenever these are others; by one
    // thread at a time.
    std::function<void(uint64_t bytes)> on_room = nullptr;
  };

  // Makes the folder. Unavailable where that fails; the error names it.
  static absl::StatusOr<std::unique_ptr<Staging>> Open(Options options);

  struct Compressed {
    ObjectInfo object;
    Compression compression = Compression::kGzip;  // with kNone it is copied
  };
  using Files = std::vector<std::shared_ptr<const StagedFile>>;

  // Returns the files of `objects`, in their order, which it makes where they are not there. Errors name the object:
  // DataLoss where it cannot be decompressed; ResourceExhausted where they take more than the folder may have, or
  // shrank beyond kMostRatio; the store's; and Unavailable where the disk fails.
  absl::StatusOr<Files> Stage(Store& store, const std::vector<Compressed>& objects);

  // Makes a file anew, since its bytes were damaged.
  absl::StatusOr<std::shared_ptr<const StagedFile>> Restage(Store& store, const Compressed& object);

  // Returns the bytes that the files take.
  uint64_t bytes() const;

  // Returns the bytes that files in the folder at `path` take, for others that share the disk; 0 where there is none.
  static uint64_t BytesIn(const std::string& path);

 private:
  class Making;

  explicit Staging(Options options) : options_(std::move(options)) {}

  absl::StatusOr<std::shared_ptr<const StagedFile>> StageOne(Store& store, const Compressed& object,
                                                             const std::function<void(uint64_t)>& took);
  absl::StatusOr<std::shared_ptr<const StagedFile>> OpenKept(const std::string& key);
  absl::Status Make(Store& store, const Compressed& object, const std::string& key,
                    const std::function<void(uint64_t)>& took);

  // Takes room for bytes that are written next. Removes files for it.
  absl::Status Grow(uint64_t bytes);
  void Shrink(uint64_t bytes);
  void TellRoom();
  std::string PathOf(const std::string& key) const;

  // Removes files that are not in use until `bytes` more have room, or none is left; and counts what is there.
  void MakeRoom(uint64_t bytes);

  const Options options_;
  mutable absl::Mutex mutex_;
  absl::Mutex telling_ ABSL_ACQUIRED_BEFORE(mutex_);                                     // by one thread at a time
  absl::Mutex removing_ ABSL_ACQUIRED_BEFORE(mutex_);                                    // by one thread at a time
  uint64_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;                                      // of whole files
  uint64_t making_bytes_ ABSL_GUARDED_BY(mutex_) = 0;                                    // of files that are written
  std::map<std::string, std::weak_ptr<const StagedFile>> open_ ABSL_GUARDED_BY(mutex_);  // by their keys
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STAGED_STAGING_H_
