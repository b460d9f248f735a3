#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_PREPARED_FOLDER_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_PREPARED_FOLDER_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/fields/schema.h"
#include "stoker/v1/prepared.pb.h"

namespace stoker {

// The file prepared.yaml, in which `stokerd prepare` describes an image folder that it made. All functions are
// thread-safe.

inline constexpr char kPreparedFile[] = "prepared.yaml";

// Reads prepared.yaml in `folder`. Returns nothing where there is no such file. Errors name the file.
absl::StatusOr<std::optional<v1::Prepared>> ReadPrepared(const std::string& folder);

// Returns OK if the folder may be served: it was prepared to its end, and by ops that this build runs in the same way.
// Otherwise returns FailedPrecondition, which says what to do.
absl::Status CheckServable(const v1::Prepared& prepared);

// Returns the fingerprint of a folder of packed images. Its FolderFingerprint, `folder_fingerprint`, covers only names
// and sizes and does not say which ops made the images. So the result is the SHA-256 of
//   "stoker.prepared_folder.v1"
//   folder_fingerprint
//   length and bytes of each: source_fingerprint, the serialized pipeline, pixel_check
//   pixel_version
// where numbers are 8 bytes, little-endian. Returns FailedPrecondition where the folder has changed since it was
// prepared.
absl::StatusOr<std::string> PackedFingerprint(const v1::Prepared& prepared, const std::string& folder_fingerprint);

// Makes the schema and the fingerprint of class folders those of packed images, where ops were run on them. Errors are
// those of PackedFingerprint.
absl::Status TakeOver(const v1::Prepared& prepared, SourceSchema& schema, std::string& fingerprint);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_PREPARED_FOLDER_H_
