#ifndef STOKER_SERVER_READ_STORES_LOCAL_FILE_H_
#define STOKER_SERVER_READ_STORES_LOCAL_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stoker {

// Local files by system calls. Errors are NotFound or Unavailable unless a function says otherwise. Their messages do
// not name the file, because the caller knows what it stands for. All functions are thread-safe.

// Owns the descriptor of an open file or folder and closes it at its end. It is used by one thread at a time.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  // Returns the descriptor's number, −1 where it owns none.
  int number() const { return number_; }
  // Gives up the ownership and returns the number.
  int Release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

// Returns the text of an errno, such as "No such file or directory" for ENOENT.
std::string ErrnoText(int error);

// Opens a path relative to `folder` (or AT_FDCWD) for reading, by openat(2). Adds O_CLOEXEC, O_NOCTTY and O_NONBLOCK to
// `flags`. Without O_NONBLOCK a FIFO would wait for its writer.
absl::StatusOr<Descriptor> OpenAt(int folder, const std::string& path, int flags = 0);

// Opens the file at `path`, which this server wrote earlier to trust it now. Returns PermissionDenied where another
// user than this process's or root owns it, or others may write to it.
absl::StatusOr<Descriptor> OpenOwn(const std::string& path);

// Reads the file's first `count` bytes, or all if they are fewer, by pread(2), and returns how many it read. A file
// that shrinks meanwhile gives fewer bytes and a disk that fails gives an error, where a mapping would raise SIGBUS.
absl::StatusOr<uint64_t> ReadUpTo(int file, uint64_t count, void* bytes);

// The second of a file's last modification, modulo 2^32. Fractions are left out: some file systems forget them when a
// file is not in use.
using ModifiedSecond = uint32_t;

// Replaces `bytes` by the whole regular file at `path`, relative to `folder`. Returns FailedPrecondition where it is
// not a regular file of `expected` bytes, or was written to at another second than `modified`, if that is given.
absl::Status ReadFile(int folder, const std::string& path, uint64_t expected, std::vector<uint8_t>& bytes,
                      std::optional<ModifiedSecond> modified = std::nullopt);

// Calls write(2) until all bytes are written.
absl::Status WriteAll(int file, std::string_view bytes);

// Writes `bytes` to a new file, syncs it to the disk and renames it to `path`. Readers see the old file or the new one,
// as a whole. Where it fails, the old file stays.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_LOCAL_FILE_H_
