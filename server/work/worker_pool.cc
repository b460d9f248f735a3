#include "server/work/worker_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <new>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "common/wire/span_codec.h"
#include "server/work/fair_shares.h"
#include "server/work/span_maker.h"

namespace stoker {
namespace {

// How long a worker waits for memory until it tries again.
constexpr absl::Duration kNoMemoryPause = absl::Milliseconds(10);

// How long a read from slow storage takes, until one was measured; and how much more than usual is allowed for.
constexpr absl::Duration kUsualLatency = absl::Milliseconds(100);
constexpr double kSpareLatency = 2;

// A stream is told to want no more at once than this.
constexpr double kMostWindow = 512;

}  // namespace

// A party takes turns with others, and its streams take turns within. The pool's mutex guards all members but the
// constant.
struct WorkerPool::Party {
  const std::shared_ptr<SlabPool::Group> group;
  uint32_t percent = 0;
  int in_work = 0;  // spans of its streams that workers are making

  // This party's virtual time: nanoseconds that workers spent on it, divided by its share of them at that time; and the
  // part that is estimated, of spans in work.
  double worked_ns = 0, charged_ns = 0;

  uint64_t served_ns = 0;  // virtual time of the stream of its own that was served last
};

// A stream as workers see it. The pool's mutex guards all members but the constants and the atomic.
struct WorkerPool::Queue {
  const std::shared_ptr<const Dataset> dataset;
  const StreamPlan plan;
  const Deliver deliver;
  const std::unique_ptr<SlabPool::Account> account;
  const std::shared_ptr<Party> party;
  const std::unique_ptr<ReadAhead::Reader> reader;           // null where nothing is read ahead
  const std::shared_ptr<const DecodedCache::Images> images;  // null where none are kept

  struct Wanted {
    SpanId span;
    bool anew = false;  // It is made past the cache.
    std::chrono::steady_clock::time_point since;
    std::shared_ptr<const ReadAhead::Group> ahead;  // the span's samples; null where nothing is read ahead

    bool has_bytes() const { return ahead == nullptr || ahead->ready(); }
  };
  SpanCache::Key KeyOf(const SpanId& span) const { return {plan.key(), span}; }

  std::deque<Wanted> wanted;
  int in_work = 0;  // spans that workers are making

  // This stream's virtual time: nanoseconds that workers spent on it. A span in work counts already, by an estimate.
  uint64_t worked_ns = 0;

  // The part of worked_ns that is estimated: nanoseconds charged for spans in work.
  uint64_t charged_ns = 0;

  // Nanoseconds that a span of this stream usually takes, which is the estimate for the next one. Unset until its first
  // span is done; until then the pool's usual_ns serves, or what the pipeline's cost says if that is more.
  std::optional<uint64_t> usual_ns;
  uint64_t weighed_ns = 0;

  // Set when the stream is destroyed. A worker asks it while it makes a span, without the mutex.
  std::atomic<bool> abandoned = false;
};

struct WorkerPool::State {
  explicit State(const Options& options)
      : limits(options.limits),
        now(options.clock),
        cache(options.cache_bytes),
        decoded(options.decoded_bytes),
        begun_ns(options.workers) {}

  // A span that a worker took from a queue, with the slab to make it in.
  struct Task {
    std::shared_ptr<Queue> queue;
    Queue::Wanted wanted;
    SlabPool::Slab slab;
    uint64_t charged_ns;  // estimated nanoseconds that the queue was charged for this span
    double share;         // of its party, when it was taken
  };

  const SampleLimits limits;
  const Clock now;
  SpanCache cache;
  DecodedCache decoded;
  std::deque<std::atomic<int64_t>> begun_ns;  // since when each worker has its span, by `now`; 0: it has none
  absl::Mutex mutex;
  absl::CondVar changed;
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  std::atomic<bool> stopping_now = false;  // equals `stopping`, for workers that ask in mid-span without the mutex
  std::vector<std::shared_ptr<Queue>> queues ABSL_GUARDED_BY(mutex);
  std::map<std::string, std::weak_ptr<Party>> parties ABSL_GUARDED_BY(mutex);  // those that have streams, and some more
  double served_ns ABSL_GUARDED_BY(mutex) = 0;   // virtual time of the party that was served last
  uint64_t usual_ns ABSL_GUARDED_BY(mutex) = 0;  // nanoseconds that a span of any stream usually takes

  void Wake() {
    absl::MutexLock lock(&mutex);
    changed.SignalAll();
  }

  // Wakes a worker for a want whose bytes are there.
  void WakeOne() {
    absl::MutexLock lock(&mutex);
    changed.Signal();
  }

  // Begins to read what a want needs. Null where nothing is read ahead, and where the span is kept.
  std::shared_ptr<const ReadAhead::Group> ReadFor(const std::shared_ptr<Queue>& queue, const SpanId& span, bool anew)
      ABSL_LOCKS_EXCLUDED(mutex);

  // Blocks until there is a task, whose slab lies at the NUMA node `node` if it can be. Returns none when the pool
  // stops.
  std::optional<Task> Take(int node) ABSL_LOCKS_EXCLUDED(mutex) {
    absl::MutexLock lock(&mutex);
    while (!stopping) {
      try {
        if (auto task = TryTake(node)) return task;
        changed.Wait(&mutex);
      } catch (const std::bad_alloc&) {
        changed.WaitWithTimeout(&mutex, kNoMemoryPause);
      }
    }
    return std::nullopt;
  }

  static bool IsBusy(const Queue& queue) { return queue.in_work > 0 || !queue.wanted.empty(); }

  // The part of the workers' time that `party` may have, beside all others that want some.
  double ShareOf(const Party& party) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (parties.size() == 1) return 1;
    std::vector<const Party*> busy = {&party};
    for (const auto& queue : queues)
      if (IsBusy(*queue) && std::find(busy.begin(), busy.end(), queue->party.get()) == busy.end())
        busy.push_back(queue->party.get());
    std::vector<uint32_t> percents;
    percents.reserve(busy.size());
    for (const Party* one : busy) percents.push_back(one->percent);
    return FairShares(percents).front();
  }

  // Takes the first want of the least served stream that can be begun now; none if there is no such want.
  std::optional<Task> TryTake(int node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::vector<std::shared_ptr<Queue>> candidates;
    for (const auto& queue : queues)
      if (!queue->wanted.empty()) candidates.push_back(queue);
    std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
      return std::tuple(a->party->worked_ns, a->party.get(), a->worked_ns) <
             std::tuple(b->party->worked_ns, b->party.get(), b->worked_ns);
    });
    for (auto& queue : candidates) {
      // `next` is the first want whose bytes are there, and whose span no other worker is making, be it for this stream
      // or another.
      const auto next = std::find_if(queue->wanted.begin(), queue->wanted.end(), [&](const Queue::Wanted& wanted) {
        return wanted.has_bytes() && (wanted.anew || cache.Begin(queue->KeyOf(wanted.span)));
      });
      if (next == queue->wanted.end()) continue;
      std::optional<SlabPool::Slab> slab;
      try {
        slab = queue->account->TryTake(queue->plan.SpanBytes(next->span), node);
      } catch (const std::bad_alloc&) {
        if (!next->anew) cache.GiveUp(queue->KeyOf(next->span));
        throw;
      }
      if (!slab.has_value()) {
        if (!next->anew) cache.GiveUp(queue->KeyOf(next->span));
        continue;
      }
      Task task{queue, *next, *std::move(slab), queue->usual_ns.value_or(std::max(usual_ns, queue->weighed_ns)),
                ShareOf(*queue->party)};
      queue->worked_ns += task.charged_ns;
      queue->charged_ns += task.charged_ns;
      ++queue->in_work;
      queue->party->worked_ns += static_cast<double>(task.charged_ns) / task.share;
      queue->party->charged_ns += static_cast<double>(task.charged_ns) / task.share;
      ++queue->party->in_work;
      queue->wanted.erase(next);
      if (queue->wanted.empty()) queue->account->Rest();
      return task;
    }
    return std::nullopt;
  }

  // Lets a stream that wants again after a rest catch up with its party's busy stream that was served least, or if none
  // is busy with the one served last; and so its party with the other parties. Thus rest earns no credit.
  void Catch(Queue& queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Party& party = *queue.party;
    std::optional<uint64_t> least;
    std::optional<double> least_party;
    bool party_rests = party.in_work == 0;
    for (const auto& other : queues) {
      if (other.get() == &queue || !IsBusy(*other)) continue;
      if (other->party == queue.party) {
        party_rests = false;
        least = std::min(least.value_or(~uint64_t{0}), other->worked_ns - other->charged_ns);
      } else {
        const double worked_ns = other->party->worked_ns - other->party->charged_ns;
        least_party = std::min(least_party.value_or(worked_ns), worked_ns);
      }
    }
    queue.worked_ns = std::max(queue.worked_ns, least.value_or(party.served_ns));
    if (party_rests) party.worked_ns = std::max(party.worked_ns, least_party.value_or(served_ns));
  }

  // Replaces the estimate for one span by the time that it took, and learns from it: both usual times are exponential
  // averages in which a new span counts a quarter.
  void Served(const Task& task, uint64_t worked_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Queue& queue = *task.queue;
    --queue.in_work;
    queue.worked_ns += worked_ns - task.charged_ns;
    queue.charged_ns -= task.charged_ns;
    Party& party = *queue.party;
    --party.in_work;
    party.worked_ns += (static_cast<double>(worked_ns) - static_cast<double>(task.charged_ns)) / task.share;
    party.charged_ns -= static_cast<double>(task.charged_ns) / task.share;
    party.served_ns = queue.worked_ns - queue.charged_ns;
    served_ns = party.worked_ns - party.charged_ns;
    const auto with = [&](uint64_t usual) { return usual - usual / 4 + worked_ns / 4; };
    queue.usual_ns = queue.usual_ns.has_value() ? with(*queue.usual_ns) : worked_ns;
    usual_ns = with(usual_ns);
  }

  // The party of a new stream, with its bounds as of now.
  std::shared_ptr<Party> PartyOf(const WorkShare& share, SlabPool& slabs) ABSL_LOCKS_EXCLUDED(mutex) {
    absl::MutexLock lock(&mutex);
    std::erase_if(parties, [](const auto& entry) { return entry.second.expired(); });
    std::shared_ptr<Party> party = parties[share.party].lock();
    if (party == nullptr) party = std::make_shared<Party>(Party{.group = std::make_shared<SlabPool::Group>(0)});
    party->percent = share.worker_percent;
    slabs.SetMost(*party->group, share.bytes_in_flight);
    parties[share.party] = party;
    changed.SignalAll();  // The bounds may allow more now.
    return party;
  }

  // The loop of the `worker`-th, at the NUMA node `node`, until the pool stops.
  void Run(int worker, int node);

  // The longest that a worker should stay with a span.
  double MostSeconds() const { return std::max(kSpanSeconds, limits.seconds); }

  // Gets the task's span from the cache or makes it. Takes the task's slab.
  FinishedSpan Make(SpanMaker& maker, Task& task);

  // Makes the task's span and delivers it. Where memory runs out on the way, an error goes in its place.
  void MakeAndDeliver(SpanMaker& maker, Task& task, std::chrono::steady_clock::time_point begun);

  // OK while somebody waits for a span of `queue` that was begun at `begun`.
  absl::Status StillWanted(const Queue& queue, std::chrono::steady_clock::time_point begun) const;
};

FinishedSpan WorkerPool::State::Make(SpanMaker& maker, Task& task) {
  const Queue& queue = *task.queue;
  const SpanCache::Key key = queue.KeyOf(task.wanted.span);
  FinishedSpan finished;
  const bool caches = cache.enabled() && !task.wanted.anew;
  if (caches) finished.kept = cache.Get(key);
  if (finished.kept != nullptr) {
    finished.header = finished.kept->header;
    finished.header.clear_times();
    finished.header.set_cached(true);
    finished.payload_hash = finished.kept->payload_hash;
    finished.slab = std::move(task.slab);
    finished.slab.DropBuffer();
    return finished;
  }
  if (task.slab.bytes().size() != queue.plan.SpanBytes(task.wanted.span)) throw std::bad_alloc();
  const Interrupt interrupt([&, begun = now()] { return StillWanted(queue, begun); });
  finished.header =
      maker.Make(queue.plan, *queue.dataset, task.wanted.span, task.slab.bytes(), interrupt,
                 std::exchange(task.wanted.ahead, nullptr).get(), task.wanted.anew ? nullptr : queue.images.get());
  if (finished.header.has_error()) {
    if (caches) cache.GiveUp(key);
    finished.payload_hash = HashOfPayload({});
  } else {
    const auto payload_bytes = queue.plan.pipeline().layout().PayloadBytes(finished.header);
    STOKER_CHECK(payload_bytes.has_value());
    task.slab.Trim(*payload_bytes);
    finished.payload_hash = HashOfPayload(task.slab.bytes());
    try {
      if (caches) cache.Put(key, finished.header, task.slab.bytes(), finished.payload_hash);
    } catch (const std::bad_alloc&) {
      cache.GiveUp(key);
    }
    finished.slab = std::move(task.slab);
  }
  if (caches) Wake();  // Wakes the workers that have a want for this same span.
  return finished;
}

absl::Status WorkerPool::State::StillWanted(const Queue& queue, std::chrono::steady_clock::time_point begun) const {
  if (queue.abandoned) return absl::CancelledError("nobody waits for it");
  if (stopping_now) return absl::CancelledError("the server stops");
  if (std::chrono::duration<double>(now() - begun).count() <= MostSeconds()) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat("making the span took longer than ", MostSeconds(),
                                                  " s; let the pipeline do less, or have a faster or idler server"));
}

// Books what a span waited for its bytes, until `ready`, and then for a worker, until `begun`.
void BookWaits(std::chrono::steady_clock::time_point since, std::chrono::steady_clock::time_point ready,
               std::chrono::steady_clock::time_point begun, v1::StageTimes& times) {
  ready = std::clamp(ready, since, begun);
  if (ready > since) times.set_fetch(std::chrono::nanoseconds(ready - since).count());
  times.set_wait(std::chrono::nanoseconds(begun - ready).count());
}

// Tells a client that memory ran out. It takes little, and is tried until there is as much.
FinishedSpan NoMemoryFor(const StreamPlan& plan, const SpanId& span) {
  FinishedSpan failed;
  failed.header.set_stream_key(plan.stream_key());
  failed.header.set_epoch(span.epoch);
  failed.header.set_start(span.start);
  failed.header.set_count(span.count);
  failed.header.mutable_error()->set_kind(v1::ERROR_KIND_MACHINE);
  failed.header.mutable_error()->set_message("no memory is left to make this span; lower the server's memory_limit");
  failed.header.mutable_error()->set_position(span.start);
  failed.payload_hash = HashOfPayload({});
  return failed;
}

void WorkerPool::State::MakeAndDeliver(SpanMaker& maker, Task& task, std::chrono::steady_clock::time_point begun) {
  const Queue& queue = *task.queue;
  const auto unwanted = [&] { return queue.abandoned || stopping_now; };
  const auto& ahead = task.wanted.ahead;
  const auto ready = ahead == nullptr ? task.wanted.since : ahead->ready_since();
  try {
    FinishedSpan finished = Make(maker, task);
    BookWaits(task.wanted.since, ready, begun, *finished.header.mutable_times());
    if (!unwanted()) queue.deliver(std::move(finished));
    return;
  } catch (const std::bad_alloc&) {
    if (!task.wanted.anew) cache.GiveUp(queue.KeyOf(task.wanted.span));
    task.slab = {};
    task.wanted.ahead = nullptr;
  }
  while (!unwanted()) {
    try {
      return queue.deliver(NoMemoryFor(queue.plan, task.wanted.span));
    } catch (const std::bad_alloc&) {
      absl::SleepFor(kNoMemoryPause);
    }
  }
}

void WorkerPool::State::Run(int worker, int node) {
  SpanMaker maker(limits);
  while (auto task = Take(node)) {
    const auto begun = now();
    begun_ns[worker] = begun.time_since_epoch().count();
    MakeAndDeliver(maker, *task, begun);
    begun_ns[worker] = 0;
    const uint64_t worked_ns = std::chrono::nanoseconds(now() - begun).count();
    absl::MutexLock lock(&mutex);
    Served(*task, worked_ns);
  }
}

// Returns the node of one of so many workers, such that each node has as large a part of them as of the CPUs.
int NodeOf(int worker, int workers, const std::vector<std::vector<int>>& nodes) {
  size_t cpus = 0;
  for (const auto& node : nodes) cpus += node.size();
  size_t place = cpus * worker / workers;
  int node = 0;
  while (place >= nodes[node].size()) place -= nodes[node++].size();
  return node;
}

// Keeps this thread on the CPUs. Where that is forbidden, it is as it would be without nodes.
void StayOn(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

WorkerPool::WorkerPool(Options options)
    : state_(std::make_shared<State>(options)),
      slabs_(
          options.slab_bytes, [state = state_] { state->Wake(); }, options.idle, options.clock),
      ahead_({.budget_bytes = options.ahead_bytes,
              .cache = options.raw_cache,
              .on_ready = [state = state_] { state->WakeOne(); },
              .clock = options.clock}) {
  STOKER_CHECK(options.workers >= 1);
  for (int i = 0; i < options.workers; ++i) {
    if (options.numa_nodes.size() < 2) {
      threads_.emplace_back([state = state_, i] { state->Run(i, 0); });
      continue;
    }
    const int node = NodeOf(i, options.workers, options.numa_nodes);
    threads_.emplace_back([state = state_, i, node, cpus = options.numa_nodes[node]] {
      StayOn(cpus);
      state->Run(i, node);
    });
  }
}

WorkerPool::~WorkerPool() {
  {
    absl::MutexLock lock(&state_->mutex);
    state_->stopping = state_->stopping_now = true;
    state_->changed.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::stuck() const {
  const int64_t now_ns = state_->now().time_since_epoch().count();
  const double most_ns = 2e9 * state_->MostSeconds();
  return std::all_of(state_->begun_ns.begin(), state_->begun_ns.end(), [&](const std::atomic<int64_t>& begun) {
    const int64_t since = begun;
    return since != 0 && static_cast<double>(now_ns - since) > most_ns;
  });
}

WorkerPool::Waiting WorkerPool::waiting() const {
  Waiting waiting;
  absl::MutexLock lock(&state_->mutex);
  for (const auto& queue : state_->queues)
    for (const Queue::Wanted& wanted : queue->wanted) ++(wanted.has_bytes() ? waiting.work : waiting.fetch);
  return waiting;
}

const SpanCache& WorkerPool::cache() const { return state_->cache; }
const DecodedCache& WorkerPool::decoded() const { return state_->decoded; }

absl::StatusOr<std::unique_ptr<WorkerPool::Stream>> WorkerPool::AddStream(std::shared_ptr<const Dataset> dataset,
                                                                          StreamPlan plan, Deliver deliver,
                                                                          const WorkShare& share) {
  const uint64_t span_bytes = plan.pipeline().span_samples() * plan.pipeline().sample_bytes();
  std::shared_ptr<Party> party = state_->PartyOf(share, slabs_);
  STOKER_ASSIGN_OR_RETURN(auto account, slabs_.OpenAccount(span_bytes, party->group));
  const bool reads_ahead = dataset->stored() != nullptr && ahead_.budget_bytes() > 0;
  auto images = state_->decoded.Open(dataset);
  auto queue = std::shared_ptr<Queue>(new Queue{std::move(dataset), std::move(plan), std::move(deliver),
                                                std::move(account), std::move(party),
                                                reads_ahead ? ahead_.OpenReader() : nullptr, std::move(images)});
  const double sample_seconds = Seconds(queue->plan.pipeline().CostOf(kUsualImage));
  queue->weighed_ns = static_cast<uint64_t>(1e9 * sample_seconds * queue->plan.pipeline().span_samples());
  const uint32_t window = WindowFor(*queue);
  {
    absl::MutexLock lock(&state_->mutex);
    state_->queues.push_back(queue);
  }
  return std::make_unique<Stream>(state_, std::move(queue), window);
}

uint32_t WorkerPool::WindowFor(const Queue& queue) const {
  if (queue.reader == nullptr) return 0;
  const auto workers = static_cast<double>(threads_.size());
  uint64_t span_ns = 0;
  {
    absl::MutexLock lock(&state_->mutex);
    span_ns = std::max<uint64_t>({state_->usual_ns, queue.weighed_ns, 1});
  }
  const double latency_ns = absl::ToDoubleNanoseconds(ahead_.usual_latency(kUsualLatency));
  // By Little's law so many are on their way. One for each worker is in work, and one waits for it.
  const double window = workers * (2 + kSpareLatency * latency_ns / static_cast<double>(span_ns));
  return static_cast<uint32_t>(std::clamp<double>(std::ceil(window), 1, kMostWindow));
}

std::shared_ptr<const ReadAhead::Group> WorkerPool::State::ReadFor(const std::shared_ptr<Queue>& queue,
                                                                   const SpanId& span, bool anew) {
  if (queue->reader == nullptr || (!anew && cache.Has(queue->KeyOf(span)))) return nullptr;
  // The stream's end drops its wants, and so lets go of the queue here.
  auto ids = [queue, span, anew, this] {
    std::vector<uint64_t> samples;
    if (!anew && cache.Has(queue->KeyOf(span))) return samples;
    const SampleOrder order = queue->plan.OrderOf(span.epoch);
    samples.reserve(span.count);
    for (uint64_t position = span.start; position < span.start + span.count; ++position)
      queue->plan.AddSamplesAt(order, span.epoch, position, samples);
    return samples;
  };
  return queue->reader->Add({queue->dataset, queue->dataset->stored()}, std::move(ids),
                            queue->plan.pipeline().sources());
}

WorkerPool::Stream::Stream(std::shared_ptr<State> state, std::shared_ptr<Queue> queue, uint32_t window)
    : state_(std::move(state)), queue_(std::move(queue)), window_(window) {}

WorkerPool::Stream::~Stream() {
  queue_->abandoned = true;
  std::deque<Queue::Wanted> dropped;  // Declared before the lock, hence destroyed after its release.
  absl::MutexLock lock(&state_->mutex);
  std::swap(dropped, queue_->wanted);
  std::erase(state_->queues, queue_);
}

absl::Status WorkerPool::Stream::Want(const SpanId& span, bool anew) {
  auto ahead = state_->ReadFor(queue_, span, anew);
  absl::MutexLock lock(&state_->mutex);
  STOKER_RETURN_IF_ERROR(queue_->account->Reserve(queue_->plan.SpanBytes(span)));
  if (queue_->wanted.empty()) state_->Catch(*queue_);
  queue_->wanted.push_back({span, anew, state_->now(), std::move(ahead)});
  state_->changed.Signal();
  return absl::OkStatus();
}

bool WorkerPool::Stream::Cancel(const SpanId& span) {
  Queue::Wanted dropped;  // Declared before the lock, hence destroyed after its release.
  absl::MutexLock lock(&state_->mutex);
  auto found = std::find_if(queue_->wanted.begin(), queue_->wanted.end(),
                            [&](const Queue::Wanted& wanted) { return wanted.span == span; });
  if (found == queue_->wanted.end()) return false;
  std::swap(dropped, *found);
  queue_->wanted.erase(found);
  if (queue_->wanted.empty()) queue_->account->Rest();
  return true;
}

}  // namespace stoker
