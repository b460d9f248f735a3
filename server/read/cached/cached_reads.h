#ifndef STOKER_SERVER_READ_CACHED_CACHED_READS_H_
#define STOKER_SERVER_READ_CACHED_CACHED_READS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "server/read/cached/raw_cache.h"
#include "server/read/stores/store.h"

namespace stoker {

// Reads a dataset's samples from a cache, or else from their store. Immutable, hence thread-safe.
class CachedReads {
 public:
  // Without `cache` all is read from the store. `bytes` are those of all samples.
  CachedReads(std::shared_ptr<RawCache> cache, uint64_t bytes) : cache_(std::move(cache)), bytes_(bytes) {
    if (cache_ != nullptr) cache_->AddDataset(bytes_);
  }
  CachedReads(const CachedReads&) = delete;
  CachedReads& operator=(const CachedReads&) = delete;
  ~CachedReads() {
    if (cache_ != nullptr) cache_->RemoveDataset(bytes_);
  }

  // Whether samples are kept.
  bool keeps() const { return cache_ != nullptr; }

  // Reads a sample's range, and waits for it. `to_keep` is set where Keep is to be called, once the bytes have parsed.
  absl::Status Read(Store& store, const Store::Range& range, std::optional<SampleKey>& to_keep) const {
    if (cache_ != nullptr) to_keep = KeyOf(store, *range.object, range.offset, range.into.size());
    if (to_keep.has_value() && cache_->Read(*to_keep, range.into)) {
      to_keep = std::nullopt;
      return absl::OkStatus();
    }
    return ReadNow(store, range);
  }

  // Keeps the bytes that Read gave.
  void Keep(const std::optional<SampleKey>& to_keep, std::span<const uint8_t> bytes) const {
    if (to_keep.has_value()) cache_->Put(*to_keep, bytes);
  }

 private:
  const std::shared_ptr<RawCache> cache_;  // null where nothing is kept
  const uint64_t bytes_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CACHED_CACHED_READS_H_
