#ifndef STOKER_SERVER_READ_STORES_LOCAL_FILE_H_
#define STOKER_SERVER_READ_STORES_LOCAL_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stoker {

// Files by system calls. Errors are NotFound or Unavailable unless said otherwise; messages do not name the file, for
// the caller knows what it stands for.

// An open file or folder, closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int number() const { return number_; }
  int Release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

// "No such file or directory" for ENOENT.
std::string ErrnoText(int error);

// openat(2) for reading, of a path relative to `folder` (or AT_FDCWD). Adds O_CLOEXEC, O_NOCTTY, and O_NONBLOCK,
// without which a FIFO would wait for its writer.
absl::StatusOr<Descriptor> OpenAt(int folder, const std::string& path, int flags = 0);

// pread(2) of the file's first `count` bytes, or of all if they are fewer; returns how many. A file that shrinks
// meanwhile or a disk that fails shows in the result, where a mapping would be a SIGBUS.
absl::StatusOr<uint64_t> ReadUpTo(int file, uint64_t count, void* bytes);

// Replaces `bytes` by the whole of the regular file at `path`, relative to `folder`, which must be `expected` bytes
// long. FailedPrecondition where it is not that file: no regular one, or of another size.
absl::Status ReadFile(int folder, const std::string& path, uint64_t expected, std::vector<uint8_t>& bytes);

// write(2) until all bytes are.
absl::Status WriteAll(int file, std::string_view bytes);

// Writes `bytes` to a new file, down to the disk, and puts it in the place of the file at `path`: readers see the old
// one or the new one, whole.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_LOCAL_FILE_H_
