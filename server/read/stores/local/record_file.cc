#include "server/read/stores/local/record_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/binary.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr size_t kRecordHeadBytes = 12;

absl::Status Cannot(const std::string& verb, const std::string& path, const std::string& reason) {
  return absl::UnavailableError(absl::StrCat("cannot ", verb, " ", ShortPrintableName(path), ": ", reason));
}

uint64_t ChecksumOf(std::string_view body) { return XXH3_64bits_withSeed(body.data(), body.size(), body.size()); }

absl::StatusOr<std::string> ReadAll(int file) {
  struct stat status;
  if (fstat(file, &status) != 0) return absl::UnavailableError(ErrnoText(errno));
  std::string bytes(status.st_size, '\0');
  STOKER_ASSIGN_OR_RETURN(const uint64_t got, ReadUpTo(file, bytes.size(), bytes.data()));
  bytes.resize(got);
  return bytes;
}

// Calls `known` with the records of `bytes` from `at` on, and returns where they end.
uint64_t Parse(std::string_view bytes, uint64_t at, const std::function<bool(std::string_view body)>& known) {
  while (bytes.size() - at >= kRecordHeadBytes) {
    BinaryReader head(bytes.substr(at, kRecordHeadBytes));
    const uint64_t size = head.Get<uint32_t>(), checksum = head.Get<uint64_t>();
    if (size > bytes.size() - at - kRecordHeadBytes) break;
    const std::string_view body = bytes.substr(at + kRecordHeadBytes, size);
    if (ChecksumOf(body) != checksum || !known(body)) break;
    at += kRecordHeadBytes + size;
  }
  return at;
}

}  // namespace

absl::StatusOr<RecordFile> RecordFile::Open(const std::string& path, std::string_view head,
                                            const std::function<bool(std::string_view body)>& known) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return Cannot("write", path, error.message());
  Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.number() < 0) return Cannot("write", path, ErrnoText(errno));
  if (flock(file.number(), LOCK_EX | LOCK_NB) != 0)
    return absl::FailedPreconditionError(absl::StrCat(ShortPrintableName(path), ": another process writes this file"));
  const auto bytes = ReadAll(file.number());
  if (!bytes.ok()) return Cannot("read", path, std::string(bytes.status().message()));
  const bool ours = std::string_view(*bytes).substr(0, head.size()) == head;
  const uint64_t end = ours ? Parse(*bytes, head.size(), known) : 0;
  if (end < bytes->size() && ftruncate(file.number(), static_cast<off_t>(end)) != 0)
    return Cannot("write", path, ErrnoText(errno));
  if (!ours)
    if (const absl::Status written = WriteAll(file.number(), head); !written.ok())
      return Cannot("write", path, std::string(written.message()));
  return RecordFile(path, std::move(file));
}

absl::Status RecordFile::Append(std::string_view body) const {
  BinaryWriter record;
  record.Put(static_cast<uint32_t>(body.size()));
  record.Put(ChecksumOf(body));
  record.bytes += body;
  const absl::Status written = WriteAll(file_.number(), record.bytes);
  return written.ok() ? written : Cannot("write", path_, std::string(written.message()));
}

absl::Status RecordFile::Sync() const {
  return fdatasync(file_.number()) == 0 ? absl::OkStatus() : Cannot("sync", path_, ErrnoText(errno));
}

}  // namespace stoker
