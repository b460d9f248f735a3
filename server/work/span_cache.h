#ifndef STOKER_SERVER_WORK_SPAN_CACHE_H_
#define STOKER_SERVER_WORK_SPAN_CACHE_H_

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/identity/span_id.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// A span that was made. Never changes.
struct KeptSpan {
  v1::SpanHeader header;
  std::vector<uint8_t> payload;
  uint64_t payload_hash = 0;  // See HashOfPayload.
};

// Spans that were made, by identity, for jobs that ask for the same ones: the least recently used goes first. Bytes
// are a pure function of the key, so a span that is kept is the span.
//
// Keys begin with a StreamPlan's key, which hashes all that bytes depend on. Two jobs on one server whose 64-bit keys
// collide would need some four billion different ones.
//
// Thread-safe. Bounded by its budget, which counts payloads and headers; what is evicted while it is being sent stays
// until then, for which its receiver must have room.
class SpanCache {
 public:
  using Key = std::pair<uint64_t, SpanId>;

  struct Stats {
    uint64_t hits = 0, misses = 0, evictions = 0;  // spans
    uint64_t bytes = 0, spans = 0;                 // kept now
  };

  // Keeps nothing if the budget is 0.
  explicit SpanCache(uint64_t budget_bytes) : budget_bytes_(budget_bytes) {}

  bool enabled() const { return budget_bytes_ > 0; }

  // Whether a worker should take this span up now: not while another makes it. True begins it, unless it is kept
  // already: call Put or GiveUp then.
  bool Begin(const Key& key);

  // The span, or null if it is not kept.
  std::shared_ptr<const KeptSpan> Get(const Key& key);

  // Ends what Begin began. Keeps a copy of the span, if it is not larger than the budget.
  void Put(const Key& key, const v1::SpanHeader& header, std::span<const uint8_t> payload, uint64_t payload_hash);
  void GiveUp(const Key& key);

  Stats stats() const;

 private:
  struct Entry {
    Key key;
    std::shared_ptr<const KeptSpan> span;
    uint64_t bytes = 0;
  };
  using Entries = std::list<Entry>;

  const uint64_t budget_bytes_;

  mutable absl::Mutex mutex_;
  Entries entries_ ABSL_GUARDED_BY(mutex_);  // The most recently used one first.
  std::map<Key, Entries::iterator> by_key_ ABSL_GUARDED_BY(mutex_);
  std::set<Key> begun_ ABSL_GUARDED_BY(mutex_);
  Stats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_SPAN_CACHE_H_
