#include "server/read/cached/memory_tier.h"

#include <utility>

namespace stoker {

void MemoryTier::ExpectBytes(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  admission_.ExpectBytes(bytes);
}

void MemoryTier::Ask(uint64_t size) {
  absl::MutexLock lock(&mutex_);
  admission_.Ask(size);
}

KeptBytes MemoryTier::Get(const SampleKey& key, uint64_t size) {
  if (!enabled()) return nullptr;
  absl::MutexLock lock(&mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end() || found->second->bytes->size() != size) return nullptr;
  admission_.Ask(size);
  found->second->used = admission_.now();
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->bytes;
}

bool MemoryTier::Has(const SampleKey& key) const {
  if (!enabled()) return false;
  absl::MutexLock lock(&mutex_);
  return by_key_.contains(key);
}

bool MemoryTier::Reserve(uint64_t size) {
  const uint64_t needed = size + kEntryBytes;
  if (needed > budget_bytes_) return false;
  Entries gone;  // Declared before the lock, hence destroyed after its release.
  absl::MutexLock lock(&mutex_);
  if (bytes_ + needed > budget_bytes_) {
    // What is reserved cannot be given up.
    if (entries_.empty() || !(admission_.IsStale(entries_.back().used) || admission_.Draw())) return false;
    while (!entries_.empty() && bytes_ + needed > budget_bytes_) {
      bytes_ -= entries_.back().bytes->size() + kEntryBytes;
      by_key_.erase(entries_.back().key);
      gone.splice(gone.end(), entries_, std::prev(entries_.end()));
    }
    if (bytes_ + needed > budget_bytes_) return false;
  }
  bytes_ += needed;
  return true;
}

void MemoryTier::Put(const SampleKey& key, KeptBytes bytes) {
  const uint64_t size = bytes->size();
  Entries entry;
  entry.push_front({key, std::move(bytes)});
  absl::MutexLock lock(&mutex_);
  if (!by_key_.try_emplace(key, entry.begin()).second) {  // Another thread was faster.
    bytes_ -= size + kEntryBytes;
    return;
  }
  entry.front().used = admission_.now();
  entries_.splice(entries_.begin(), entry);
}

void MemoryTier::Release(uint64_t size) {
  absl::MutexLock lock(&mutex_);
  bytes_ -= size + kEntryBytes;
}

MemoryTier::Stats MemoryTier::stats() const {
  absl::MutexLock lock(&mutex_);
  return {.bytes = bytes_, .samples = by_key_.size()};
}

}  // namespace stoker
