#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_LISTING_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_LISTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/read/formats/folder/folder_index.h"

namespace stoker {

// Time of a file's last change, as stat(2) tells it.
struct FileTime {
  int64_t seconds = 0;  // since 1970
  int64_t nanoseconds = 0;
  friend bool operator==(const FileTime&, const FileTime&) = default;
};

// An image folder as a walk found it: what is kept in a manifest. Value type.
struct FolderListing {
  struct Directory {
    std::string path;  // Relative to the root, which is ".".
    FileTime modified;
  };

  FolderIndex index;
  std::string fingerprint;             // FolderFingerprint(index).
  std::vector<Directory> directories;  // Every one that was listed: new or missing files change its time.
  int64_t began_seconds = 0;           // since 1970; no directory was listed before.
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_FOLDER_LISTING_H_
