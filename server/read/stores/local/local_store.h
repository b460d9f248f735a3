#ifndef STOKER_SERVER_READ_STORES_LOCAL_LOCAL_STORE_H_
#define STOKER_SERVER_READ_STORES_LOCAL_LOCAL_STORE_H_

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/read/stores/local/file.h"
#include "server/read/stores/store.h"

namespace stoker {

// Files below a folder. Reads are pread(2) on the caller's thread, of files that stay open for a while: up to 256. The
// folder is held open, so that a link or mount that takes its path later does not mix two datasets. Links to files are
// followed, links to folders are not listed. An object's version is the time of its last modification, in nanoseconds.
class LocalStore final : public Store {
 public:
  // Opens the folder at `path`. Errors do not name it.
  static absl::StatusOr<std::unique_ptr<LocalStore>> Open(const std::string& path);

  std::string description() const override;
  bool is_remote() const override { return false; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing& listing) override;
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) override;
  void Read(const Range& range, Done done) override;

 private:
  static constexpr size_t kOpenFiles = 256;

  // A file that stays open. Two names may share a place here; the later one takes it.
  struct OpenFile {
    std::string name;
    std::shared_ptr<const Descriptor> file;
  };

  LocalStore(std::string path, Descriptor folder) : path_(std::move(path)), folder_(std::move(folder)) {}

  absl::StatusOr<ObjectInfo> DescribeOne(const std::string& name) const;
  absl::StatusOr<std::shared_ptr<const Descriptor>> FileOf(const std::string& name) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status ReadRange(const Range& range);

  const std::string path_;  // canonical
  const Descriptor folder_;

  absl::Mutex mutex_;  // is not held over I/O
  std::array<OpenFile, kOpenFiles> open_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_LOCAL_LOCAL_STORE_H_
