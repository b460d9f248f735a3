#ifndef STOKER_SERVER_WORK_WORKER_POOL_H_
#define STOKER_SERVER_WORK_WORKER_POOL_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "common/identity/span_id.h"
#include "server/pack/slab_pool.h"
#include "server/plan/stream_plan.h"
#include "server/read/dataset.h"
#include "server/work/span_cache.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// A made span on its way out. Without a payload if header.error is set.
struct FinishedSpan {
  v1::SpanHeader header;
  SlabPool::Slab slab;                   // Its payload, or without a buffer, as much room for
  std::shared_ptr<const KeptSpan> kept;  // one that was kept.
  uint64_t payload_hash = 0;

  std::span<const uint8_t> payload() const { return kept != nullptr ? std::span(kept->payload) : slab.bytes(); }
};

// Threads that run spans to completion, one span a thread, in fair turns between streams.
//
// A free worker takes the stream that has had the least working time so far (start-time fair queuing: Goyal, Vin
// and Cheng, SIGCOMM 1996), among those that want a span and may take a slab now; within a stream, wants go in
// the order in which they came. Thread-safe.
//
// With a cache, a span that is kept is sent instead of made; one that another worker is making waits for it, while
// its own worker takes another.
class WorkerPool {
  struct State;
  struct Queue;

 public:
  // What a stream's spans are delivered to: called on a worker's thread, must not block.
  using Deliver = std::function<void(FinishedSpan)>;

  // One client stream's wants. Thread-safe; one owner, whose destructor drops what is wanted. A span that is being
  // made then is given up at its next sample, but may just be delivered: `deliver` must own what it needs.
  class Stream {
   public:
    Stream(std::shared_ptr<State> state, std::shared_ptr<Queue> queue);
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream();

    // Queues a span, which plan.Check() has passed. ResourceExhausted if it is larger than those on the grid
    // and there is no memory for it.
    absl::Status Want(const SpanId& span);

    // Drops one want of `span` that no worker has begun; true if there was one.
    bool Cancel(const SpanId& span);

   private:
    const std::shared_ptr<State> state_;
    const std::shared_ptr<Queue> queue_;
  };

  // By which working time is measured: never goes back. Called on workers' and callers' threads.
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  // Starts `workers` ≥ 1 threads that share `slab_bytes` of memory and decode images of up to `max_pixels`. Keeps
  // `cache_bytes` of spans. Tests bring a `clock` of their own: how turns fall depends on it.
  WorkerPool(int workers, uint64_t slab_bytes, uint64_t max_pixels, uint64_t cache_bytes = 0,
             Clock clock = std::chrono::steady_clock::now);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Stops after the samples in hand; drops the rest.
  ~WorkerPool();

  // ResourceExhausted if there is no memory for another stream.
  absl::StatusOr<std::unique_ptr<Stream>> AddStream(std::shared_ptr<const Dataset> dataset, StreamPlan plan,
                                                    Deliver deliver);

  // The largest span that a stream may want.
  uint64_t max_span_bytes() const { return slabs_.max_span_bytes(); }

  const SlabPool& slabs() const { return slabs_; }
  const SpanCache& cache() const;

 private:
  const std::shared_ptr<State> state_;
  SlabPool slabs_;
  std::vector<std::thread> threads_;  // Last: join before the rest goes.
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_WORKER_POOL_H_
