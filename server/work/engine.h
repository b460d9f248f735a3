#ifndef STOKER_SERVER_WORK_ENGINE_H_
#define STOKER_SERVER_WORK_ENGINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/plan/stream_plan.h"
#include "server/read/dataset.h"
#include "server/work/select/selections.h"
#include "server/work/worker_pool.h"
#include "stoker/v1/config.pb.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// The data service without its transport. It knows which datasets there are, what a pipeline makes of them, and opens
// streams of spans.
//
// Thread-safe. Options::memory_limit_bytes bounds the memory of the whole process. Errors are meant for the client:
// they name what it asked for.
class Engine {
 public:
  // What clients may ask for.
  struct Catalog {
    std::map<std::string, std::shared_ptr<const Dataset>> datasets;  // by name
    std::map<std::string, SampleLists> lists;                        // by the dataset's name
    std::map<std::string, v1::Pipeline> pipelines;                   // by name
    uint64_t generation = 0;                                         // set by Replace: tells catalogs apart
  };

  struct Options {
    Catalog catalog;
    int workers = 1;                           // threads that make spans
    std::vector<std::vector<int>> numa_nodes;  // see WorkerPool::Options
    uint64_t memory_limit_bytes = 0;           // the process's peak resident memory
    uint64_t span_cache_bytes = 0;             // the part of it that keeps spans for reuse
    uint64_t decoded_cache_bytes = 0;          // the part of it that keeps decoded images
    uint64_t read_ahead_bytes = 0;             // the part of it for what is read ahead, where a dataset needs that
    std::shared_ptr<RawCache> raw_cache;       // has a part of it too, for datasets that are read ahead; may be null
    SampleLimits limits;                       // the most that it does for one sample
    absl::Duration idle = absl::Seconds(10);   // until an idle stream's memory is lent
    uint64_t pixel_check = 0;                  // hash of the start-up self-check
    uint64_t audio_check = 0;                  // the same of audio; 0 where it has no audio
    std::string build;                         // description of the build, for people
  };

  // One open stream. An error of Want ends the stream.
  class Stream {
   public:
    const v1::Opened& opened() const { return opened_; }

    // Queues a span. InvalidArgument if it does not lie in the dataset or is too large, ResourceExhausted if there is
    // no memory for it.
    absl::Status Want(const v1::Want& want);

    // Takes one want back. True if no worker had begun it: the span then never comes.
    bool Cancel(const v1::Cancel& cancel);

   private:
    friend class Engine;
    Stream(v1::Opened opened, StreamPlan plan, uint64_t max_span_bytes, std::unique_ptr<WorkerPool::Stream> work);

    const v1::Opened opened_;
    const StreamPlan plan_;
    const uint64_t max_span_bytes_;
    const std::unique_ptr<WorkerPool::Stream> work_;
  };

  // Starts the workers. InvalidArgument if the memory limit leaves no room for streams (the message has the figures),
  // or if a named pipeline is not valid.
  static absl::StatusOr<std::unique_ptr<Engine>> Create(Options options);

  // Offers this catalog from now on. Streams that are open go on with what they read. The errors of Create; then the
  // old catalog stays.
  absl::Status Replace(Catalog catalog);

  // What is offered now.
  std::shared_ptr<const Catalog> catalog() const;

  // Lists the pipelines, and the datasets whose names `listed` says yes to.
  v1::ListDatasetsResponse ListDatasets(const std::function<bool(const std::string&)>& listed) const;

  // Says what the pipeline makes of the dataset, before any span is asked for. NotFound for an unknown dataset or
  // pipeline name, InvalidArgument for a pipeline that does not fit the dataset or this server's memory. A subset or
  // weights that do not fit give the errors of Selections.
  absl::StatusOr<v1::DescribeResponse> Describe(const v1::DescribeRequest& request);

  // Tell what the dataset's index knows, page by page. NotFound for an unknown dataset; else the errors of
  // index_pages.h, and for labels those of Selections.
  absl::StatusOr<v1::ListClassesResponse> ListClasses(const v1::ListClassesRequest& request) const;
  absl::StatusOr<v1::ListSamplesResponse> ListSamples(const v1::ListSamplesRequest& request);

  // Opens a stream whose spans go to `deliver`, which is called on worker threads and must not block. It may be called
  // for spans in hand after the stream is destroyed. Errors as of Describe, and ResourceExhausted if there is no memory
  // for another stream. `share` says whose stream it is.
  absl::StatusOr<std::unique_ptr<Stream>> Open(const v1::Open& open, WorkerPool::Deliver deliver,
                                               const WorkShare& share = {});

  int workers() const { return options_.workers; }

  // See WorkerPool::stuck.
  bool stuck() const { return workers_.stuck(); }

  // What is kept of spans, and of decoded images.
  const SpanCache& spans() const { return workers_.cache(); }
  const DecodedCache& decoded() const { return workers_.decoded(); }

  // See WorkerPool::waiting.
  WorkerPool::Waiting waiting() const { return workers_.waiting(); }

  // Bytes of memory that all streams' slabs share, and those of them that are in use.
  uint64_t slab_bytes() const { return workers_.slabs().budget_bytes(); }
  uint64_t held_slab_bytes() const { return workers_.slabs().held_bytes(); }

  // Options::build.
  const std::string& build() const { return options_.build; }

 private:
  Engine(Options options, uint64_t slab_bytes);

  absl::StatusOr<ServerPipeline> Compile(const v1::Pipeline& pipeline, const Dataset& dataset) const;
  absl::StatusOr<JobSamples> Select(const Catalog& catalog, const std::string& name, const v1::Subset& subset,
                                    const v1::Shuffle& shuffle);
  v1::Identity IdentityOf(const Dataset& dataset, const ServerPipeline& pipeline, const JobSamples& samples) const;

  Options options_;  // Its catalog has moved to catalog_; the rest never changes.
  Selections selections_;
  WorkerPool workers_;

  mutable absl::Mutex mutex_;
  std::shared_ptr<const Catalog> catalog_ ABSL_GUARDED_BY(mutex_);
  uint64_t replaced_ ABSL_GUARDED_BY(mutex_) = 0;  // how often
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_ENGINE_H_
