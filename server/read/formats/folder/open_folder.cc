#include "server/read/formats/folder/open_folder.h"

#include <fcntl.h>

#include <cerrno>
#include <string_view>

#include "common/status_macros.h"
#include "server/read/stores/local/file.h"

namespace stoker {

absl::StatusOr<OpenFolder> OpenFolder::At(int root, const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(Descriptor descriptor, OpenAt(root, path, O_DIRECTORY));
  struct stat status;
  if (fstat(descriptor.number(), &status) != 0) return absl::UnavailableError("cannot stat: " + ErrnoText(errno));
  DIR* stream = fdopendir(descriptor.number());
  if (stream == nullptr) return absl::UnavailableError("cannot list: " + ErrnoText(errno));
  descriptor.Release();
  return OpenFolder(stream, status);
}

OpenFolder::OpenFolder(DIR* stream, const struct stat& status)
    : stream_(stream, closedir),
      id_{status.st_dev, status.st_ino},
      modified_{status.st_mtim.tv_sec, status.st_mtim.tv_nsec} {}

absl::StatusOr<const dirent*> OpenFolder::Next() {
  while (true) {
    errno = 0;
    const dirent* entry = readdir(stream_.get());
    if (entry == nullptr && errno != 0) return absl::UnavailableError("cannot list: " + ErrnoText(errno));
    if (entry == nullptr) return entry;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return entry;
  }
}

absl::StatusOr<std::optional<struct stat>> OpenFolder::Stat(const char* name) const {
  struct stat status;
  if (fstatat(dirfd(stream_.get()), name, &status, 0) == 0) return status;
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return std::nullopt;
  return absl::UnavailableError("cannot stat: " + ErrnoText(errno));
}

}  // namespace stoker
