#include "server/work/span_cache.h"

#include <utility>

namespace stoker {

bool SpanCache::Begin(const Key& key) {
  if (!enabled()) return true;
  const absl::MutexLock lock(&mutex_);
  return by_key_.contains(key) || begun_.insert(key).second;
}

bool SpanCache::Has(const Key& key) const {
  if (!enabled()) return false;
  absl::MutexLock lock(&mutex_);
  return by_key_.contains(key);
}

std::shared_ptr<const KeptSpan> SpanCache::Get(const Key& key) {
  const absl::MutexLock lock(&mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    stats_.misses += enabled() ? 1 : 0;
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, found->second);
  ++stats_.hits;
  return found->second->span;
}

void SpanCache::Put(const Key& key, const v1::SpanHeader& header, std::span<const uint8_t> payload,
                    uint64_t payload_hash) {
  if (!enabled()) return;
  const uint64_t bytes = payload.size() + header.SpaceUsedLong() + sizeof(Entry) + sizeof(KeptSpan);
  if (bytes > budget_bytes_) return GiveUp(key);
  auto span = std::make_shared<const KeptSpan>(KeptSpan{header, {payload.begin(), payload.end()}, payload_hash});
  Entries evicted;  // Declared before the lock, hence freed after it is released.
  const absl::MutexLock lock(&mutex_);
  begun_.erase(key);
  if (by_key_.contains(key)) return;
  while (stats_.bytes + bytes > budget_bytes_) {
    const auto last = std::prev(entries_.end());
    stats_.bytes -= last->bytes;
    ++stats_.evictions;
    by_key_.erase(last->key);
    evicted.splice(evicted.begin(), entries_, last);
  }
  Entries added;  // What may find no memory comes first, so that nothing is half done.
  added.push_front({key, std::move(span), bytes});
  by_key_.emplace(key, added.begin());
  entries_.splice(entries_.begin(), added);
  stats_.bytes += bytes;
}

void SpanCache::GiveUp(const Key& key) {
  const absl::MutexLock lock(&mutex_);
  begun_.erase(key);
}

SpanCache::Stats SpanCache::stats() const {
  const absl::MutexLock lock(&mutex_);
  Stats stats = stats_;
  stats.spans = entries_.size();
  return stats;
}

}  // namespace stoker
