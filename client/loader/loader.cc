#include "client/loader/loader.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "client/device/trace.h"
#include "client/fleet/span_source.h"
#include "client/loader/slab_ring.h"
#include "client/loader/state.h"
#include "client/schedule/batch_plan.h"
#include "common/check.h"
#include "common/identity/epoch_order.h"
#include "common/pipeline/pipeline.h"
#include "common/pipeline/server_pipeline.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// Batches that a caller may hold while it asks for the next, before memory is allocated for more.
constexpr int64_t kHeldBatches = 2;

// Whole batches that an asynchronous device is given before they are asked for: it copies one while the training loop
// computes on another.
constexpr size_t kSubmittedAhead = 2;

// What prefetch takes by default: bytes that keep some dozens of workers busy, in at least 2 batches.
constexpr uint64_t kPrefetchBytes = uint64_t{64} << 20;
constexpr int64_t kMostPrefetch = 64;

int64_t Prefetch(const LoaderOptions& options, uint64_t batch_bytes) {
  const auto by_bytes = static_cast<int64_t>(std::max<uint64_t>(1, options.prefetch_bytes / batch_bytes));
  const auto busy = static_cast<int64_t>((kPrefetchBytes - 1) / batch_bytes + 1);
  const int64_t wanted = options.prefetch > 0 ? options.prefetch : std::clamp<int64_t>(busy, 2, kMostPrefetch);
  return std::min(wanted, by_bytes);
}

// The number in the environment's `name`, or -1 where there is none.
absl::StatusOr<int64_t> FromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return -1;
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number) || number < 0)
    return absl::InvalidArgumentError(absl::StrCat(name, "='", text, "' in the environment is no number"));
  return number;
}

absl::Status FindRank(LoaderOptions& options) {
  if (options.rank < 0 && options.world_size < 0) {
    STOKER_ASSIGN_OR_RETURN(options.rank, FromEnvironment("RANK"));
    STOKER_ASSIGN_OR_RETURN(options.world_size, FromEnvironment("WORLD_SIZE"));
  }
  if ((options.rank < 0) != (options.world_size < 0))
    return absl::InvalidArgumentError("rank and world_size (or RANK and WORLD_SIZE): give both or none");
  if (options.rank < 0) options.rank = 0, options.world_size = 1;
  return absl::OkStatus();
}

}  // namespace

// A batch whose spans are on their way.
struct Assembly {
  BatchSpec spec;
  std::shared_ptr<HostSlab> slab;
  std::vector<uint64_t> positions, sample_ids;
  std::vector<uint64_t> drawn_positions;  // Whose draws each row has: a substitute's are of its own position.
  std::vector<std::string> names;
  std::vector<Substituted> substituted;
  std::set<SpanSource::Ticket> tickets;
  int missing = 0;                               // spans
  absl::Status status;                           // Of the first row that failed,
  uint64_t failed_row = 0;                       // this one.
  std::optional<std::vector<Tensor>> submitted;  // What the device makes of it, where it was given it ahead.
};

class Loader::Impl {
 public:
  // What Create found out.
  struct Parts {
    LoaderOptions options;
    std::shared_ptr<Client> client;
    v1::DescribeResponse description;
    BatchPlan::Options plan;
    std::vector<uint64_t> field_bytes;  // of one sample
    v1::Open open;
  };

  Impl(Parts parts, DevicePipeline device_pipeline);
  ~Impl();

  absl::StatusOr<std::optional<Batch>> Next();
  absl::Status Await(absl::Duration patience);
  void SetEpoch(uint64_t epoch);
  void Cancel();
  std::string State() const;
  absl::Status Restore(const std::string& state, bool accept_other_pixels);
  uint64_t batches_per_epoch() const { return plan_.BatchesFrom(0); }
  const std::vector<v1::Field>& fields() const { return device_pipeline_.fields(); }
  const v1::DescribeResponse& description() const { return description_; }
  const LoaderOptions& options() const { return options_; }
  LoaderStats stats() const;

 private:
  absl::Status CheckUsable() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Fill() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status FillOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::shared_ptr<HostSlab>> SlabThatComesBack() ABSL_LOCKS_EXCLUDED(mutex_);
  void Begin(const BatchSpec& spec, std::shared_ptr<HostSlab> slab) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  SpanSource::Request RequestFor(const std::shared_ptr<Assembly>& assembly, const SpanId& span, uint64_t row);
  void OnSpan(Assembly& assembly, const SpanId& span, uint64_t row, absl::StatusOr<v1::SpanHeader> header);

  // Whether the epoch that was begun is told to its end.
  bool EpochEnded() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return iterating_.has_value() && *iterating_ != cursor_.epoch;
  }

  // Waits until the batch is whole, or was given up for another place in the order, or `until`. Has an end: the
  // caller's Cancel, or nothing arriving at all.
  absl::Status Await(const std::shared_ptr<Assembly>& assembly, absl::Time until) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  bool IsNext(const std::shared_ptr<Assembly>& assembly) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !assemblies_.empty() && assemblies_.front() == assembly;
  }
  absl::StatusOr<Batch> Finish(Assembly& assembly) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<std::vector<Tensor>> Submit(const Assembly& assembly) ABSL_LOCKS_EXCLUDED(mutex_);
  void SubmitAhead() ABSL_LOCKS_EXCLUDED(mutex_);
  void MoveTo(Cursor cursor) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropAhead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // A field's samples in a batch's slab, and where they begin there.
  std::span<const uint8_t> FieldOf(const Assembly& assembly, size_t field) const;
  uint64_t FieldOffset(size_t field, uint64_t rows) const;

  const std::shared_ptr<Client> client_;
  const LoaderOptions options_;
  const v1::DescribeResponse description_;
  const DevicePipeline device_pipeline_;
  const BatchPlan plan_;
  const std::vector<uint64_t> field_bytes_;
  const uint64_t batch_bytes_;
  const uint64_t span_samples_;
  const int64_t prefetch_;
  const JobIdentity job_;
  const pid_t process_ = getpid();
  const std::shared_ptr<SlabRing> ring_;
  const std::shared_ptr<SpanSource> source_;

  // Guards what is below, and assemblies once they are begun. Held while spans are asked for, which never blocks, and
  // while the few slabs are first allocated, but not while the device works.
  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);                 // Sticky.
  Cursor cursor_ ABSL_GUARDED_BY(mutex_);                      // What was returned.
  Cursor ahead_ ABSL_GUARDED_BY(mutex_);                       // What was begun.
  uint64_t moves_ ABSL_GUARDED_BY(mutex_) = 0;                 // Of the cursor by SetEpoch and Restore.
  std::optional<uint64_t> iterating_ ABSL_GUARDED_BY(mutex_);  // The epoch whose end is still to be told.
  std::deque<std::shared_ptr<Assembly>> assemblies_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Time> waiting_since_ ABSL_GUARDED_BY(mutex_);  // For the batch at the front.
  absl::Time last_arrival_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  LoaderStats stats_ ABSL_GUARDED_BY(mutex_);
};

// ---- creation ----

absl::StatusOr<std::unique_ptr<Loader>> Loader::Create(LoaderOptions options) {
  Impl::Parts parts;
  parts.client = options.client;
  if (parts.client == nullptr) {
    STOKER_ASSIGN_OR_RETURN(parts.client, Client::Create({.servers = options.servers,
                                                          .connections = options.connections,
                                                          .tls_ca_file = options.tls_ca_file}));
  }
  if (options.batch_size < 1) return absl::InvalidArgumentError("batch_size: must be at least 1");
  if (options.span_deadline <= absl::ZeroDuration())
    return absl::InvalidArgumentError("span_deadline: must be above 0");
  STOKER_RETURN_IF_ERROR(FindRank(options));
  if (options.span_samples > ServerPipeline::kMaxSpanSamples)
    return absl::InvalidArgumentError(absl::StrCat("span_samples: must not exceed ", ServerPipeline::kMaxSpanSamples));
  STOKER_RETURN_IF_ERROR(ValidateShuffle(options.shuffle));
  if (options.dataset.empty()) {
    STOKER_ASSIGN_OR_RETURN(options.dataset, parts.client->OnlyDataset());
  }

  v1::DescribeRequest request;
  request.set_dataset(options.dataset);
  if (options.pipeline.has_value()) *request.mutable_pipeline() = *options.pipeline;
  if (!options.pipeline.has_value() && !options.pipeline_name.empty()) request.set_pipeline_name(options.pipeline_name);
  STOKER_ASSIGN_OR_RETURN(parts.description, parts.client->Describe(request));
  const v1::DescribeResponse& description = parts.description;
  if (description.span_samples() < 1 || description.span_samples() > ServerPipeline::kMaxSpanSamples)
    return absl::InternalError(absl::StrCat("the server describes spans of ", description.span_samples(), " samples"));

  const std::vector<v1::Field> fields(description.fields().begin(), description.fields().end());
  STOKER_ASSIGN_OR_RETURN(auto device_pipeline, DevicePipeline::Create(description.pipeline(), fields));
  for (const v1::Field& field : fields) {
    STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, ByteSize(field));
    parts.field_bytes.push_back(bytes);
  }
  const uint64_t sample_bytes = std::accumulate(parts.field_bytes.begin(), parts.field_bytes.end(), uint64_t{0});
  if (sample_bytes == 0 || sample_bytes != description.sample_bytes())
    return absl::InternalError(absl::StrCat("the server describes samples of ", description.sample_bytes(),
                                            " bytes, whose fields have ", sample_bytes));
  if (options.span_samples * sample_bytes > kMaxSampleBytes && options.span_samples > 1)
    return absl::InvalidArgumentError(absl::StrCat("span_samples: spans of ", options.span_samples,
                                                   " samples would exceed ", kMaxSampleBytes, " bytes"));
  parts.plan = {.samples = description.identity().samples(),
                .batch_size = static_cast<uint64_t>(options.batch_size),
                .rank = static_cast<uint64_t>(options.rank),
                .world_size = static_cast<uint64_t>(options.world_size),
                .last_batch = options.last_batch};
  STOKER_RETURN_IF_ERROR(BatchPlan::Validate(parts.plan));

  parts.open.set_dataset(options.dataset);
  *parts.open.mutable_pipeline() = description.pipeline();
  parts.open.set_seed(options.seed);
  *parts.open.mutable_shuffle() = options.shuffle;
  parts.open.set_names(options.names);
  if (options.device == nullptr) options.device = HostDevice();
  parts.options = std::move(options);
  return std::unique_ptr<Loader>(new Loader(std::make_unique<Impl>(std::move(parts), std::move(device_pipeline))));
}

Loader::Impl::Impl(Parts parts, DevicePipeline device_pipeline)
    : client_(std::move(parts.client)),
      options_(std::move(parts.options)),
      description_(std::move(parts.description)),
      device_pipeline_(std::move(device_pipeline)),
      plan_(parts.plan),
      field_bytes_(std::move(parts.field_bytes)),
      batch_bytes_(options_.batch_size * description_.sample_bytes()),
      span_samples_(options_.span_samples > 0 ? options_.span_samples : description_.span_samples()),
      prefetch_(Prefetch(options_, batch_bytes_)),
      job_{.dataset = options_.dataset,
           .identity = description_.identity(),
           .pipeline_hash = WholeHash(description_.pipeline()),
           .seed = options_.seed,
           .shuffle = options_.shuffle},
      ring_(std::make_shared<SlabRing>(options_.device, batch_bytes_, prefetch_ + kHeldBatches)),
      source_(std::make_shared<SpanSource>(SpanSource::Options{
          .client = client_.get(),
          .open = std::move(parts.open),
          .description = description_,
          .scheduler = {.max_bytes = options_.prefetch_bytes, .least_deadline = options_.span_deadline}})) {
  source_->Start();
}

Loader::Impl::~Impl() {
  if (getpid() == process_) {
    source_->Shutdown();
    while (options_.device->Reclaim()) {  // Slabs that it keeps refer to the ring, and that to it.
    }
  } else {  // A forked child has none of the threads that would end: it leaves them alone, and what they use.
    new std::tuple(source_, client_, ring_, options_.device, std::move(assemblies_));
  }
}

// ---- batches ----

absl::Status Loader::Impl::CheckUsable() const {
  if (!error_.ok()) return error_;
  if (cancelled_) return absl::CancelledError("the loader was cancelled");
  if (getpid() != process_)
    return absl::FailedPreconditionError("the process was forked after the loader was made; make loaders in the child");
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Batch>> Loader::Impl::Next() {
  std::shared_ptr<Assembly> assembly;
  uint64_t moves = 0;
  while (assembly == nullptr) {
    absl::MutexLock lock(&mutex_);
    STOKER_RETURN_IF_ERROR(CheckUsable());
    if (EpochEnded()) {
      iterating_.reset();
      return std::nullopt;
    }
    iterating_ = cursor_.epoch;
    if (!plan_.At(cursor_).has_value()) {  // Restored into a tail that is left out.
      MoveTo({cursor_.epoch + 1, 0});
      iterating_.reset();
      return std::nullopt;
    }
    if (auto status = Fill(); !status.ok() && assemblies_.empty()) return status;
    if (assemblies_.empty()) STOKER_RETURN_IF_ERROR(FillOne());
    if (assemblies_.empty()) continue;  // Another thread moved the loader.
    const std::shared_ptr<Assembly> front = assemblies_.front();
    const absl::Status status = Await(front, absl::InfiniteFuture());
    if (!IsNext(front)) continue;  // Another thread moved the loader.
    waiting_since_.reset();
    if (!status.ok()) return cancelled_ ? status : error_ = status;
    assembly = front;
    moves = moves_;
    assemblies_.pop_front();
    Fill().IgnoreError();  // The next call meets it again, and this batch is whole.
  }
  auto batch = Finish(*assembly);
  if (batch.ok()) SubmitAhead();
  absl::MutexLock lock(&mutex_);
  if (!batch.ok()) return error_ = batch.status();
  if (moves == moves_) cursor_ = assembly->spec.next;  // Else another thread moved the loader on from this batch.
  ++stats_.batches;
  stats_.samples += assembly->spec.real;
  stats_.substituted += batch->substituted().size();
  return std::optional<Batch>(*std::move(batch));
}

absl::Status Loader::Impl::Fill() {
  while (static_cast<int64_t>(assemblies_.size()) < prefetch_) {
    auto spec = plan_.At(ahead_);
    if (!spec.has_value()) {
      ahead_ = {ahead_.epoch + 1, 0};
      continue;
    }
    STOKER_ASSIGN_OR_RETURN(auto slab, ring_->TryTake());
    if (slab == nullptr) break;
    Begin(*spec, std::move(slab));
    ahead_ = spec->next;
  }
  return absl::OkStatus();
}

// For a caller that keeps its batches, or whose device still reads them. Waits for the device without the lock; if the
// loader is moved meanwhile, nothing is begun.
absl::Status Loader::Impl::FillOne() {
  const uint64_t moves = moves_;
  mutex_.Unlock();
  auto slab = SlabThatComesBack();
  mutex_.Lock();
  STOKER_RETURN_IF_ERROR(slab.status());
  const auto spec = plan_.At(ahead_);
  if (moves != moves_ || !spec.has_value() || !assemblies_.empty()) return absl::OkStatus();
  Begin(*spec, *std::move(slab));
  ahead_ = spec->next;
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<HostSlab>> Loader::Impl::SlabThatComesBack() {
  while (options_.device->Reclaim()) {
    STOKER_ASSIGN_OR_RETURN(auto slab, ring_->TryTake());
    if (slab != nullptr) return slab;
  }
  return ring_->Grow();
}

void Loader::Impl::Begin(const BatchSpec& spec, std::shared_ptr<HostSlab> slab) {
  auto assembly = std::make_shared<Assembly>();
  assembly->spec = spec;
  assembly->slab = std::move(slab);
  assembly->positions.resize(spec.rows);
  assembly->sample_ids.resize(spec.rows);
  if (options_.names) assembly->names.resize(spec.rows);
  std::vector<SpanSource::Request> requests;
  for (const Run& run : spec.runs) {
    for (uint64_t i = 0; i < run.count; ++i) assembly->positions[run.row + i] = run.start + i;
    for (const SpanId& span : CutSpans(spec.cursor.epoch, run, span_samples_))
      requests.push_back(RequestFor(assembly, span, run.row + span.start - run.start));
  }
  assembly->drawn_positions = assembly->positions;
  assembly->missing = static_cast<int>(requests.size());
  const auto tickets = source_->Fetch(std::move(requests));
  assembly->tickets = {tickets.begin(), tickets.end()};
  assemblies_.push_back(std::move(assembly));
}

uint64_t Loader::Impl::FieldOffset(size_t field, uint64_t rows) const {
  uint64_t offset = 0;
  for (size_t i = 0; i < field; ++i) offset += rows * field_bytes_[i];
  return offset;
}

SpanSource::Request Loader::Impl::RequestFor(const std::shared_ptr<Assembly>& assembly, const SpanId& span,
                                             uint64_t row) {
  SpanSource::Request request{.span = span, .owner = assembly};
  const std::span<uint8_t> slab = assembly->slab->bytes();
  for (size_t field = 0; field < field_bytes_.size(); ++field)
    request.destinations.push_back(slab.subspan(FieldOffset(field, assembly->spec.rows) + row * field_bytes_[field],
                                                span.count * field_bytes_[field]));
  request.done = [this, assembly, span, row](absl::StatusOr<v1::SpanHeader> header) {
    OnSpan(*assembly, span, row, std::move(header));
  };
  return request;
}

void Loader::Impl::OnSpan(Assembly& assembly, const SpanId& span, uint64_t row, absl::StatusOr<v1::SpanHeader> header) {
  absl::MutexLock lock(&mutex_);
  last_arrival_ = absl::Now();
  --assembly.missing;
  if (!header.ok()) {
    if (assembly.status.ok() || row < assembly.failed_row) {
      assembly.status = header.status();
      assembly.failed_row = row;
    }
  } else {
    for (uint32_t i = 0; i < span.count; ++i) assembly.sample_ids[row + i] = header->sample_ids(static_cast<int>(i));
    if (options_.names)
      for (uint32_t i = 0; i < span.count; ++i) assembly.names[row + i] = header->names(static_cast<int>(i));
    for (const auto& substitution : header->substitutions()) {
      if (substitution.offset() >= span.count) continue;
      assembly.drawn_positions[row + substitution.offset()] = substitution.position();
      assembly.substituted.push_back({.position = span.start + substitution.offset(),
                                      .bad_sample_id = substitution.bad_sample_id(),
                                      .bad_sample_name = substitution.bad_sample_name(),
                                      .reason = substitution.reason()});
    }
  }
  if (assembly.missing == 0) changed_.SignalAll();
}

absl::Status Loader::Impl::Await(const std::shared_ptr<Assembly>& assembly, absl::Time until) {
  const TraceRange range("stoker: wait");
  const absl::Time begun = absl::Now();
  if (!waiting_since_.has_value()) waiting_since_ = begun;
  absl::Status status;
  while (assembly->missing > 0 && IsNext(assembly) && status.ok() && absl::Now() < until) {
    const absl::Time stalled = std::max(*waiting_since_, last_arrival_) + options_.progress_timeout;
    changed_.WaitWithDeadline(&mutex_, std::min(stalled, until));
    if (cancelled_) {
      status = absl::CancelledError("the loader was cancelled");
    } else if (assembly->missing > 0 &&
               absl::Now() >= std::max(*waiting_since_, last_arrival_) + options_.progress_timeout) {
      status = absl::DeadlineExceededError(absl::StrCat(
          "no span arrived for ", absl::FormatDuration(options_.progress_timeout), " (", source_->Problems(), ")"));
    }
  }
  stats_.waited += absl::Now() - begun;
  return status.ok() ? assembly->status : status;
}

absl::Status Loader::Impl::Await(absl::Duration patience) {
  const absl::Time until = absl::Now() + patience;
  absl::MutexLock lock(&mutex_);
  if (!CheckUsable().ok() || EpochEnded() || !plan_.At(cursor_).has_value() || !Fill().ok() ||
      (assemblies_.empty() && !FillOne().ok()) || assemblies_.empty())
    return absl::OkStatus();  // Next() says what it is.
  const std::shared_ptr<Assembly> front = assemblies_.front();
  const bool whole = !Await(front, until).ok() || front->missing == 0 || !IsNext(front);
  return whole ? absl::OkStatus() : absl::DeadlineExceededError("the next batch is not there yet");
}

absl::StatusOr<Batch> Loader::Impl::Finish(Assembly& assembly) {
  Batch batch;
  batch.epoch_ = assembly.spec.cursor.epoch;
  batch.real_ = static_cast<int64_t>(assembly.spec.real);
  batch.positions_ = std::move(assembly.positions);
  batch.sample_ids_ = std::move(assembly.sample_ids);
  batch.names_ = std::move(assembly.names);
  batch.substituted_ = std::move(assembly.substituted);
  std::sort(batch.substituted_.begin(), batch.substituted_.end(),
            [](const Substituted& a, const Substituted& b) { return a.position < b.position; });
  const auto rows = static_cast<int64_t>(assembly.spec.rows);
  const std::shared_ptr<TensorMemory> memory = MemoryOf(assembly.slab);
  for (size_t i = 0; i < field_bytes_.size(); ++i) {
    const v1::Field& field = description_.fields(static_cast<int>(i));
    const auto bytes = FieldOf(assembly, i);
    Tensor tensor{.name = field.name(),
                  .dtype = field.dtype(),
                  .shape = {rows},
                  .data = bytes.data(),
                  .bytes = bytes.size(),
                  .memory = memory};
    tensor.shape.insert(tensor.shape.end(), field.shape().begin(), field.shape().end());
    batch.server_tensors_.push_back(std::move(tensor));
  }
  if (assembly.submitted.has_value()) {
    batch.tensors_ = *std::move(assembly.submitted);
  } else {
    STOKER_ASSIGN_OR_RETURN(batch.tensors_, Submit(assembly));
  }
  return batch;
}

std::span<const uint8_t> Loader::Impl::FieldOf(const Assembly& assembly, size_t field) const {
  const uint64_t rows = assembly.spec.rows;
  return assembly.slab->bytes().subspan(FieldOffset(field, rows), rows * field_bytes_[field]);
}

absl::StatusOr<std::vector<Tensor>> Loader::Impl::Submit(const Assembly& assembly) {
  HostBatch host{.seed = options_.seed,
                 .epoch = assembly.spec.cursor.epoch,
                 .positions = assembly.drawn_positions,
                 .slab = assembly.slab};
  if (!assembly.spec.runs.empty()) host.first_position = assembly.spec.runs.front().start;
  for (size_t i = 0; i < field_bytes_.size(); ++i) host.fields.push_back(FieldOf(assembly, i));
  const absl::Time begun = absl::Now();
  STOKER_ASSIGN_OR_RETURN(auto tensors, options_.device->Submit(device_pipeline_, host));
  absl::MutexLock lock(&mutex_);
  stats_.transformed += absl::Now() - begun;
  return tensors;
}

// A batch that cannot be submitted is so again when it is asked for, and fails then.
void Loader::Impl::SubmitAhead() {
  if (!options_.device->asynchronous()) return;
  std::vector<std::shared_ptr<Assembly>> whole;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& assembly : assemblies_) {
      if (whole.size() == kSubmittedAhead || assembly->missing > 0 || !assembly->status.ok()) break;
      whole.push_back(assembly);
    }
  }
  for (const auto& assembly : whole) {
    if (assembly->submitted.has_value()) continue;
    auto tensors = Submit(*assembly);
    if (!tensors.ok()) return;
    assembly->submitted = *std::move(tensors);
  }
}

// ---- position ----

void Loader::Impl::MoveTo(Cursor cursor) {
  ++moves_;
  cursor_ = cursor;
  iterating_.reset();
  const bool foreseen = !assemblies_.empty() && assemblies_.front()->spec.cursor == cursor;
  if (!foreseen) DropAhead();
}

void Loader::Impl::DropAhead() {
  std::set<SpanSource::Ticket> tickets;
  for (const auto& assembly : assemblies_) tickets.insert(assembly->tickets.begin(), assembly->tickets.end());
  source_->Forget(tickets);
  assemblies_.clear();
  ahead_ = cursor_;
  changed_.SignalAll();
}

void Loader::Impl::SetEpoch(uint64_t epoch) {
  absl::MutexLock lock(&mutex_);
  MoveTo({epoch, 0});
  if (!std::exchange(error_, absl::OkStatus()).ok()) DropAhead();
}

void Loader::Impl::Cancel() {
  absl::MutexLock lock(&mutex_);
  cancelled_ = true;
  changed_.SignalAll();
}

std::string Loader::Impl::State() const {
  absl::MutexLock lock(&mutex_);
  return EncodeState(job_, cursor_);
}

absl::Status Loader::Impl::Restore(const std::string& state, bool accept_other_pixels) {
  STOKER_ASSIGN_OR_RETURN(const Cursor cursor, DecodeState(state, job_, accept_other_pixels));
  absl::MutexLock lock(&mutex_);
  MoveTo(cursor);
  if (!std::exchange(error_, absl::OkStatus()).ok()) DropAhead();
  return absl::OkStatus();
}

LoaderStats Loader::Impl::stats() const {
  LoaderStats stats;
  {
    absl::MutexLock lock(&mutex_);
    stats = stats_;
  }
  static_cast<FleetStats&>(stats) = source_->stats();
  stats.warnings = options_.device->Warnings();
  return stats;
}

// ---- the public face ----

Loader::Loader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Loader::~Loader() = default;
absl::StatusOr<std::optional<Batch>> Loader::Next() { return impl_->Next(); }
absl::Status Loader::Await(absl::Duration patience) { return impl_->Await(patience); }
void Loader::SetEpoch(uint64_t epoch) { impl_->SetEpoch(epoch); }
void Loader::Cancel() { impl_->Cancel(); }
std::string Loader::State() const { return impl_->State(); }
absl::Status Loader::Restore(const std::string& state, bool accept_other_pixels) {
  return impl_->Restore(state, accept_other_pixels);
}
uint64_t Loader::batches_per_epoch() const { return impl_->batches_per_epoch(); }
const std::vector<v1::Field>& Loader::fields() const { return impl_->fields(); }
const v1::DescribeResponse& Loader::description() const { return impl_->description(); }
const LoaderOptions& Loader::options() const { return impl_->options(); }
LoaderStats Loader::stats() const { return impl_->stats(); }

// Receive buffers of a megabyte stay in the heap instead of being mapped and unmapped for each message.
void TuneAllocator() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace stoker
