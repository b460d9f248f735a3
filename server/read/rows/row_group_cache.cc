#include "server/read/rows/row_group_cache.h"

#include <algorithm>
#include <utility>

namespace stoker {

// What is kept of a row group that does not decode.
constexpr uint64_t kErrorBytes = 1024;

namespace {

void CallAll(const std::vector<std::function<void()>>& functions) {
  for (const auto& function : functions) function();
}

}  // namespace

RowGroupCache::Used::~Used() {
  if (entry_ == nullptr) return;
  absl::MutexLock lock(&cache_->mutex_);
  if (--entry_->users == 0) cache_->changed_.SignalAll();
}

const RowGroup& RowGroupCache::Used::operator*() const { return *entry_->group; }

absl::StatusOr<RowGroupCache::Used> RowGroupCache::Get(uint64_t number, const Size& size, const Load& load) {
  std::shared_ptr<Entry> entry;
  {
    absl::MutexLock lock(&mutex_);
    if (const auto found = entries_.find(number); found != entries_.end()) {
      entry = found->second;
      ++entry->users;
      while (entry->loading) changed_.Wait(&mutex_);
      if (entry->status.ok()) {
        Use(*entry);
        return Used(*this, entry);
      }
      --entry->users;
      return entry->status;
    }
    entry = entries_.emplace(number, std::make_shared<Entry>()).first->second;
    ++entry->users;
    entry->bytes = size.loaded + size.loading;
    MakeRoom(entry->bytes);
    bytes_ += entry->bytes;
  }
  auto loaded = load();
  std::vector<std::function<void()>> waits, begins;
  {
    absl::MutexLock lock(&mutex_);
    Keep(number, *entry, std::move(loaded));
    waits = std::move(entry->waits);
    begins = TakePending();
    if (entry->status.ok()) {
      Use(*entry);
    } else {
      --entry->users;
    }
    changed_.SignalAll();
  }
  CallAll(waits);
  CallAll(begins);
  if (entry->status.ok()) return Used(*this, entry);
  return entry->status;
}

void RowGroupCache::LoadAhead(uint64_t number, const Size& size, std::function<void()> begin,
                              std::function<void()> done) {
  std::function<void()> next;
  {
    absl::MutexLock lock(&mutex_);
    Wanted& wanted = wanted_[number];
    ++wanted.times;
    const auto found = entries_.find(number);
    if (found != entries_.end() && found->second->loading) {
      found->second->waits.push_back(std::move(done));
      return;
    }
    const bool is_new = found == entries_.end() && !wanted.is_pending;
    if (Entry* const entry = is_new && pending_.empty() ? AddAhead(number, size) : nullptr; entry != nullptr) {
      entry->waits.push_back(std::move(done));
      next = std::move(begin);
    } else {
      next = std::move(done);
      if (is_new && size.loaded + size.loading <= most_bytes_) {
        pending_.push_back({number, size, std::move(begin)});
        wanted.is_pending = true;
      }
    }
  }
  next();
}

void RowGroupCache::EndAhead(uint64_t number, absl::StatusOr<std::unique_ptr<const RowGroup>> loaded) {
  std::vector<std::function<void()>> waits, begins;
  {
    absl::MutexLock lock(&mutex_);
    const std::shared_ptr<Entry> entry = entries_.at(number);
    Keep(number, *entry, std::move(loaded));
    waits = std::move(entry->waits);
    begins = TakePending();
    changed_.SignalAll();
  }
  CallAll(waits);
  CallAll(begins);
}

void RowGroupCache::LetGo(uint64_t number) {
  std::vector<std::function<void()>> begins;
  {
    absl::MutexLock lock(&mutex_);
    const auto wanted = wanted_.find(number);
    if (wanted == wanted_.end() || --wanted->second.times > 0) return;
    if (wanted->second.is_pending) pending_.remove_if([&](const Pending& pending) { return pending.number == number; });
    wanted_.erase(wanted);
    begins = TakePending();
  }
  CallAll(begins);
}

RowGroupCache::Entry* RowGroupCache::AddAhead(uint64_t number, const Size& size) {
  const uint64_t bytes = size.loaded + size.loading;
  if (waiting_ > 0) return nullptr;
  while (!HasRoomFor(bytes))
    if (!DropOne(/*may_drop_wanted=*/false)) return nullptr;
  Entry& entry = *entries_.emplace(number, std::make_shared<Entry>()).first->second;
  entry.bytes = bytes;
  bytes_ += bytes;
  return &entry;
}

std::vector<std::function<void()>> RowGroupCache::TakePending() {
  std::vector<std::function<void()>> begins;
  while (!pending_.empty()) {
    Pending& first = pending_.front();
    if (!entries_.contains(first.number)) {
      if (AddAhead(first.number, first.size) == nullptr) break;
      begins.push_back(std::move(first.begin));
    }
    wanted_[first.number].is_pending = false;
    pending_.pop_front();
  }
  return begins;
}

void RowGroupCache::Use(Entry& entry) {
  const bool is_used_up = ++entry.used_rows % entry.group->rows() == 0;
  order_.splice(is_used_up ? order_.end() : order_.begin(), order_, entry.place);
}

void RowGroupCache::MakeRoom(uint64_t bytes) {
  ++waiting_;
  while (bytes_ > 0 && !HasRoomFor(bytes))
    if (!DropOne(false) && !DropOne(true)) changed_.Wait(&mutex_);
  --waiting_;
}

bool RowGroupCache::DropOne(bool may_drop_wanted) {
  const auto may_go = [&](uint64_t number) {
    mutex_.AssertHeld();
    return entries_.at(number)->users == 0 && (may_drop_wanted || !wanted_.contains(number));
  };
  // What is wanted and was not used yet was loaded in the order of need, so that the first is the one needed last.
  auto dropped = order_.end();
  if (may_drop_wanted)
    dropped = std::find_if(order_.begin(), order_.end(), [&](uint64_t number) {
      mutex_.AssertHeld();
      return may_go(number) && entries_.at(number)->used_rows == 0;
    });
  for (auto place = order_.end(); dropped == order_.end() && place != order_.begin();)
    if (may_go(*--place)) dropped = place;
  if (dropped == order_.end()) return false;
  const auto found = entries_.find(*dropped);
  bytes_ -= found->second->bytes;
  entries_.erase(found);
  order_.erase(dropped);
  return true;
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
  entry.place = order_.insert(order_.begin(), number);
  while (bytes_ > most_bytes_ && (DropOne(false) || DropOne(true))) {
  }
}

}  // namespace stoker
