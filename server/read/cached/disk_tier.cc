#include "server/read/cached/disk_tier.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/cached/segment_file.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

// A disk that takes nothing is tried again after so long.
constexpr std::chrono::seconds kPause{60};

uint64_t SegmentBytesFor(uint64_t size_bytes) {
  return std::clamp(size_bytes / 32, uint64_t{1} << 20, uint64_t{256} << 20);
}

}  // namespace

DiskTier::DiskTier(Options options)
    : options_(std::move(options)),
      folder_path_(absl::StrCat(options_.path, "/", kFolder)),
      segment_bytes_(options_.segment_bytes != 0 ? options_.segment_bytes : SegmentBytesFor(options_.size_bytes)),
      admission_(options_.kind),
      others_bytes_(options_.others_bytes) {}

absl::StatusOr<std::unique_ptr<DiskTier>> DiskTier::Open(Options options) {
  std::unique_ptr<DiskTier> tier(new DiskTier(std::move(options)));
  STOKER_RETURN_IF_ERROR(tier->TakeFolder());
  STOKER_RETURN_IF_ERROR(tier->Load());
  return tier;
}

DiskTier::~DiskTier() { EndSegment(); }

void DiskTier::ExpectBytes(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  admission_.ExpectBytes(bytes);
}

void DiskTier::SetOthers(uint64_t bytes) {
  std::vector<uint32_t> gone;
  {
    absl::MutexLock lock(&mutex_);
    others_bytes_ = bytes;
    for (auto oldest = Oldest(); bytes_ > Room() && oldest.has_value(); oldest = Oldest()) {
      Forget(*oldest);
      gone.push_back(*oldest);
    }
  }
  for (const uint32_t number : gone) Unlink(number);
}

void DiskTier::Ask(uint64_t size) {
  absl::MutexLock lock(&mutex_);
  admission_.Ask(size);
}

bool DiskTier::Has(const SampleKey& key) const {
  absl::MutexLock lock(&mutex_);
  return table_.contains(ShortKey(key));
}

bool DiskTier::Use(const SampleKey& key) {
  absl::MutexLock lock(&mutex_);
  const auto found = table_.find(ShortKey(key));
  if (found == table_.end()) return false;
  segments_[found->second.segment].used = admission_.now();
  return true;
}

DiskTier::Stats DiskTier::stats() const {
  absl::MutexLock lock(&mutex_);
  Stats stats = counts_;
  stats.bytes = bytes_;
  stats.samples = table_.size();
  stats.fails = fails_;
  return stats;
}

// ---- reading ----

bool DiskTier::Read(const SampleKey& key, std::span<uint8_t> into) {
  const uint64_t short_key = ShortKey(key);
  Location at;
  std::shared_ptr<const Descriptor> file;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = table_.find(short_key);
    if (found == table_.end()) return false;
    at = found->second;
    admission_.Ask(into.size());
    Segment& segment = segments_[at.segment];
    segment.used = admission_.now();
    file = segment.file;
  }
  if (file == nullptr) {
    auto opened = OpenForReading(at.segment);
    if (!opened.ok()) {
      if (absl::IsNotFound(opened.status())) ForgetAt(short_key, at);
      return false;
    }
    file = *std::move(opened);
  }
  if (!IsLinked(file->number())) {
    ForgetAt(short_key, at);
    return false;
  }
  RecordHeader header;
  if (ReadRecord(file->number(), header, into, at.offset) && IsRecord(header, key, into)) return true;
  // The record of another key that begins with the same bytes is none that is damaged.
  const bool is_others = ParseRecordHeader(header).has_value() && !std::equal(key.begin(), key.end(), header.begin());
  absl::MutexLock lock(&mutex_);
  if (!is_others && ForgetRecord(short_key, at)) ++counts_.damaged;
  return false;
}

std::shared_ptr<const Descriptor> DiskTier::folder() const {
  absl::MutexLock lock(&mutex_);
  return folder_;
}

absl::StatusOr<std::shared_ptr<const Descriptor>> DiskTier::OpenForReading(uint32_t number) {
  STOKER_ASSIGN_OR_RETURN(Descriptor opened, OpenAt(folder()->number(), SegmentName(number), O_NOFOLLOW));
  auto file = std::make_shared<const Descriptor>(std::move(opened));
  std::shared_ptr<const Descriptor> closed;  // Declared before the lock, hence destroyed after its release.
  absl::MutexLock lock(&mutex_);
  const auto segment = segments_.find(number);
  if (segment == segments_.end() || segment->second.file != nullptr) return file;
  segment->second.file = file;
  open_.push_back(number);
  if (open_.size() > kMostOpenFiles) {
    if (const auto first = segments_.find(open_.front()); first != segments_.end()) closed.swap(first->second.file);
    open_.pop_front();
  }
  return file;
}

bool DiskTier::ForgetRecord(uint64_t short_key, const Location& at) {
  const auto found = table_.find(short_key);
  if (found == table_.end() || found->second != at) return false;
  table_.erase(found);
  return true;
}

void DiskTier::ForgetAt(uint64_t short_key, const Location& at) {
  absl::MutexLock lock(&mutex_);
  // The thread that writes finds out about its own segment as soon as there is something to write.
  if (at.segment == active_number_) {
    ForgetRecord(short_key, at);
  } else {
    Forget(at.segment);
  }
}

void DiskTier::Forget(uint32_t number) {
  const auto segment = segments_.find(number);
  if (segment == segments_.end()) return;
  for (const uint64_t short_key : segment->second.short_keys) {
    const auto found = table_.find(short_key);
    if (found != table_.end() && found->second.segment == number) table_.erase(found);
  }
  bytes_ -= CostOf(segment->second.short_keys.size(), segment->second.bytes);
  segments_.erase(segment);
  std::erase(open_, number);
}

// ---- writing ----

bool DiskTier::IsFull(uint64_t bytes) const {
  // The last segment's room is given to what Draw() says, so that this does not stop as soon as one segment has gone.
  const uint64_t spare = options_.kind == Admission::Kind::kServing ? segment_bytes_ : 0;
  return bytes_ + bytes + spare > Room() || table_.size() >= options_.most_records;
}

std::optional<uint32_t> DiskTier::Oldest() const {
  std::optional<uint32_t> oldest;
  uint64_t used = ~uint64_t{};
  for (const auto& [number, segment] : segments_)
    if (number != active_number_ && segment.used < used) used = segment.used, oldest = number;
  return oldest;
}

bool DiskTier::IsOldestStale() {
  // Only where it may be so is there anything to look for.
  if (!admission_.IsStale(oldest_used_)) return false;
  const auto oldest = Oldest();
  oldest_used_ = oldest.has_value() ? segments_[*oldest].used : admission_.now();
  return oldest.has_value() && admission_.IsStale(oldest_used_);
}

bool DiskTier::Wants(const SampleKey& key, uint64_t size) {
  const uint64_t record = kRecordHeaderSize + size;
  if (record + kSegmentMagicBytes > segment_bytes_) return false;
  absl::MutexLock lock(&mutex_);
  if (IsPaused() || table_.contains(ShortKey(key))) return false;
  if (!IsFull(CostOf(1, record)) || IsOldestStale() || admission_.Draw()) return true;
  ++counts_.refused;
  return false;
}

bool DiskTier::MakeRoom(uint64_t bytes) {
  while (true) {
    uint32_t evicted = 0;
    {
      absl::MutexLock lock(&mutex_);
      if (bytes_ + bytes <= Room() && table_.size() < options_.most_records) return true;
      const auto oldest = Oldest();
      const bool only_stale = options_.kind == Admission::Kind::kFilling;
      if (!oldest.has_value() || (only_stale && !admission_.IsStale(segments_[*oldest].used))) {
        ++counts_.refused;
        return false;
      }
      evicted = *oldest;
      Forget(evicted);
    }
    Unlink(evicted);
  }
}

void DiskTier::Write(const SampleKey& key, std::span<const uint8_t> sample) {
  {
    absl::MutexLock lock(&mutex_);
    if (IsPaused() || table_.contains(ShortKey(key))) return;
  }
  const absl::Status status = Append(key, sample);
  if (!status.ok()) EndSegment();
  bool failed_before = false;
  {
    absl::MutexLock lock(&mutex_);
    failed_before = std::exchange(fails_, !status.ok());
    paused_until_ = options_.clock() + kPause;
  }
  if (!status.ok() && !failed_before)
    options_.warn(absl::StrCat("raw_cache.disk: ", ShortPrintableName(folder_path_),
                               " takes nothing now: ", std::string(status.message()),
                               "; the server goes on with what the folder has, and tries again every minute"));
}

absl::Status DiskTier::Append(const SampleKey& key, std::span<const uint8_t> sample) {
  if (!IsThere()) {
    EndSegment();
    {
      absl::MutexLock lock(&mutex_);
      while (!segments_.empty()) Forget(segments_.begin()->first);
    }
    lock_ = Descriptor();
    STOKER_RETURN_IF_ERROR(TakeFolder());
  }
  const uint64_t record = kRecordHeaderSize + sample.size();
  if (record + kSegmentMagicBytes > segment_bytes_ || !MakeRoom(CostOf(1, record + kSegmentMagicBytes)))
    return absl::OkStatus();
  if (active_.number() >= 0 && active_bytes_ + record > segment_bytes_) EndSegment();
  if (active_.number() < 0) STOKER_RETURN_IF_ERROR(StartSegment());
  STOKER_RETURN_IF_ERROR(WriteRecord(active_.number(), HeaderOf(key, sample), sample, active_bytes_));
  const uint64_t short_key = ShortKey(key);
  active_records_.push_back({short_key, static_cast<uint32_t>(active_bytes_)});
  absl::MutexLock lock(&mutex_);
  table_[short_key] = {active_number_, static_cast<uint32_t>(active_bytes_)};
  Segment& segment = segments_[active_number_];
  segment.short_keys.push_back(short_key);
  segment.bytes += record;
  segment.used = admission_.now();
  bytes_ += record + kPlaceBytes;
  active_bytes_ += record;
  return absl::OkStatus();
}

}  // namespace stoker
