#ifndef STOKER_COMMON_CONFIG_WATCHED_FILE_H_
#define STOKER_COMMON_CONFIG_WATCHED_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stoker {

// A small file that others replace while this process runs, such as a certificate or a token. It may be a symbolic link
// that moves, as Kubernetes replaces what it mounts.
//
// Single owner. Reading may block for as long as the file's storage does.
class WatchedFile {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{4} << 20;

  explicit WatchedFile(std::string path) : path_(std::move(path)) {}

  // Reads the file unless its status says that it is as it was. True if its content is another than after the call
  // before, false at the first call of an empty file too. NotFound, or FailedPrecondition for what cannot be read or
  // has more than kMostBytes: the message begins with the path, and the content stays as it was.
  absl::StatusOr<bool> Refresh();

  // What was read last; empty before.
  const std::string& content() const { return content_; }
  const std::string& path() const { return path_; }

 private:
  // What tells a file from the one that was read, without reading it.
  struct Stamp {
    uint64_t device = 0, inode = 0, bytes = 0;
    int64_t changed_s = 0, changed_ns = 0, modified_s = 0, modified_ns = 0;
    bool operator==(const Stamp&) const = default;
  };

  const std::string path_;
  std::string content_;
  // Unset where the file may have changed since without its stamp telling: it was written only just before.
  std::optional<Stamp> stamp_;
};

// Reads a file as WatchedFile does, once.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_WATCHED_FILE_H_
