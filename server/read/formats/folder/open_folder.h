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

// One folder on disk, whatever path led there.
struct FolderId {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FolderId&, const FolderId&) = default;
};

// A folder whose entries are being listed. One thread. Messages of errors do not name it.
class OpenFolder {
 public:
  // Opens the folder at `path`, relative to the open folder `root`. NotFound or Unavailable.
  static absl::StatusOr<OpenFolder> At(int root, const std::string& path);

  // The next entry but "." and "..", or null after the last. Valid until the next call. Unavailable.
  absl::StatusOr<const dirent*> Next();

  // What `name` in it is, symbolic links followed; nothing where there is none, or a link leads nowhere. Any other
  // failure is Unavailable: it says nothing of what is there.
  absl::StatusOr<std::optional<struct stat>> Stat(const char* name) const;

  FolderId id() const { return id_; }

  // Taken before the listing: what changes during it leaves another time.
  FileTime modified() const { return modified_; }

 private:
  OpenFolder(DIR* stream, const struct stat& status);

  std::unique_ptr<DIR, int (*)(DIR*)> stream_;
  FolderId id_;
  FileTime modified_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_OPEN_FOLDER_H_
