#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_PREPARED_FOLDER_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_PREPARED_FOLDER_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stoker/v1/prepared.pb.h"

namespace stoker {

// What `stokerd prepare` says, in the file prepared.yaml, of an image folder that it made. Thread-safe.

inline constexpr char kPreparedFile[] = "prepared.yaml";

// The file in `folder`, or none where there is none. Errors name it.
absl::StatusOr<std::optional<v1::Prepared>> ReadPrepared(const std::string& folder);

// OK if the folder may be served: it was prepared to its end, and by ops that this build runs in the same way. Else
// FailedPrecondition with what to do.
absl::Status CheckServable(const v1::Prepared& prepared);

// The fingerprint of a folder of packed images, whose names and sizes alone, in `folder_fingerprint`, do not say by
// which ops they came to be: SHA-256 of
//   "stoker.prepared_folder.v1"
//   folder_fingerprint
//   length and bytes of each: source_fingerprint, the serialized pipeline, pixel_check
//   pixel_version
// where numbers are 8 bytes, little-endian. FailedPrecondition where the folder has changed since it was prepared.
absl::StatusOr<std::string> PackedFingerprint(const v1::Prepared& prepared, const std::string& folder_fingerprint);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_PREPARED_FOLDER_H_
