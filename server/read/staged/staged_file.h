#ifndef STOKER_SERVER_READ_STAGED_STAGED_FILE_H_
#define STOKER_SERVER_READ_STAGED_STAGED_FILE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/stores/local/file.h"

namespace stoker {

// A file that was decompressed once and is read many times. Numbers in it are u64, little-endian:
//
//   the plain bytes
//   checksums  XXH3-64 of each 64 KiB of them, the last of which may be shorter
//   key        32 bytes: whose bytes they are
//   size       of the plain bytes
//   checksum   XXH3-64 of all from `checksums` to here
//   magic      16 bytes, "STOKER STAGED 1\n"
//
// Opening checks length, key and what follows the plain bytes. Each read checks the blocks that it takes bytes from.
// The checksums find damage, not malice; the file must be this user's own.

inline constexpr uint64_t kStagedBlockBytes = uint64_t{64} << 10;

// Writes one, to a file that has nothing yet. Used by one thread at a time. Errors do not name the file.
class StagedFileWriter {
 public:
  explicit StagedFileWriter(int file) : file_(file) {}

  absl::Status Add(std::span<const uint8_t> plain);

  // Writes what follows the plain bytes, and syncs the file to the disk.
  absl::Status Finish(std::string_view key);

  uint64_t plain_bytes() const { return plain_bytes_; }

 private:
  absl::Status WriteBlock();

  const int file_;
  std::string block_;
  std::vector<uint64_t> checksums_;
  uint64_t plain_bytes_ = 0;
};

// Reads one. Thread-safe. It stays readable when the file is removed.
class StagedFile {
 public:
  // NotFound where there is none; DataLoss where it is damaged, of another key, or was not written to its end;
  // PermissionDenied where others may write it. Messages do not name it.
  static absl::StatusOr<std::shared_ptr<const StagedFile>> Open(const std::string& path, std::string_view key);

  uint64_t size() const { return size_; }

  // Fills `into` with the plain bytes from `offset` on. Requires that there are as many. DataLoss where what lies on
  // the disk is not what was written.
  absl::Status Read(uint64_t offset, std::span<uint8_t> into) const;

 private:
  StagedFile(Descriptor file, uint64_t size) : file_(std::move(file)), size_(size) {}

  const Descriptor file_;
  const uint64_t size_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STAGED_STAGED_FILE_H_
