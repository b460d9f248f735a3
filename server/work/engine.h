#ifndef STOKER_SERVER_WORK_ENGINE_H_
#define STOKER_SERVER_WORK_ENGINE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/plan/stream_plan.h"
#include "server/read/dataset.h"
#include "server/work/worker_pool.h"
#include "stoker/v1/config.pb.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// The data service without its transport: which datasets there are, what a pipeline makes of them, and streams of
// spans. Thread-safe. Errors are for the client: they name what it asked for.
class Engine {
 public:
  struct Options {
    std::map<std::string, std::shared_ptr<const Dataset>> datasets;  // by name
    std::map<std::string, v1::Pipeline> pipelines;                   // by name
    int workers = 1;
    uint64_t memory_limit_bytes = 0;          // Peak resident memory of the process.
    uint64_t span_cache_bytes = 0;            // Of it, for spans that are kept.
    uint64_t max_pixels = uint64_t{1} << 26;  // The largest image that a pipeline may decode.
    uint64_t pixel_check = 0;                 // Hash of the start-up self-check.
    std::string build;                        // For people.
  };

  // One stream, open. Its errors end the stream.
  class Stream {
   public:
    const v1::Opened& opened() const { return opened_; }

    // InvalidArgument or ResourceExhausted where the span cannot be asked for.
    absl::Status Want(const v1::Want& want);

    // True if the span was still to be made; it then never comes.
    bool Cancel(const v1::Cancel& cancel);

   private:
    friend class Engine;
    Stream(v1::Opened opened, StreamPlan plan, uint64_t max_span_bytes, std::unique_ptr<WorkerPool::Stream> work);

    const v1::Opened opened_;
    const StreamPlan plan_;
    const uint64_t max_span_bytes_;
    const std::unique_ptr<WorkerPool::Stream> work_;
  };

  // InvalidArgument, with the figures, where the memory limit leaves no room for streams, or a named pipeline is
  // not valid.
  static absl::StatusOr<std::unique_ptr<Engine>> Create(Options options);

  v1::ListDatasetsResponse ListDatasets() const;

  absl::StatusOr<v1::DescribeResponse> Describe(const v1::DescribeRequest& request) const;

  // `deliver` is called on worker threads until the stream is destroyed, and for the spans then in hand after it.
  absl::StatusOr<std::unique_ptr<Stream>> Open(const v1::Open& open, WorkerPool::Deliver deliver);

  int workers() const { return options_.workers; }
  uint64_t slab_bytes() const { return workers_.slabs().budget_bytes(); }
  SpanCache::Stats cache_stats() const { return workers_.cache().stats(); }

 private:
  Engine(Options options, uint64_t slab_bytes);

  absl::StatusOr<std::shared_ptr<const Dataset>> Find(const std::string& name) const;
  absl::StatusOr<ServerPipeline> Compile(const v1::Pipeline& pipeline, const Dataset& dataset) const;
  v1::Identity IdentityOf(const Dataset& dataset) const;

  const Options options_;
  WorkerPool workers_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_ENGINE_H_
