#include "common/config/watched_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

// File systems stamp changes with clocks of a few milliseconds, or of a second or two. A file that was changed so
// recently, in seconds, may change again under the same stamp.
constexpr int64_t kSettleSeconds = 3;

absl::Status Failed(const std::string& path, int error) {
  const std::string message = absl::StrCat(path, ": ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(message) : absl::FailedPreconditionError(message);
}

}  // namespace

absl::StatusOr<bool> WatchedFile::Refresh() {
  // A FIFO without a writer would block at its opening.
  const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return Failed(path_, errno);
  const auto close_file = absl::MakeCleanup([file] { close(file); });
  struct stat status;
  if (fstat(file, &status) != 0) return Failed(path_, errno);
  if (!S_ISREG(status.st_mode)) return absl::FailedPreconditionError(absl::StrCat(path_, ": this is no file"));
  const Stamp stamp = {.device = status.st_dev,
                       .inode = status.st_ino,
                       .bytes = static_cast<uint64_t>(status.st_size),
                       .changed_s = status.st_ctim.tv_sec,
                       .changed_ns = status.st_ctim.tv_nsec,
                       .modified_s = status.st_mtim.tv_sec,
                       .modified_ns = status.st_mtim.tv_nsec};
  if (stamp_ == stamp) return false;
  std::string content;
  char part[16 << 10];
  while (true) {
    const ssize_t got = read(file, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed(path_, errno);
    if (got == 0) break;
    content.append(part, got);
    if (content.size() > kMostBytes)
      return absl::FailedPreconditionError(absl::StrCat(path_, ": this file has more than ", kMostBytes, " bytes"));
  }
  stamp_.reset();
  if (stamp.changed_s + kSettleSeconds < std::time(nullptr)) stamp_ = stamp;
  const bool changed = content != content_;
  content_ = std::move(content);
  return changed;
}

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  WatchedFile file(path);
  if (const auto read = file.Refresh(); !read.ok()) return read.status();
  return file.content();
}

}  // namespace stoker
