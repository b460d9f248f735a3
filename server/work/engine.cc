#include "server/work/engine.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/identity/mix.h"
#include "common/ops/loaded_ops.h"
#include "common/pipeline/pipeline.h"
#include "common/status_macros.h"
#include "server/augment/explain.h"
#include "server/config/settings.h"
#include "server/decode/audio/audio_library.h"
#include "server/work/select/class_weights.h"
#include "server/work/select/index_pages.h"

namespace stoker {
namespace {

// Memory of an idle server: code, libraries, stacks and gRPC's own buffers (measured: 45 MiB).
constexpr uint64_t kBaseBytes = uint64_t{64} << 20;

// Memory that a worker keeps beside its slab and pixels: the bytes that it read, and tables.
constexpr uint64_t kScratchBytes = uint64_t{8} << 20;

// Memory for subsets: room for so many of the largest dataset, and for one job's weights of its classes, and no less
// than these bytes, but at most this part of the limit.
constexpr uint64_t kSubsets = 8, kLeastSubsetBytes = uint64_t{1} << 20, kSubsetPart = 16;

// A view's plan keeps some hundred bytes for each of its passes.
constexpr double kMostPasses = 4096;

// A server that has no room for this many streams refuses to start.
constexpr uint64_t kLeastStreams = 2;

uint64_t SubsetBytes(const Engine::Options& options, const Engine::Catalog& catalog) {
  uint64_t most = kLeastSubsetBytes;
  for (const auto& [name, dataset] : catalog.datasets)
    most = std::max(most, kSubsets * SampleSet::BytesFor(dataset->size()) + MostBytesOfWeights(*dataset));
  return std::min(options.memory_limit_bytes / kSubsetPart, most);
}

// Whether a dataset lies on slow storage.
bool HasSlow(const Engine::Catalog& catalog) {
  return std::any_of(catalog.datasets.begin(), catalog.datasets.end(),
                     [](const auto& entry) { return entry.second->stored() != nullptr; });
}

// Bytes for what is read ahead.
uint64_t AheadBytes(const Engine::Options& options, const Engine::Catalog& catalog) {
  return HasSlow(catalog) ? options.read_ahead_bytes : 0;
}

// Bytes for samples that are kept as they are stored.
uint64_t RawBytes(const Engine::Options& options, const Engine::Catalog& catalog) {
  return options.raw_cache != nullptr && HasSlow(catalog) ? options.raw_cache->most_bytes() : 0;
}

// Bytes that a worker shares with a process that runs own ops.
uint64_t OwnOpBytes() {
  uint64_t bytes = 0;
  for (const auto& op : GetLoadedOps()) bytes = std::max(bytes, op->batch_bytes());
  return bytes;
}

uint64_t ReservedBytes(const Engine::Options& options, const Engine::Catalog& catalog, uint64_t subset_bytes) {
  uint64_t bytes = kBaseBytes + options.span_cache_bytes + options.decoded_cache_bytes + subset_bytes +
                   AheadBytes(options, catalog) + RawBytes(options, catalog) +
                   options.workers * (kScratchBytes + kWorkerBytesPerPixel * options.limits.max_pixels + OwnOpBytes());
  for (const auto& [name, dataset] : catalog.datasets) bytes += dataset->resident_bytes();
  for (const auto& [name, lists] : catalog.lists)
    for (const auto& [list, samples] : lists) bytes += samples->resident_bytes();
  return bytes;
}

std::string MiB(uint64_t bytes) { return absl::StrCat((bytes + (1 << 20) - 1) >> 20, " MiB"); }

absl::StatusOr<uint64_t> SlabBytes(const Engine::Options& options, const Engine::Catalog& catalog,
                                   uint64_t subset_bytes) {
  const uint64_t reserved = ReservedBytes(options, catalog, subset_bytes);
  // The factor 2 is there since only half of the pool can be reserved: see SlabPool.
  const uint64_t least = 2 * kLeastStreams * (SlabPool::kStreamOverheadBytes + (uint64_t{4} << 20));
  if (options.memory_limit_bytes < reserved + least)
    return absl::InvalidArgumentError(
        absl::StrCat("memory_limit: ", MiB(options.memory_limit_bytes),
                     " is too little: the process, its datasets, caches and what is read ahead, and ", options.workers,
                     " workers for images of ", options.limits.max_pixels, " pixels, need ", MiB(reserved), ", ",
                     kLeastStreams, " streams ", MiB(least),
                     "; raise memory_limit, or lower max_pixels, workers, span_cache, decoded_cache or raw_cache"));
  return options.memory_limit_bytes - reserved;
}

template <typename Map>
std::string Names(const Map& map) {
  if (map.empty()) return "none";
  return absl::StrJoin(map, ", ", [](std::string* out, const auto& entry) { absl::StrAppend(out, entry.first); });
}

absl::Status ValidatePipelines(const std::map<std::string, v1::Pipeline>& pipelines) {
  for (const auto& [name, pipeline] : pipelines) {
    v1::Pipeline resolved = pipeline;
    absl::Status status = ValidatePipeline(pipeline);
    if (status.ok()) status = ResolveOwnOps(resolved);
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("pipelines[", name, "]: ", status.message()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Dataset>> Find(const Engine::Catalog& catalog, const std::string& name) {
  auto found = catalog.datasets.find(name);
  if (found == catalog.datasets.end())
    return absl::NotFoundError(absl::StrCat("no dataset '", name, "' is configured here"));  // Rights says which are.
  return found->second;
}

// Checks that the client knows what every field is.
absl::Status CheckKinds(const ServerPipeline& pipeline, const v1::Open& open) {
  for (const ServerPipeline::Output& output : pipeline.outputs()) {
    const v1::FieldKind kind = output.field.kind();
    const auto& known = open.known_kinds();
    if (kind == v1::FIELD_KIND_UNSPECIFIED || std::find(known.begin(), known.end(), kind) != known.end()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "field '", output.field.name(), "' is a ", KindName(kind),
        ", which this client does not know; upgrade the client, or leave the field out by pipeline.fields"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> Engine::Create(Options options) {
  STOKER_RETURN_IF_ERROR(ValidatePipelines(options.catalog.pipelines));
  STOKER_ASSIGN_OR_RETURN(const uint64_t slab_bytes,
                          SlabBytes(options, options.catalog, SubsetBytes(options, options.catalog)));
  return std::unique_ptr<Engine>(new Engine(std::move(options), slab_bytes));
}

Engine::Engine(Options options, uint64_t slab_bytes)
    : options_(std::move(options)),
      selections_(SubsetBytes(options_, options_.catalog)),
      workers_({.workers = options_.workers,
                .numa_nodes = options_.numa_nodes,
                .slab_bytes = slab_bytes,
                .ahead_bytes = AheadBytes(options_, options_.catalog),
                .raw_cache = options_.raw_cache,
                .limits = options_.limits,
                .cache_bytes = options_.span_cache_bytes,
                .decoded_bytes = options_.decoded_cache_bytes,
                .idle = options_.idle}),
      catalog_(std::make_shared<const Catalog>(std::move(options_.catalog))) {}

absl::Status Engine::Replace(Catalog catalog) {
  STOKER_RETURN_IF_ERROR(ValidatePipelines(catalog.pipelines));
  STOKER_ASSIGN_OR_RETURN(const uint64_t slab_bytes, SlabBytes(options_, catalog, selections_.budget_bytes()));
  const uint64_t ahead_bytes = AheadBytes(options_, catalog);
  std::shared_ptr<const Catalog> old;  // Declared before the lock, hence destroyed after its release.
  {
    absl::MutexLock lock(&mutex_);
    catalog.generation = ++replaced_;
    old = std::exchange(catalog_, std::make_shared<const Catalog>(std::move(catalog)));
  }
  workers_.SetSlabBytes(slab_bytes);
  workers_.SetAheadBytes(ahead_bytes);
  return absl::OkStatus();
}

std::shared_ptr<const Engine::Catalog> Engine::catalog() const {
  absl::MutexLock lock(&mutex_);
  return catalog_;
}

v1::ListDatasetsResponse Engine::ListDatasets(const std::function<bool(const std::string&)>& listed) const {
  v1::ListDatasetsResponse response;
  const auto catalog = this->catalog();
  for (const auto& [name, dataset] : catalog->datasets) {
    if (!listed(name)) continue;
    auto& info = *response.add_datasets();
    info.set_name(name);
    info.set_samples(dataset->size());
    info.set_fingerprint(dataset->fingerprint());
    info.set_description(dataset->description());
  }
  for (const auto& [name, pipeline] : catalog->pipelines) {
    auto& named = *response.add_pipelines();
    named.set_name(name);
    *named.mutable_pipeline() = pipeline;
  }
  for (const auto& op : GetLoadedOps()) *response.add_own_ops() = InfoOf(*op);
  return response;
}

absl::StatusOr<ServerPipeline> Engine::Compile(const v1::Pipeline& pipeline, const Dataset& dataset) const {
  STOKER_ASSIGN_OR_RETURN(auto server, ServerPipeline::Create(pipeline, dataset.schema()));
  if (server.sample_bytes() > workers_.max_span_bytes())
    return absl::InvalidArgumentError(absl::StrCat("pipeline: a sample has ", server.sample_bytes(),
                                                   " bytes of output, and this server's memory allows spans of ",
                                                   workers_.max_span_bytes(), "; raise its memory_limit"));
  for (const ServerPipeline::Output& output : server.outputs())
    if (output.audio.has_value() && options_.audio_check == 0)
      return absl::InvalidArgumentError(absl::StrCat("field '", output.field.name(),
                                                     "': ", LoadedAudioLibrary().status().message(),
                                                     "; leave the field out by pipeline.fields, or install these"));
  if (const double passes = server.MostPassesOfView(); passes > kMostPasses)
    return absl::InvalidArgumentError(
        absl::StrCat("pipeline: its ops may make ", passes, " passes over one image, at most ", kMostPasses));
  if (const absl::Status status = CheckSampleCost(server, kUsualImage, options_.limits); !status.ok())
    return absl::InvalidArgumentError(absl::StrCat("pipeline: ", status.message()));
  return server;
}

absl::StatusOr<JobSamples> Engine::Select(const Catalog& catalog, const std::string& name, const v1::Subset& subset,
                                          const v1::Shuffle& shuffle) {
  static const SampleLists kNone;
  const auto lists = catalog.lists.find(name);
  // A list of this name may be another one in the next catalog.
  const std::string key = absl::StrCat(catalog.generation, "/", name);
  return selections_.Find({key, *catalog.datasets.at(name), lists == catalog.lists.end() ? kNone : lists->second},
                          subset, shuffle);
}

v1::Identity Engine::IdentityOf(const Dataset& dataset, const ServerPipeline& pipeline,
                                const JobSamples& samples) const {
  v1::Identity identity;
  identity.set_fingerprint(samples.fingerprint);
  identity.set_samples(samples.positions);
  identity.set_pixel_version(kPixelVersion);
  const auto& outputs = pipeline.outputs();
  const bool has_audio =
      std::any_of(outputs.begin(), outputs.end(), [](const auto& output) { return output.audio.has_value(); });
  identity.set_pixel_check(has_audio ? MixAll({options_.pixel_check, options_.audio_check}) : options_.pixel_check);
  identity.set_content(dataset.content());
  return identity;
}

absl::StatusOr<v1::DescribeResponse> Engine::Describe(const v1::DescribeRequest& request) {
  const auto catalog = this->catalog();
  STOKER_ASSIGN_OR_RETURN(const auto dataset, Find(*catalog, request.dataset()));
  v1::DescribeResponse response;
  if (request.has_pipeline()) {
    *response.mutable_pipeline() = request.pipeline();
  } else if (request.has_pipeline_name()) {
    auto found = catalog->pipelines.find(request.pipeline_name());
    if (found == catalog->pipelines.end())
      return absl::NotFoundError(absl::StrCat("no pipeline '", request.pipeline_name(),
                                              "' is offered here; there are: ", Names(catalog->pipelines)));
    *response.mutable_pipeline() = found->second;
  } else {
    *response.mutable_pipeline() = DefaultPipelineOf(dataset->schema());
  }
  STOKER_ASSIGN_OR_RETURN(const ServerPipeline pipeline, Compile(response.pipeline(), *dataset));
  STOKER_ASSIGN_OR_RETURN(const JobSamples samples,
                          Select(*catalog, request.dataset(), request.subset(), request.shuffle()));
  *response.mutable_pipeline() = pipeline.pipeline();
  *response.mutable_identity() = IdentityOf(*dataset, pipeline, samples);
  response.set_dataset_samples(dataset->size());
  response.set_dataset_fingerprint(dataset->fingerprint());
  for (MixedPart& part : dataset->parts()) {
    v1::DatasetPart& told = *response.add_parts();
    told.set_name(std::move(part.name));
    told.set_end(part.end);
    told.set_weight(part.weight);
  }
  for (const auto& output : pipeline.outputs()) *response.add_fields() = output.field;
  response.set_sample_bytes(pipeline.sample_bytes());
  response.set_span_samples(pipeline.span_samples());
  response.set_parallelism(options_.workers);
  response.set_build(options_.build);
  if (request.explain()) {
    for (std::string& line : Explain(pipeline, dataset->schema())) response.add_plan(std::move(line));
    response.add_plan(ExplainSampleCost(pipeline, kUsualImage, options_.limits));
  }
  return response;
}

absl::StatusOr<v1::ListClassesResponse> Engine::ListClasses(const v1::ListClassesRequest& request) const {
  const auto catalog = this->catalog();
  STOKER_ASSIGN_OR_RETURN(const auto dataset, Find(*catalog, request.dataset()));
  return PageOfClasses(*dataset, request.first());
}

absl::StatusOr<v1::ListSamplesResponse> Engine::ListSamples(const v1::ListSamplesRequest& request) {
  const auto catalog = this->catalog();
  STOKER_ASSIGN_OR_RETURN(const auto dataset, Find(*catalog, request.dataset()));
  if (!request.has_labels()) return PageOfNames(*dataset, request.names());
  STOKER_ASSIGN_OR_RETURN(const JobSamples samples, Select(*catalog, request.dataset(), request.labels().subset(), {}));
  return PageOfLabels(*dataset, samples, request.labels().first());
}

absl::StatusOr<std::unique_ptr<Engine::Stream>> Engine::Open(const v1::Open& open, WorkerPool::Deliver deliver,
                                                             const WorkShare& share) {
  const auto catalog = this->catalog();
  STOKER_ASSIGN_OR_RETURN(const auto dataset, Find(*catalog, open.dataset()));
  STOKER_ASSIGN_OR_RETURN(
      auto pipeline, Compile(open.has_pipeline() ? open.pipeline() : DefaultPipelineOf(dataset->schema()), *dataset));
  STOKER_RETURN_IF_ERROR(CheckKinds(pipeline, open));
  STOKER_ASSIGN_OR_RETURN(JobSamples samples, Select(*catalog, open.dataset(), open.subset(), open.shuffle()));
  v1::Opened opened;
  *opened.mutable_identity() = IdentityOf(*dataset, pipeline, samples);
  opened.set_sample_bytes(pipeline.sample_bytes());
  opened.set_parallelism(options_.workers);
  opened.set_span_cache(workers_.cache().enabled());
  // What was kept of a dataset of this name before a reload may be of other bytes.
  const std::string name = absl::StrCat(catalog->generation, "/", open.dataset());
  STOKER_ASSIGN_OR_RETURN(auto plan, StreamPlan::Create(name, std::move(pipeline), opened.identity(), open.seed(),
                                                        open.shuffle(), open.names(), std::move(samples.selection)));
  opened.set_stream_key(plan.stream_key());
  STOKER_ASSIGN_OR_RETURN(auto work, workers_.AddStream(dataset, plan, std::move(deliver), share));
  opened.set_window(work->window());
  return std::unique_ptr<Stream>(
      new Stream(std::move(opened), std::move(plan), workers_.max_span_bytes(), std::move(work)));
}

Engine::Stream::Stream(v1::Opened opened, StreamPlan plan, uint64_t max_span_bytes,
                       std::unique_ptr<WorkerPool::Stream> work)
    : opened_(std::move(opened)), plan_(std::move(plan)), max_span_bytes_(max_span_bytes), work_(std::move(work)) {}

absl::Status Engine::Stream::Want(const v1::Want& want) {
  const SpanId span = {want.epoch(), want.start(), want.count()};
  STOKER_RETURN_IF_ERROR(plan_.Check(span, max_span_bytes_));
  return work_->Want(span, want.anew());
}

bool Engine::Stream::Cancel(const v1::Cancel& cancel) {
  return work_->Cancel({cancel.epoch(), cancel.start(), cancel.count()});
}

}  // namespace stoker
