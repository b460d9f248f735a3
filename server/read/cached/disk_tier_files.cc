// The files of a DiskTier: its folder, the segment that is written to, and what a start finds.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/cached/disk_tier.h"
#include "server/read/cached/segment_file.h"
#include "server/read/printable_name.h"

namespace stoker {

absl::Status DiskTier::StartSegment() {
  const uint32_t number = next_number_++;
  const std::string name = SegmentName(number);
  Descriptor file(openat(folder()->number(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.number() < 0) return absl::UnavailableError(absl::StrCat("cannot create ", name, ": ", ErrnoText(errno)));
  if (absl::Status status = WriteAll(file.number(), kSegmentMagic); !status.ok()) {
    Unlink(number);
    return status;
  }
  active_ = std::move(file);
  active_bytes_ = kSegmentMagicBytes;
  active_records_.clear();
  absl::MutexLock lock(&mutex_);
  active_number_ = number;
  segments_[number].bytes = kSegmentMagicBytes;
  bytes_ += CostOf(0, kSegmentMagicBytes);
  return absl::OkStatus();
}

void DiskTier::EndSegment() {
  if (active_.number() < 0) return;
  // What a failed write left behind is cut off. Where that fails too, the segment is scanned at the next start.
  const bool is_whole = ftruncate(active_.number(), static_cast<off_t>(active_bytes_)) == 0;
  active_ = Descriptor();
  uint32_t number = 0;
  {
    absl::MutexLock lock(&mutex_);
    number = std::exchange(active_number_, 0);
  }
  if (is_whole) WriteTable(number, active_bytes_, active_records_);
}

void DiskTier::WriteTable(uint32_t number, uint64_t segment_bytes, const std::vector<RecordPlace>& records) const {
  // It is checked whenever it is read, so it may be torn. Without it the segment is scanned.
  const auto folder = this->folder();
  Descriptor file(
      openat(folder->number(), TableName(number).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.number() >= 0) WriteAll(file.number(), SerializeTable(segment_bytes, records)).IgnoreError();
}

void DiskTier::Unlink(uint32_t number) const {
  const auto folder = this->folder();
  for (const std::string& name : {SegmentName(number), TableName(number)}) unlinkat(folder->number(), name.c_str(), 0);
}

bool DiskTier::IsThere() const {
  return IsLinked(lock_.number()) && (active_.number() < 0 || IsLinked(active_.number()));
}

absl::Status DiskTier::TakeFolder() {
  const auto failed = [&](const char* what, int error) {
    return absl::UnavailableError(absl::StrCat(what, " ", ShortPrintableName(folder_path_), ": ", ErrnoText(error)));
  };
  std::error_code error;
  std::filesystem::create_directories(options_.path, error);
  if (error)
    return absl::UnavailableError(
        absl::StrCat("cannot make ", ShortPrintableName(options_.path), ": ", error.message()));
  if (mkdir(folder_path_.c_str(), 0700) != 0 && errno != EEXIST) return failed("cannot make", errno);
  auto folder =
      std::make_shared<const Descriptor>(open(folder_path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status;
  if (folder->number() < 0 || fstat(folder->number(), &status) != 0) return failed("cannot open", errno);
  if ((status.st_uid != geteuid() && status.st_uid != 0) || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return absl::PermissionDeniedError(
        absl::StrCat(ShortPrintableName(folder_path_), ": others may write to it; remove it, or give it mode 0700"));
  Descriptor lock(openat(folder->number(), "lock", O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.number() < 0) return failed("cannot write to", errno);
  if (flock(lock.number(), LOCK_EX | LOCK_NB) != 0)
    return absl::FailedPreconditionError(
        absl::StrCat(ShortPrintableName(folder_path_),
                     ": another stokerd uses it; stop that one, or give this one a raw_cache.disk.path of its own, and "
                     "start it again"));
  lock_ = std::move(lock);
  absl::MutexLock guard(&mutex_);
  folder_ = std::move(folder);
  return absl::OkStatus();
}

absl::Status DiskTier::Load() {
  std::set<uint32_t, std::greater<>>
      numbers;  // What is newest is loaded first, and kept where there is not room for all.
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_path_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    uint32_t number = 0;
    if (absl::SimpleHexAtoi(name.substr(0, name.find('.')), &number) && number != 0 &&
        (name == SegmentName(number) || name == TableName(number)))
      numbers.insert(number);
  }
  if (error) return absl::UnavailableError(absl::StrCat("cannot list ", ShortPrintableName(folder_path_)));
  for (const uint32_t number : numbers) {
    next_number_ = std::max(next_number_, number + 1);
    LoadSegment(number);
  }
  return absl::OkStatus();
}

void DiskTier::LoadSegment(uint32_t number) {
  const auto folder = this->folder();
  const auto file = OpenAt(folder->number(), SegmentName(number), O_NOFOLLOW);
  struct stat status;
  const bool is_file = file.ok() && fstat(file->number(), &status) == 0 && S_ISREG(status.st_mode);
  const uint64_t bytes = is_file ? static_cast<uint64_t>(status.st_size) : 0;
  auto records = is_file ? ReadTable(*folder, TableName(number), bytes) : std::nullopt;
  if (is_file && !records.has_value()) {
    records = ScanSegment(bytes, [&](uint64_t offset, std::span<uint8_t> into) -> uint64_t {
                return ReadAt(file->number(), into, offset);
              }).records;
    if (!records->empty()) WriteTable(number, bytes, *records);
  }
  const uint64_t cost = records.has_value() ? CostOf(records->size(), bytes) : 0;
  {
    absl::MutexLock lock(&mutex_);
    const bool has_room =
        bytes_ + cost <= Room() && table_.size() + (cost == 0 ? 0 : records->size()) <= options_.most_records;
    if (cost > 0 && !records->empty() && has_room) {
      Segment& segment = segments_[number];
      segment.bytes = bytes;
      bytes_ += cost;
      segment.short_keys.reserve(records->size());
      for (const RecordPlace& record : *records) {
        segment.short_keys.push_back(record.short_key);
        table_.try_emplace(record.short_key, Location{number, record.offset});
      }
      return;
    }
  }
  Unlink(number);
}

}  // namespace stoker
