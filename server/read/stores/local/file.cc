#include "server/read/stores/local/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/stores/traffic.h"

namespace stoker {
namespace {

absl::Status ErrnoError(const char* action, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  return absl::Status(missing ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable,
                      absl::StrCat(action, ": ", ErrnoText(error)));
}

absl::Status CheckFile(int file, uint64_t expected, std::optional<ModifiedSecond> modified) {
  struct stat status;
  if (fstat(file, &status) != 0) return ErrnoError("cannot stat", errno);
  if (!S_ISREG(status.st_mode)) return absl::FailedPreconditionError("is not a regular file");
  if (static_cast<uint64_t>(status.st_size) != expected)
    return absl::FailedPreconditionError(absl::StrCat(expected, " bytes then, ", status.st_size, " now"));
  if (modified.has_value() && static_cast<ModifiedSecond>(status.st_mtim.tv_sec) != *modified)
    return absl::FailedPreconditionError("it was written to, as its time tells");
  return absl::OkStatus();
}

absl::Status WriteNewFile(const std::string& path, std::string_view bytes) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (file.number() < 0) return ErrnoError("cannot create", errno);
  STOKER_RETURN_IF_ERROR(WriteAll(file.number(), bytes));
  if (fsync(file.number()) != 0) return ErrnoError("cannot sync", errno);
  if (close(file.Release()) != 0) return ErrnoError("cannot close", errno);  // NFS may say only here that it is full.
  return absl::OkStatus();
}

// Returns a path in the same folder as `path` that no other writer takes.
std::string TemporaryPath(const std::string& path) {
  std::random_device random;
  return absl::StrCat(path, ".", absl::Hex(uint64_t{random()} << 32 | random(), absl::kZeroPad16), ".tmp");
}

}  // namespace

absl::Status WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoError("cannot write", errno);
    bytes.remove_prefix(written);
  }
  return absl::OkStatus();
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

std::string ErrnoText(int error) { return std::generic_category().message(error); }

absl::StatusOr<Descriptor> OpenAt(int folder, const std::string& path, int flags) {
  const int file = openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
  if (file < 0) return ErrnoError("cannot open", errno);
  return Descriptor(file);
}

absl::StatusOr<Descriptor> OpenOwn(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(Descriptor file, OpenAt(AT_FDCWD, path));
  struct stat status;
  if (fstat(file.number(), &status) != 0) return ErrnoError("cannot stat", errno);
  if (status.st_uid != geteuid() && status.st_uid != 0)
    return absl::PermissionDeniedError(absl::StrCat("it belongs to another user (uid ", status.st_uid, ")"));
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return absl::PermissionDeniedError("others may write to it");
  return file;
}

absl::StatusOr<uint64_t> ReadUpTo(int file, uint64_t count, void* bytes) {
  uint64_t done = 0;
  while (done < count) {
    const ssize_t got = pread(file, static_cast<char*>(bytes) + done, count - done, done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError("cannot read", errno);
    if (got == 0) break;
    done += got;
  }
  return done;
}

absl::Status ReadFile(int folder, const std::string& path, uint64_t expected, std::vector<uint8_t>& bytes,
                      std::optional<ModifiedSecond> modified) {
  STOKER_ASSIGN_OR_RETURN(const Descriptor file, OpenAt(folder, path));
  STOKER_RETURN_IF_ERROR(CheckFile(file.number(), expected, modified));
  bytes.resize(expected);
  STOKER_ASSIGN_OR_RETURN(const uint64_t got, ReadUpTo(file.number(), expected, bytes.data()));
  Traffic::OfProcess().Read(Backend::kLocal, got);
  if (got == expected) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(expected, " bytes then, it ends after ", got, " now"));
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  const std::string temporary = TemporaryPath(path);
  absl::Status status = WriteNewFile(temporary, bytes);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) status = ErrnoError("cannot rename", errno);
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

}  // namespace stoker
