#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_LISTING_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_LISTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/read/formats/folder/folder_index.h"

namespace stoker {

// The time of a file's last modification, as stat(2) tells it.
struct FileTime {
  int64_t seconds = 0;  // since 1970
  int64_t nanoseconds = 0;
  friend bool operator==(const FileTime&, const FileTime&) = default;
};

// An image folder as a walk found it. This is what a manifest keeps. A value type.
struct FolderListing {
  struct Directory {
    std::string path;  // relative to the root, which is "."
    FileTime modified;
  };

  FolderIndex index;
  std::string fingerprint;             // FolderFingerprint(index)
  std::vector<Directory> directories;  // every directory that was listed; a new or missing file changes its time
  int64_t began_seconds = 0;           // since 1970; no directory was listed before this
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_LISTING_H_
