#ifndef STOKER_SERVER_READ_INDEX_SEALED_FILE_H_
#define STOKER_SERVER_READ_INDEX_SEALED_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/binary.h"

namespace stoker {

// Files of ours that hold an index. They say at their beginning what they are and how long they are, and end with a
// checksum, so that one which is damaged, cut short or something else is not taken for one:
//
//   magic              16 bytes
//   file size          u64, with the magic and the checksum
//   body               as the kind of file has it
//   checksum           u64, XXH3-64 of all the bytes before
//
// Numbers are little-endian.

// A kind of such files.
struct SealedKind {
  std::string_view magic;  // 16 bytes
  std::string_view what;   // what it is to people: "index of files"
};

inline constexpr size_t kSealedHeaderBytes = 24;  // the magic and the file's size

// The error of an index that is damaged: `what` says how.
absl::Status DamagedIndex(std::string_view what);

// Begins a file, to which its body is written next.
BinaryWriter BeginSealed(const SealedKind& kind);

// Ends the file and returns its bytes.
std::string Seal(BinaryWriter writer);

// OK where a file of `file_bytes` bytes that begins with `header` may be one; else DataLoss.
absl::Status CheckSealedHeader(const SealedKind& kind, std::string_view header, uint64_t file_bytes);

// Returns the body of the file that `bytes` are. DataLoss for any other bytes.
absl::StatusOr<std::string_view> Unseal(const SealedKind& kind, std::string_view bytes);

// Reads a file of ours (OpenOwn). Its header is looked at first, so that a huge file of another kind is not read into
// memory. Its body may still be damaged: see Unseal.
absl::StatusOr<std::string> ReadSealed(const std::string& path, const SealedKind& kind);

// Writes `bytes` to `path` atomically, and makes the folder above it. Unavailable names the file.
absl::Status WriteSealed(const std::string& path, std::string_view bytes);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_INDEX_SEALED_FILE_H_
