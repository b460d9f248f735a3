#ifndef STOKER_SERVER_READ_STORES_LOCAL_RECORD_FILE_H_
#define STOKER_SERVER_READ_STORES_LOCAL_RECORD_FILE_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/stores/local/file.h"

namespace stoker {

// A file to which records are appended, so that who was killed at any moment knows what was done. In it numbers are
// little-endian:
//
//   head      bytes of the caller's, which say what the records are of
//   records   each: u32 bytes of its body, u64 XXH3-64 of the body seeded with that number, and the body
//
// What a crash tore off, or what is damaged, ends the file. One thread at a time. Errors are Unavailable and name the
// file, unless said otherwise.
class RecordFile {
 public:
  // Opens the file at `path`, or makes it and the folders above it. Calls `known` with the body of each record that it
  // has if it begins with `head`; else the file begins anew. Where `known` returns false, the file ends before that
  // record. FailedPrecondition where another process works with the file.
  static absl::StatusOr<RecordFile> Open(const std::string& path, std::string_view head,
                                         const std::function<bool(std::string_view body)>& known);

  // Appends a record of less than 4 GiB. A process that is killed afterwards has written it.
  absl::Status Append(std::string_view body) const;

  // Waits until what was appended is on the disk.
  absl::Status Sync() const;

 private:
  RecordFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  Descriptor file_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_LOCAL_RECORD_FILE_H_
