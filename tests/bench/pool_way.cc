#include "tests/bench/pool_way.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "server/work/worker_pool.h"
#include "tests/bench/engine_ways.h"
#include "tests/support/process.h"

namespace stoker {
namespace {

absl::StatusOr<StreamPlan> PlanOf(const Dataset& dataset, const v1::Shuffle& shuffle) {
  v1::Identity identity;
  identity.set_samples(dataset.size());
  STOKER_ASSIGN_OR_RETURN(auto pipeline,
                          ServerPipeline::Create(TrainingPipeline(v1::JPEG_SCALING_K2), dataset.schema()));
  return StreamPlan::Create("photographs", std::move(pipeline), identity, 1, shuffle, false);
}

}  // namespace

absl::StatusOr<PoolRun> RunPool(const std::shared_ptr<const Dataset>& dataset, const PoolOptions& options,
                                double warm_seconds, double seconds, SpanHashes& hashes) {
  STOKER_ASSIGN_OR_RETURN(const StreamPlan plan, PlanOf(*dataset, options.shuffle));
  WorkerPool pool({.workers = options.workers,
                   .slab_bytes = uint64_t{2} << 30,
                   .ahead_bytes = options.ahead_bytes,
                   .decoded_bytes = options.decoded_bytes});
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t answered = 0;
  std::string error;
  STOKER_ASSIGN_OR_RETURN(const auto stream, pool.AddStream(dataset, plan, [&](const FinishedSpan& span) {
    std::lock_guard lock(mutex);
    ++answered;
    if (span.header.has_error()) error = span.header.error().message();
    if (span.header.epoch() == 0) hashes[span.header.start()] = span.payload_hash;
    changed.notify_all();
  }));
  const uint64_t count = std::min<uint64_t>(plan.pipeline().span_samples(), dataset->size());
  const uint64_t spans = dataset->size() / count;
  uint64_t wanted = 0;
  const auto until = [&](absl::Time end) -> absl::StatusOr<uint64_t> {
    std::unique_lock lock(mutex);
    while (absl::Now() < end && error.empty()) {
      if (wanted >= answered + options.window) {
        changed.wait_for(lock, std::chrono::milliseconds(10));
        continue;
      }
      lock.unlock();
      STOKER_RETURN_IF_ERROR(stream->Want({wanted / spans, wanted % spans * count, static_cast<uint32_t>(count)}));
      ++wanted;
      lock.lock();
    }
    if (!error.empty()) return absl::InternalError(error);
    return answered;
  };
  STOKER_ASSIGN_OR_RETURN(const uint64_t before, until(absl::Now() + absl::Seconds(warm_seconds)));
  const absl::Time begun = absl::Now();
  const double cpu_begun = CpuSecondsOf(getpid());
  STOKER_ASSIGN_OR_RETURN(const uint64_t after, until(begun + absl::Seconds(seconds)));
  return PoolRun{static_cast<double>((after - before) * count), absl::ToDoubleSeconds(absl::Now() - begun),
                 CpuSecondsOf(getpid()) - cpu_begun};
}

const uint64_t* DifferentSpan(const SpanHashes& a, const SpanHashes& b) {
  for (const auto& [start, hash] : a)
    if (const auto other = b.find(start); other != b.end() && other->second != hash) return &other->first;
  return nullptr;
}

}  // namespace stoker
