#include "server/work/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "common/check.h"
#include "common/status_macros.h"
#include "common/wire/span_codec.h"
#include "server/work/span_maker.h"

namespace stoker {
// A stream as workers see it. The pool's mutex guards all members but the constants and the atomic.
struct WorkerPool::Queue {
  const std::shared_ptr<const Dataset> dataset;
  const StreamPlan plan;
  const Deliver deliver;
  const std::unique_ptr<SlabPool::Account> account;

  struct Wanted {
    SpanId span;
    std::chrono::steady_clock::time_point since;
  };
  SpanCache::Key KeyOf(const SpanId& span) const { return {plan.key(), span}; }

  std::deque<Wanted> wanted;
  int in_work = 0;  // spans that workers are making

  // This stream's virtual time: nanoseconds that workers spent on it. A span in work counts already, by an estimate.
  uint64_t worked_ns = 0;

  // The part of worked_ns that is estimated: nanoseconds charged for spans in work.
  uint64_t charged_ns = 0;

  // Nanoseconds that a span of this stream usually takes, which is the estimate for the next one. Unset until its first
  // span is done; until then the pool's usual_ns serves.
  std::optional<uint64_t> usual_ns;

  // Set when the stream is destroyed. A worker asks it while it makes a span, without the mutex.
  std::atomic<bool> abandoned = false;
};

struct WorkerPool::State {
  State(uint64_t cache_bytes, Clock clock) : now(std::move(clock)), cache(cache_bytes) {}

  // A span that a worker took from a queue, with the slab to make it in.
  struct Task {
    std::shared_ptr<Queue> queue;
    Queue::Wanted wanted;
    SlabPool::Slab slab;
    uint64_t charged_ns;  // estimated nanoseconds that the queue was charged for this span
  };

  const Clock now;
  SpanCache cache;
  absl::Mutex mutex;
  absl::CondVar changed;
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  std::atomic<bool> stopping_now = false;  // equals `stopping`, for workers that ask in mid-span without the mutex
  std::vector<std::shared_ptr<Queue>> queues ABSL_GUARDED_BY(mutex);
  uint64_t served_ns ABSL_GUARDED_BY(mutex) = 0;  // virtual time of the stream that was served last
  uint64_t usual_ns ABSL_GUARDED_BY(mutex) = 0;   // nanoseconds that a span of any stream usually takes

  void Wake() {
    absl::MutexLock lock(&mutex);
    changed.SignalAll();
  }

  // Blocks until there is a task. Returns none when the pool stops.
  std::optional<Task> Take() ABSL_LOCKS_EXCLUDED(mutex) {
    absl::MutexLock lock(&mutex);
    while (!stopping) {
      if (auto task = TryTake()) return task;
      changed.Wait(&mutex);
    }
    return std::nullopt;
  }

  // Takes the first want of the least served stream that can be begun now; none if there is no such want.
  std::optional<Task> TryTake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::vector<std::shared_ptr<Queue>> candidates;
    for (const auto& queue : queues)
      if (!queue->wanted.empty()) candidates.push_back(queue);
    std::sort(candidates.begin(), candidates.end(),
              [](const auto& a, const auto& b) { return a->worked_ns < b->worked_ns; });
    for (auto& queue : candidates) {
      // `next` is the first want whose span no other worker is making, be it for this stream or another.
      const auto next = std::find_if(queue->wanted.begin(), queue->wanted.end(), [&](const Queue::Wanted& wanted) {
        return cache.Begin(queue->KeyOf(wanted.span));
      });
      if (next == queue->wanted.end()) continue;
      auto slab = queue->account->TryTake(queue->plan.SpanBytes(next->span));
      if (!slab.has_value()) {
        cache.GiveUp(queue->KeyOf(next->span));
        continue;
      }
      Task task{queue, *next, *std::move(slab), queue->usual_ns.value_or(usual_ns)};
      queue->worked_ns += task.charged_ns;
      queue->charged_ns += task.charged_ns;
      ++queue->in_work;
      queue->wanted.erase(next);
      return task;
    }
    return std::nullopt;
  }

  // Lets a stream that wants again after a rest catch up with the busy stream that was served least, or if none is busy
  // with the one served last. Thus rest earns no credit.
  void Catch(Queue& queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::optional<uint64_t> least;
    for (const auto& other : queues)
      if (other.get() != &queue && (other->in_work > 0 || !other->wanted.empty()))
        least = std::min(least.value_or(~uint64_t{0}), other->worked_ns - other->charged_ns);
    queue.worked_ns = std::max(queue.worked_ns, least.value_or(served_ns));
  }

  // Replaces the estimate for one span by the time that it took, and learns from it: both usual times are exponential
  // averages in which a new span counts a quarter.
  void Served(Queue& queue, uint64_t charged_ns, uint64_t worked_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    --queue.in_work;
    queue.worked_ns += worked_ns - charged_ns;
    queue.charged_ns -= charged_ns;
    served_ns = queue.worked_ns - queue.charged_ns;
    const auto with = [&](uint64_t usual) { return usual - usual / 4 + worked_ns / 4; };
    queue.usual_ns = queue.usual_ns.has_value() ? with(*queue.usual_ns) : worked_ns;
    usual_ns = with(usual_ns);
  }

  // One worker's loop, until the pool stops.
  void Run(uint64_t max_pixels);

  // Gets the task's span from the cache or makes it. Takes the task's slab.
  FinishedSpan Make(SpanMaker& maker, Task& task);
};

FinishedSpan WorkerPool::State::Make(SpanMaker& maker, Task& task) {
  const Queue& queue = *task.queue;
  const SpanCache::Key key = queue.KeyOf(task.wanted.span);
  FinishedSpan finished;
  finished.kept = cache.Get(key);
  if (finished.kept != nullptr) {
    finished.header = finished.kept->header;
    finished.header.clear_times();
    finished.header.set_cached(true);
    finished.payload_hash = finished.kept->payload_hash;
    finished.slab = std::move(task.slab);
    finished.slab.DropBuffer();
    return finished;
  }
  finished.header = maker.Make(queue.plan, *queue.dataset, task.wanted.span, task.slab.bytes(),
                               [&] { return queue.abandoned || stopping_now; });
  if (finished.header.has_error()) {
    cache.GiveUp(key);
    finished.payload_hash = HashOfPayload({});
  } else {
    finished.payload_hash = HashOfPayload(task.slab.bytes());
    cache.Put(key, finished.header, task.slab.bytes(), finished.payload_hash);
    finished.slab = std::move(task.slab);
  }
  if (cache.enabled()) Wake();  // Wakes the workers that have a want for this same span.
  return finished;
}

void WorkerPool::State::Run(uint64_t max_pixels) {
  SpanMaker maker(max_pixels);
  while (auto task = Take()) {
    const auto begun = now();
    const Queue& queue = *task->queue;
    FinishedSpan finished = Make(maker, *task);
    finished.header.mutable_times()->set_wait(std::chrono::nanoseconds(begun - task->wanted.since).count());
    if (!queue.abandoned && !stopping_now) queue.deliver(std::move(finished));
    const uint64_t worked_ns = std::chrono::nanoseconds(now() - begun).count();
    absl::MutexLock lock(&mutex);
    Served(*task->queue, task->charged_ns, worked_ns);
  }
}

WorkerPool::WorkerPool(int workers, uint64_t slab_bytes, uint64_t max_pixels, uint64_t cache_bytes, Clock clock)
    : state_(std::make_shared<State>(cache_bytes, std::move(clock))),
      slabs_(slab_bytes, [state = state_] { state->Wake(); }) {
  STOKER_CHECK(workers >= 1);
  for (int i = 0; i < workers; ++i) threads_.emplace_back([state = state_, max_pixels] { state->Run(max_pixels); });
}

WorkerPool::~WorkerPool() {
  {
    absl::MutexLock lock(&state_->mutex);
    state_->stopping = state_->stopping_now = true;
    state_->changed.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

const SpanCache& WorkerPool::cache() const { return state_->cache; }

absl::StatusOr<std::unique_ptr<WorkerPool::Stream>> WorkerPool::AddStream(std::shared_ptr<const Dataset> dataset,
                                                                          StreamPlan plan, Deliver deliver) {
  const uint64_t span_bytes = plan.pipeline().span_samples() * plan.pipeline().sample_bytes();
  STOKER_ASSIGN_OR_RETURN(auto account, slabs_.OpenAccount(span_bytes));
  auto queue =
      std::shared_ptr<Queue>(new Queue{std::move(dataset), std::move(plan), std::move(deliver), std::move(account)});
  {
    absl::MutexLock lock(&state_->mutex);
    state_->queues.push_back(queue);
  }
  return std::make_unique<Stream>(state_, std::move(queue));
}

WorkerPool::Stream::Stream(std::shared_ptr<State> state, std::shared_ptr<Queue> queue)
    : state_(std::move(state)), queue_(std::move(queue)) {}

WorkerPool::Stream::~Stream() {
  queue_->abandoned = true;
  absl::MutexLock lock(&state_->mutex);
  queue_->wanted.clear();
  std::erase(state_->queues, queue_);
}

absl::Status WorkerPool::Stream::Want(const SpanId& span) {
  STOKER_RETURN_IF_ERROR(queue_->account->Reserve(queue_->plan.SpanBytes(span)));
  absl::MutexLock lock(&state_->mutex);
  if (queue_->wanted.empty()) state_->Catch(*queue_);
  queue_->wanted.push_back({span, state_->now()});
  state_->changed.Signal();
  return absl::OkStatus();
}

bool WorkerPool::Stream::Cancel(const SpanId& span) {
  absl::MutexLock lock(&state_->mutex);
  auto found = std::find_if(queue_->wanted.begin(), queue_->wanted.end(),
                            [&](const Queue::Wanted& wanted) { return wanted.span == span; });
  if (found == queue_->wanted.end()) return false;
  queue_->wanted.erase(found);
  return true;
}

}  // namespace stoker
