#include "server/read/cached/segment_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_format.h"

namespace stoker {

std::string SegmentName(uint32_t number) { return absl::StrFormat("%08x.segment", number); }

std::string TableName(uint32_t number) { return absl::StrFormat("%08x.table", number); }

uint64_t CostOf(uint64_t records, uint64_t segment_bytes) {
  return segment_bytes + kTableBytes + records * kPlaceBytes;
}

bool IsLinked(int file) {
  struct stat status;
  return fstat(file, &status) == 0 && status.st_nlink > 0;
}

absl::Status WriteRecord(int file, const RecordHeader& header, std::span<const uint8_t> sample, uint64_t offset) {
  const uint64_t bytes = header.size() + sample.size();
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t of_header = std::min<uint64_t>(done, header.size()), of_sample = done - of_header;
    const iovec parts[2] = {{const_cast<uint8_t*>(header.data()) + of_header, header.size() - of_header},
                            {const_cast<uint8_t*>(sample.data()) + of_sample, sample.size() - of_sample}};
    const ssize_t written = pwritev(file, parts, 2, static_cast<off_t>(offset + done));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return absl::UnavailableError(ErrnoText(errno));
    done += written;
  }
  return absl::OkStatus();
}

uint64_t ReadAt(int file, std::span<uint8_t> into, uint64_t offset) {
  uint64_t done = 0;
  while (done < into.size()) {
    const ssize_t got = pread(file, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += got;
  }
  return done;
}

std::optional<std::vector<RecordPlace>> ReadTable(const Descriptor& folder, const std::string& name,
                                                  uint64_t segment_bytes) {
  const auto file = OpenAt(folder.number(), name, O_NOFOLLOW);
  struct stat status;
  if (!file.ok() || fstat(file->number(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  // No record is smaller than its header.
  const uint64_t most = kTableBytes + segment_bytes / kRecordHeaderSize * kPlaceBytes;
  if (static_cast<uint64_t>(status.st_size) > most) return std::nullopt;
  std::string bytes(status.st_size, '\0');
  const auto got = ReadUpTo(file->number(), bytes.size(), bytes.data());
  return got.ok() && *got == bytes.size() ? ParseTable(bytes, segment_bytes) : std::nullopt;
}

bool ReadRecord(int file, RecordHeader& header, std::span<uint8_t> sample, uint64_t offset) {
  const uint64_t bytes = header.size() + sample.size();
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t of_header = std::min<uint64_t>(done, header.size()), of_sample = done - of_header;
    const iovec parts[2] = {{header.data() + of_header, header.size() - of_header},
                            {sample.data() + of_sample, sample.size() - of_sample}};
    const ssize_t got = preadv(file, parts, 2, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += got;
  }
  return true;
}

}  // namespace stoker
