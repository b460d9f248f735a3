#ifndef STOKER_SERVER_WORK_SPAN_CACHE_H_
#define STOKER_SERVER_WORK_SPAN_CACHE_H_

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/identity/span_id.h"
#include "server/plan/stream_plan.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// A copy of a span that was made. It never changes.
struct KeptSpan {
  v1::SpanHeader header;
  std::vector<uint8_t> payload;
  uint64_t payload_hash = 0;  // HashOfPayload of `payload`
};

// Keeps spans that were made, for other jobs that ask for the same ones. The least recently used span goes first. A
// span's bytes are a pure function of its key, so a kept span is as good as a new one.
//
// A key begins with a StreamPlan's, which is a SHA-256 over all that the bytes depend on: nobody can make a job whose
// spans pass for another's.
//
// Thread-safe. The budget bounds payloads and headers. A span that is evicted while it is being sent lives until it was
// sent; whoever got it from Get must account for that memory.
class SpanCache {
 public:
  using Key = std::pair<StreamPlan::Key, SpanId>;

  struct Stats {
    uint64_t hits = 0, misses = 0, evictions = 0;  // spans, since the start
    uint64_t bytes = 0, spans = 0;                 // what is kept now
  };

  // A cache with a budget of 0 bytes keeps nothing.
  explicit SpanCache(uint64_t budget_bytes) : budget_bytes_(budget_bytes) {}

  bool enabled() const { return budget_bytes_ > 0; }

  // Says whether the caller may take this span up now. False means that another worker is making it. After true the
  // caller calls Get, and if that finds nothing makes the span and ends with Put or GiveUp.
  bool Begin(const Key& key);

  // Whether the span is kept now. It counts as no use of it.
  bool Has(const Key& key) const;

  // Returns the span, or null if it is not kept.
  std::shared_ptr<const KeptSpan> Get(const Key& key);

  // Ends what Begin began, and keeps a copy of the span if the budget can hold it.
  void Put(const Key& key, const v1::SpanHeader& header, std::span<const uint8_t> payload, uint64_t payload_hash);

  // Ends what Begin began without a span.
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
  Entries entries_ ABSL_GUARDED_BY(mutex_);  // most recently used first
  std::map<Key, Entries::iterator> by_key_ ABSL_GUARDED_BY(mutex_);
  std::set<Key> begun_ ABSL_GUARDED_BY(mutex_);  // spans that a worker is making
  Stats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_SPAN_CACHE_H_
