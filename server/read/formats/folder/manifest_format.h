#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_MANIFEST_FORMAT_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_MANIFEST_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/read/binary.h"
#include "server/read/formats/folder/folder_listing.h"

namespace stoker {

// The bytes of a manifest, which holds the listing of an image folder. All functions are pure.
//
// In the layout u32, u64 and i64 are little-endian. "bytes" stands for their number (u64), followed by the bytes
// themselves.
//
//   magic              16 bytes, "STOKER MANIFEST\n"
//   version            u32, 2; no other version is read
//   zero               u32
//   file size          u64, with the header and the checksum
//   root               bytes: the folder's canonical path
//   began              i64, seconds since 1970: FolderListing::began_seconds
//   fingerprint        32 bytes
//   skipped files      u64
//   skipped example    bytes
//   directories        u64, and for each: i64 seconds and i64 nanoseconds of its modification, bytes path
//   classes            u64, and for each: u64 one past its last sample, bytes name
//   samples            u64 N
//   path bytes         u64
//   path ends          N × u64
//   sizes              N × u32
//   times              N × u32, ModifiedSecond of each file
//   paths              the path bytes
//   checksum           u64, XXH3-64 of all the bytes before
//
// The checksum finds damage, not malice. So a manifest that anybody else could have written is not read (OpenOwn). Even
// so, a manifest cannot name a file outside the folder, except through symbolic links in it.

std::string SerializeManifest(std::string_view root, const FolderListing& listing);

// Returns the listing that `bytes` hold. Any bytes are safe to parse, and parsing allocates no more than a small
// multiple of their number. Errors are DataLoss for a manifest that is damaged or of another version, and
// FailedPrecondition for that of another root.
absl::StatusOr<FolderListing> ParseManifest(std::string_view bytes, std::string_view root);

inline constexpr size_t kManifestHeaderBytes = 32;

// Returns whether a file of `file_bytes` bytes that begins with `header` can be a manifest. Only the first
// kManifestHeaderBytes of `header` matter.
bool IsManifestHeader(std::string_view header, uint64_t file_bytes);

// The part of a manifest from `classes` to `paths`, which files of other layouts have too. What was read is well-formed
// only if FolderIndex::IsWellFormed says so.
void PutClassesAndFiles(const FolderIndex& index, BinaryWriter& writer);
void GetClassesAndFiles(BinaryReader& reader, FolderIndex& index);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_MANIFEST_FORMAT_H_
