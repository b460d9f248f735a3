#ifndef STOKER_SERVER_WORK_WORKER_POOL_H_
#define STOKER_SERVER_WORK_WORKER_POOL_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "common/identity/span_id.h"
#include "server/pack/slab_pool.h"
#include "server/plan/stream_plan.h"
#include "server/read/ahead/read_ahead.h"
#include "server/read/dataset.h"
#include "server/work/decoded_cache.h"
#include "server/work/sample_maker.h"
#include "server/work/span_cache.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// A span on its way out. It owns its payload, and the room of the payload in its stream's account.
struct FinishedSpan {
  v1::SpanHeader header;

  // Owns the payload of a span made here. For a span from the cache it has no buffer and only reserves the account's
  // bytes.
  SlabPool::Slab slab;

  // Owns the payload of a span from the cache; null for one made here.
  std::shared_ptr<const KeptSpan> kept;

  uint64_t payload_hash = 0;  // HashOfPayload of payload()

  // The samples' bytes. Empty if header.error is set.
  std::span<const uint8_t> payload() const { return kept != nullptr ? std::span(kept->payload) : slab.bytes(); }
};

// Says whose stream it is. All streams of one party share its turns and its bounds; a new stream brings these up to
// date.
struct WorkShare {
  std::string party;
  uint64_t bytes_in_flight = 0;  // of its spans that are in the making, or made and not yet sent; 0: no bound
  uint32_t worker_percent = 0;   // of the workers' time while others want it too; 0: as much as others
};

// Threads that run spans to completion, one span a thread, in fair turns between parties, and between a party's
// streams.
//
// A free worker looks at the streams that want a span and may take a slab now. It serves the party that has had the
// least working time so far, in proportion to its share, and of its streams the one that has had the least (start-time
// fair queuing: Goyal, Vin and Cheng, SIGCOMM 1996). Within a stream, wants are served in the order in which they came.
//
// With a cache, a kept span is sent instead of made again. A want for a span that another worker is making waits for
// that worker, and the free worker takes the next want. What is wanted anew is made whatever the cache has, and not
// kept. So it is with images that are kept decoded (DecodedCache).
//
// What a dataset has on slow storage (Dataset::stored) is read ahead from the moment that a span is wanted. Its want is
// passed over until the bytes are there, or failed to come, so that no worker waits for them.
//
// Thread-safe. Slabs, and with them the spans that are made but not yet sent, are bounded by `slab_bytes`.
class WorkerPool {
  struct State;
  struct Queue;
  struct Party;

 public:
  // Receives a stream's spans. It is called on a worker's thread and must not block.
  using Deliver = std::function<void(FinishedSpan)>;

  // One client stream's wants. Thread-safe.
  //
  // Its destructor drops what is still wanted. A span that a worker is making is given up soon, also in the middle of
  // an image, or may still be delivered: so `deliver` must own what it needs.
  class Stream {
   public:
    Stream(std::shared_ptr<State> state, std::shared_ptr<Queue> queue, uint32_t window);
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream();

    // Queues a span, which if `anew` is made past the cache. Requires that the plan's Check(span) is OK.
    // ResourceExhausted if the span is larger than the pipeline's usual ones and there is no memory to reserve for it.
    absl::Status Want(const SpanId& span, bool anew = false);

    // Drops one want of `span` that no worker has begun. Returns true if there was one.
    bool Cancel(const SpanId& span);

    // How many wants at once keep the workers busy while the bytes of others are on their way; 0 where nothing is read
    // ahead.
    uint32_t window() const { return window_; }

   private:
    const std::shared_ptr<State> state_;
    const std::shared_ptr<Queue> queue_;
    const uint32_t window_;
  };

  // Tells the time by which working time is measured. It never goes back, and may be called on any thread.
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  // The longest that a worker stays with one span, or as long as one sample may take if that is longer. Clients have
  // asked another server by then.
  static constexpr double kSpanSeconds = 60;

  struct Options {
    int workers = 1;  // threads, at least 1
    // The CPUs of each NUMA node, over which workers are spread, and where they and their slabs stay. Where there are
    // less than two nodes, the kernel moves workers as it likes.
    std::vector<std::vector<int>> numa_nodes;
    uint64_t slab_bytes = 0;              // memory that they share
    uint64_t ahead_bytes = 0;             // memory for bytes that are read ahead; 0: nothing is
    std::shared_ptr<RawCache> raw_cache;  // keeps what is read ahead; null: nothing does
    SampleLimits limits;
    uint64_t cache_bytes = 0;                 // the cache keeps so many bytes of spans; 0: none
    uint64_t decoded_bytes = 0;               // so many bytes of decoded images are kept; 0: none
    absl::Duration idle = absl::Seconds(10);  // after so long a stream that wants nothing lends its memory to others
    // Tests bring a clock of their own, since it decides whose turn comes next, and which span has taken too long.
    Clock clock = std::chrono::steady_clock::now;
  };
  explicit WorkerPool(Options options);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Gives up the spans in hand, also in the middle of an image, and drops all other wants.
  ~WorkerPool();

  // Adds a stream, whose spans go to `deliver`. ResourceExhausted if there is no memory for another stream.
  absl::StatusOr<std::unique_ptr<Stream>> AddStream(std::shared_ptr<const Dataset> dataset, StreamPlan plan,
                                                    Deliver deliver, const WorkShare& share = {});

  // Changes slab_bytes. What is taken or reserved stays; new streams are refused until it fits.
  void SetSlabBytes(uint64_t bytes) { slabs_.SetBudget(bytes); }

  // Changes ahead_bytes. What is read ahead already stays.
  void SetAheadBytes(uint64_t bytes) { ahead_.SetBudget(bytes); }

  // Bytes of the largest span that a stream may want.
  uint64_t max_span_bytes() const { return slabs_.max_span_bytes(); }

  // Whether every worker has been at its span for so long that it should have been given up long ago: the machine's
  // storage hangs, or we do.
  bool stuck() const;

  // How many spans are wanted and no worker has begun: those that wait for their bytes, and those for a worker.
  struct Waiting {
    uint64_t fetch = 0, work = 0;
  };
  Waiting waiting() const;

  const SlabPool& slabs() const { return slabs_; }
  const ReadAhead& ahead() const { return ahead_; }
  const SpanCache& cache() const;
  const DecodedCache& decoded() const;

 private:
  // See Stream::window.
  uint32_t WindowFor(const Queue& queue) const;

  const std::shared_ptr<State> state_;
  SlabPool slabs_;
  ReadAhead ahead_;
  std::vector<std::thread> threads_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_WORKER_POOL_H_
