#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_CLASS_WALK_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_CLASS_WALK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/read/formats/files/image_files.h"
#include "server/read/formats/folder/folder_listing.h"
#include "server/read/formats/folder/open_folder.h"

namespace stoker {

// Counts samples as walks find them. Thread-safe.
class WalkProgress {
 public:
  // Unless `report` is empty, it is called with the sum after each Add, by one thread at a time. It must outlive this
  // object.
  explicit WalkProgress(const std::function<void(uint64_t files)>& report) : report_(report) {}

  void Add(uint64_t files);

 private:
  const std::function<void(uint64_t)>& report_;
  absl::Mutex mutex_;
  uint64_t files_ ABSL_GUARDED_BY(mutex_) = 0;
};

// What was found in and below one class folder. A value type.
struct ClassListing {
  FileList files;                                     // the samples, bytewise by their paths below the class folder
  std::vector<FolderListing::Directory> directories;  // the class folder and all folders below it
  uint64_t skipped_files = 0;                         // files that are no samples
  std::string skipped_example;  // the bytewise first of these, so that every walk names the same one
};

// The folder whose class folders are walked. Someone else owns the descriptor.
struct WalkRoot {
  std::string path;  // for messages
  int descriptor = -1;
  FolderId id;
};

// Lists the class folder `name` by the rules of WalkImageFolder. Errors name the path that they are about. Thread-safe.
absl::StatusOr<ClassListing> WalkClass(const WalkRoot& root, const std::string& name, WalkProgress& progress);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_CLASS_WALK_H_
