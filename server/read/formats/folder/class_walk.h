#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_CLASS_WALK_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_CLASS_WALK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/read/formats/folder/folder_listing.h"
#include "server/read/formats/folder/open_folder.h"

namespace stoker {

// An encoded image above this is refused: it must fit into memory, for each worker.
inline constexpr uint64_t kMaxImageFileBytes = uint64_t{256} << 20;

// Counts samples as walks find them. Thread-safe.
class WalkProgress {
 public:
  // Unless empty, `report` is told the sum after each Add, by one thread at a time. It must outlive this.
  explicit WalkProgress(const std::function<void(uint64_t files)>& report) : report_(report) {}

  void Add(uint64_t files);

 private:
  const std::function<void(uint64_t)>& report_;
  absl::Mutex mutex_;
  uint64_t files_ ABSL_GUARDED_BY(mutex_) = 0;
};

// What lies in and below one class folder. Value type.
struct ClassListing {
  FileList files;  // Samples, bytewise by their paths below the class folder.
  std::vector<FolderListing::Directory> directories;
  uint64_t skipped_files = 0;
  std::string skipped_example;  // The bytewise first, so that every walk names the same.
};

// The folder whose class folders are walked.
struct WalkRoot {
  std::string path;  // For messages.
  int descriptor = -1;
  FolderId id;
};

// Lists one class folder by the rules of WalkImageFolder. Errors name the path that they are about.
absl::StatusOr<ClassListing> WalkClass(const WalkRoot& root, const std::string& name, WalkProgress& progress);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_CLASS_WALK_H_
