#include "server/read/formats/parquet/row_group_cache.h"

#include <utility>

namespace stoker {

// What is kept of a row group that does not decode.
constexpr uint64_t kErrorBytes = 1024;

RowGroupCache::Used::~Used() {
  if (entry_ == nullptr) return;
  absl::MutexLock lock(&cache_->mutex_);
  if (--entry_->users == 0) cache_->changed_.SignalAll();
}

const RowGroup& RowGroupCache::Used::operator*() const { return *entry_->group; }

absl::StatusOr<RowGroupCache::Used> RowGroupCache::Get(uint64_t number, uint64_t bytes, const Load& load) {
  std::shared_ptr<Entry> entry;
  {
    absl::MutexLock lock(&mutex_);
    if (const auto found = entries_.find(number); found != entries_.end()) {
      entry = found->second;
      ++entry->users;
      while (entry->loading) changed_.Wait(&mutex_);
      if (entry->status.ok()) {
        used_.splice(used_.begin(), used_, entry->used);
        return Used(*this, entry);
      }
      --entry->users;
      return entry->status;
    }
    entry = entries_.emplace(number, std::make_shared<Entry>()).first->second;
    ++entry->users;
    MakeRoom(bytes);
    entry->bytes = bytes;
    bytes_ += bytes;
  }
  auto loaded = load();
  absl::MutexLock lock(&mutex_);
  Keep(number, *entry, std::move(loaded));
  changed_.SignalAll();
  if (entry->status.ok()) return Used(*this, entry);
  --entry->users;
  return entry->status;
}

void RowGroupCache::MakeRoom(uint64_t bytes) {
  while (bytes_ > 0 && (bytes > most_bytes_ || bytes_ > most_bytes_ - bytes))
    if (!DropOne()) changed_.Wait(&mutex_);
}

bool RowGroupCache::DropOne() {
  for (auto number = used_.rbegin(); number != used_.rend(); ++number) {
    const auto found = entries_.find(*number);
    if (found->second->users > 0) continue;
    bytes_ -= found->second->bytes;
    used_.erase(found->second->used);
    entries_.erase(found);
    return true;
  }
  return false;
}

void RowGroupCache::Keep(uint64_t number, Entry& entry, absl::StatusOr<std::unique_ptr<const RowGroup>> loaded) {
  bytes_ -= entry.bytes;
  entry.loading = false;
  entry.status = loaded.status();
  if (!entry.status.ok() && !absl::IsDataLoss(entry.status)) {
    entries_.erase(number);
    return;
  }
  if (loaded.ok()) entry.group = *std::move(loaded);
  entry.bytes = entry.group == nullptr ? kErrorBytes : entry.group->resident_bytes();
  bytes_ += entry.bytes;
  entry.used = used_.insert(used_.begin(), number);
  while (bytes_ > most_bytes_ && DropOne()) {
  }
}

}  // namespace stoker
