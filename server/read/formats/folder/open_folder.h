#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_OPEN_FOLDER_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_OPEN_FOLDER_H_

#include <dirent.h>
#include <sys/stat.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "server/read/formats/folder/folder_listing.h"

namespace stoker {

// Identifies a folder on disk, whatever path led to it.
struct FolderId {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FolderId&, const FolderId&) = default;
};

// A folder whose entries are being listed. It is used by one thread at a time. The messages of errors do not name the
// folder.
class OpenFolder {
 public:
  // Opens the folder at `path`, relative to the open folder `root`. Errors are NotFound or Unavailable.
  static absl::StatusOr<OpenFolder> At(int root, const std::string& path);

  // Returns the next entry other than "." and "..", or null after the last one. It is valid until the next call. An
  // error is Unavailable.
  absl::StatusOr<const dirent*> Next();

  // Returns what stat(2) says of `name` in the folder, with symbolic links followed. Returns nothing where there is no
  // such name or a link leads nowhere. Any other failure is Unavailable, since it tells nothing about what is there.
  absl::StatusOr<std::optional<struct stat>> Stat(const char* name) const;

  FolderId id() const { return id_; }

  // Returns the folder's time from before the listing, so that a change during the listing leaves another time.
  FileTime modified() const { return modified_; }

 private:
  OpenFolder(DIR* stream, const struct stat& status);

  std::unique_ptr<DIR, int (*)(DIR*)> stream_;
  FolderId id_;
  FileTime modified_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_OPEN_FOLDER_H_
