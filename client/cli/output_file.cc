#include "client/cli/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

absl::Status CannotWrite(const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

// Follows links from `path`. Returns where they lead, whether there is something or not.
std::string Resolved(const std::string& path) {
  constexpr int kMostLinks = 40;  // Linux follows as many.
  std::filesystem::path at = path;
  std::error_code error;
  for (int links = 0; links < kMostLinks && std::filesystem::is_symlink(at, error); ++links)
    at = at.parent_path() / std::filesystem::read_symlink(at, error);
  return at;
}

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

// Writes a new file, and waits until it is on the disk. On failure returns false and sets errno.
bool WriteDurably(const std::string& path, std::string_view bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0) return false;
  bool written = true;
  while (written && !bytes.empty()) {
    const ssize_t size = write(file, bytes.data(), bytes.size());
    if (size > 0) bytes.remove_prefix(static_cast<size_t>(size));
    written = size >= 0 || errno == EINTR;
  }
  written = written && fsync(file) == 0;
  const int failure = errno;
  const bool closed = close(file) == 0;
  if (!written) errno = failure;
  return written && closed;
}

// Syncs a folder, so that a rename in it outlives a crash. Some file systems refuse; then it cannot be helped.
void SyncFolder(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

absl::Status CheckReplaceable(const std::string& path) {
  STOKER_RETURN_IF_ERROR(CheckWritable(path));
  const std::string target = Resolved(path);
  std::error_code error;
  if (std::filesystem::exists(target, error) && !std::filesystem::is_regular_file(target, error))
    return absl::InvalidArgumentError(absl::StrCat("cannot write ", path, ": it is no regular file"));
  if (access(FolderOf(target).c_str(), W_OK | X_OK) != 0) return CannotWrite(path);
  return absl::OkStatus();
}

absl::Status ReplaceFile(const std::string& path, std::string_view bytes) {
  const std::string target = Resolved(path), beside = absl::StrCat(target, ".part-", getpid());
  if (!WriteDurably(beside, bytes) || rename(beside.c_str(), target.c_str()) != 0) {
    const absl::Status status = CannotWrite(path);
    unlink(beside.c_str());
    return status;
  }
  SyncFolder(FolderOf(target));
  return absl::OkStatus();
}

absl::Status CheckWritable(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  if (std::filesystem::is_directory(path)) {
    errno = EISDIR;
    return CannotWrite(path);
  }
  if (access(path.c_str(), W_OK) == 0) return absl::OkStatus();
  if (errno != ENOENT) return CannotWrite(path);
  if (access(FolderOf(path).c_str(), W_OK | X_OK) != 0) return CannotWrite(path);
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, std::string_view bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return CannotWrite(path);
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) != 0 || !written) return CannotWrite(path);
  return absl::OkStatus();
}

}  // namespace stoker
