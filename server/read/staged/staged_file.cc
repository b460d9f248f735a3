#include "server/read/staged/staged_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/read/binary.h"
#include "xxhash.h"

namespace stoker {
namespace {

constexpr std::string_view kMagic = "STOKER STAGED 1\n";
constexpr uint64_t kKeyBytes = 32;
constexpr uint64_t kEndBytes = kKeyBytes + 2 * sizeof(uint64_t) + kMagic.size();

absl::Status Damaged(absl::string_view what) { return absl::DataLossError(absl::StrCat("it is damaged: ", what)); }

uint64_t BlocksOf(uint64_t bytes) { return bytes / kStagedBlockBytes + (bytes % kStagedBlockBytes > 0 ? 1 : 0); }

absl::Status ReadAt(int file, uint64_t offset, void* into, uint64_t bytes) {
  auto* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = pread(file, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Damaged(ErrnoText(errno));
    if (got == 0) return Damaged("it ends early");
    at += got;
    offset += got;
    bytes -= got;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status StagedFileWriter::Add(std::span<const uint8_t> plain) {
  plain_bytes_ += plain.size();
  while (!plain.empty()) {
    const size_t some = std::min<size_t>(plain.size(), kStagedBlockBytes - block_.size());
    block_.append(reinterpret_cast<const char*>(plain.data()), some);
    plain = plain.subspan(some);
    if (block_.size() == kStagedBlockBytes) STOKER_RETURN_IF_ERROR(WriteBlock());
  }
  return absl::OkStatus();
}

absl::Status StagedFileWriter::WriteBlock() {
  checksums_.push_back(XXH3_64bits(block_.data(), block_.size()));
  STOKER_RETURN_IF_ERROR(WriteAll(file_, block_));
  block_.clear();
  return absl::OkStatus();
}

absl::Status StagedFileWriter::Finish(std::string_view key) {
  STOKER_CHECK(key.size() == kKeyBytes);
  if (!block_.empty()) STOKER_RETURN_IF_ERROR(WriteBlock());
  BinaryWriter end;
  end.PutArray(checksums_);
  end.bytes += key;
  end.Put<uint64_t>(plain_bytes_);
  end.Put<uint64_t>(XXH3_64bits(end.bytes.data(), end.bytes.size()));
  end.bytes += kMagic;
  STOKER_RETURN_IF_ERROR(WriteAll(file_, end.bytes));
  if (fsync(file_) != 0) return absl::UnavailableError(absl::StrCat("cannot sync: ", ErrnoText(errno)));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const StagedFile>> StagedFile::Open(const std::string& path, std::string_view key) {
  STOKER_ASSIGN_OR_RETURN(Descriptor file, OpenOwn(path));
  struct stat status;
  if (fstat(file.number(), &status) != 0) return absl::UnavailableError("cannot stat");
  const auto file_bytes = static_cast<uint64_t>(status.st_size);
  if (file_bytes < kEndBytes) return Damaged("it was not written to its end");
  std::string end(kEndBytes, '\0');
  STOKER_RETURN_IF_ERROR(ReadAt(file.number(), file_bytes - kEndBytes, end.data(), kEndBytes));
  BinaryReader reader(end);
  const bool is_ours = reader.Take(kKeyBytes) == key;
  const auto size = reader.Get<uint64_t>(), checksum = reader.Get<uint64_t>();
  if (reader.Take(kMagic.size()) != kMagic) return Damaged("it was not written to its end");
  if (!is_ours) return Damaged("it is of another file");
  const uint64_t table_bytes = BlocksOf(size) * sizeof(uint64_t);
  if (size > file_bytes || size + table_bytes + kEndBytes != file_bytes) return Damaged("it has another length");
  std::string checked(table_bytes + kKeyBytes + sizeof(uint64_t), '\0');
  STOKER_RETURN_IF_ERROR(ReadAt(file.number(), size, checked.data(), checked.size()));
  if (XXH3_64bits(checked.data(), checked.size()) != checksum) return Damaged("a checksum is wrong");
  return std::shared_ptr<const StagedFile>(new StagedFile(std::move(file), size));
}

absl::Status StagedFile::Read(uint64_t offset, std::span<uint8_t> into) const {
  if (into.empty()) return absl::OkStatus();
  const uint64_t first = offset / kStagedBlockBytes, end = BlocksOf(offset + into.size());
  std::vector<uint64_t> checksums(end - first);
  STOKER_RETURN_IF_ERROR(
      ReadAt(file_.number(), size_ + first * sizeof(uint64_t), checksums.data(), checksums.size() * sizeof(uint64_t)));
  std::vector<uint8_t> edge(kStagedBlockBytes);
  for (uint64_t block = first; block < end; ++block) {
    const uint64_t begin = block * kStagedBlockBytes, bytes = std::min(kStagedBlockBytes, size_ - begin);
    // What lies wholly in the range needs no copy.
    const bool whole = begin >= offset && begin + bytes <= offset + into.size();
    uint8_t* const at = whole ? into.data() + (begin - offset) : edge.data();
    STOKER_RETURN_IF_ERROR(ReadAt(file_.number(), begin, at, bytes));
    if (XXH3_64bits(at, bytes) != checksums[block - first]) return Damaged("a checksum is wrong");
    if (whole) continue;
    const uint64_t from = std::max(begin, offset), to = std::min(begin + bytes, offset + into.size());
    std::memcpy(into.data() + (from - offset), edge.data() + (from - begin), to - from);
  }
  return absl::OkStatus();
}

}  // namespace stoker
