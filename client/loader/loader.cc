#include "client/loader/loader.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/device/trace.h"
#include "client/fleet/span_source.h"
#include "client/loader/assembly.h"
#include "client/loader/device_stage.h"
#include "client/loader/open_job.h"
#include "client/loader/slab_layout.h"
#include "client/loader/slab_ring.h"
#include "client/loader/span_rooms.h"
#include "client/loader/state.h"
#include "client/loader/value_arena.h"
#include "common/status_macros.h"
#include "common/time/steady_time.h"

namespace stoker {
namespace {

// Batches that a caller may hold while it asks for the next, before memory is allocated for more.
constexpr int64_t kHeldBatches = 2;

// Whole batches that an asynchronous device is given before they are asked for: it copies one while the training loop
// computes on another.
constexpr size_t kSubmittedAhead = 2;

std::vector<uint64_t> PartEnds(const v1::DescribeResponse& description) {
  std::vector<uint64_t> ends;
  for (const v1::DatasetPart& part : description.parts()) ends.push_back(part.end());
  return ends;
}

}  // namespace

// Keeps batches on their way, in the order of the plan, and hands them out one by one. See open_job.h, assembly.h and
// device_stage.h for what happens before, to and after a batch.
class Loader::Impl {
 public:
  explicit Impl(OpenedJob job);
  ~Impl();

  absl::StatusOr<std::optional<Batch>> Next() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Await(absl::Duration patience) ABSL_LOCKS_EXCLUDED(mutex_);
  void SetEpoch(uint64_t epoch) ABSL_LOCKS_EXCLUDED(mutex_);
  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_);
  std::string State() const ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Restore(const std::string& state, bool accept_other_pixels) ABSL_LOCKS_EXCLUDED(mutex_);
  uint64_t batches_per_epoch() const { return plan_.BatchesFrom(0); }
  const std::vector<v1::Field>& fields() const { return job_.device_pipeline.fields(); }
  const v1::DescribeResponse& description() const { return job_.description; }
  const LoaderOptions& options() const { return job_.options; }
  DatasetIndex index() const {
    return {job_.client.get(), job_.options.dataset, job_.options.subset, job_.description};
  }
  LoaderStats stats() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // A batch that is on its way.
  struct Begun {
    uint64_t id = 0;
    Assembly assembly;
    std::shared_ptr<ValueArena> arena;  // Null where all samples have one size.
    std::set<SpanSource::Ticket> tickets;
    std::optional<std::vector<Tensor>> submitted;  // What the device makes of it, if it was given the batch ahead.
  };

  // A whole batch that was taken off those on their way.
  struct Taken {
    std::shared_ptr<LandedBatch> landed;
    std::optional<std::vector<Tensor>> submitted;
    uint64_t moves = 0;  // moves_ at that time.
  };

  absl::Status CheckUsable() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Whether the epoch that was begun is over, and its end not told yet.
  bool EpochEnded() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return iterating_.has_value() && *iterating_ != cursor_.epoch;
  }

  // Waits at an epoch's end until its spans are checked as far as they can be, at most until `until`. False if they
  // are not. It gives up after progress_timeout and when the loader is cancelled, since what comes too late is not
  // worth more.
  bool AwaitChecks(absl::Time until) ABSL_LOCKS_EXCLUDED(mutex_);

  // Servers make different bytes: the job fails.
  void OnDifference(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether Next() returns the end of an epoch now. If so it is told by that, else the epoch counts as begun.
  bool TellEpochEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Begins batches while there are slabs, up to the prefetch.
  absl::Status Fill() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Whether prefetch_bytes allow for one more batch ahead. Where samples differ in size, prefetch_ is only a guess.
  bool HasRoomAhead() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return begun_.empty() || job_.layout.variable().empty() ||
           (begun_.size() + 1) * ring_->slab_bytes() <= job_.options.prefetch_bytes;
  }

  // Begins one batch where all slabs are with the caller or the device: waits for one without the lock. Begins none
  // if a batch was begun meanwhile, or the loader moved since `moves` was read.
  absl::Status BeginWithLateSlab(uint64_t moves) ABSL_LOCKS_EXCLUDED(mutex_);

  void Begin(const BatchSpec& spec, std::shared_ptr<HostSlab> slab) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  SpanSource::Request RequestFor(const Begun& begun, const Assembly::Part& part);

  // Where a span's samples that differ in size are: for each such field, in order.
  using Values = std::vector<std::span<uint8_t>>;
  void OnSpan(uint64_t id, const Assembly::Part& part, const absl::StatusOr<v1::SpanHeader>& header,
              const Values& values) ABSL_LOCKS_EXCLUDED(mutex_);

  // The batch of that id, or null if it is not on its way any more.
  Begun* Find(uint64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Whether the batch of that id is the next one to be returned.
  bool IsNext(uint64_t id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !begun_.empty() && begun_.front().id == id;
  }

  // How long Next() waited so far, now included.
  absl::Duration Waited() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stats_.waited + (awaiting_since_.has_value() ? SteadyNow() - *awaiting_since_ : absl::ZeroDuration());
  }

  // Waits until the batch, which is the next one, is whole, or another one is next, or `until`. Returns the batch's
  // own error if it has one. The wait has an end: Cancel, or progress_timeout.
  absl::Status AwaitNext(uint64_t id, absl::Time until) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // The next batch; none at an epoch's end.
  absl::StatusOr<std::optional<Taken>> Take() ABSL_LOCKS_EXCLUDED(mutex_);

  // The next batch, which is on its way; none if another thread moved the loader meanwhile.
  absl::StatusOr<std::optional<Taken>> TakeBegun() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Makes what the user sees of a batch, of all but its spec.
  absl::StatusOr<Batch> Finish(Taken& taken) ABSL_LOCKS_EXCLUDED(mutex_);

  // Gives an asynchronous device the next batches that are whole.
  void SubmitAhead() ABSL_LOCKS_EXCLUDED(mutex_);

  void MoveTo(Cursor cursor) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropAhead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // These are constant, or thread-safe by themselves.
  const OpenedJob job_;
  const JobIdentity identity_;
  const BatchPlan plan_;
  const SlabLayout layout_;
  const std::shared_ptr<const std::vector<uint64_t>> part_ends_;
  const int64_t prefetch_;
  const pid_t process_ = getpid();
  const std::shared_ptr<SlabRing> ring_;
  const std::shared_ptr<SpanSource> source_;
  DeviceStage stage_;

  // The lock is held while spans are asked for, which never blocks, and while the few slabs are first allocated, but
  // not while the device works.
  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);                 // Every Next() returns it, until the loader is moved.
  Cursor cursor_ ABSL_GUARDED_BY(mutex_);                      // Batches before it were returned.
  Cursor ahead_ ABSL_GUARDED_BY(mutex_);                       // Batches before it were begun.
  uint64_t moves_ ABSL_GUARDED_BY(mutex_) = 0;                 // SetEpoch and Restore moved the cursor so often.
  std::optional<uint64_t> iterating_ ABSL_GUARDED_BY(mutex_);  // The epoch whose end is still to be told.
  std::deque<Begun> begun_ ABSL_GUARDED_BY(mutex_);            // Batches come in the order of the plan.
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 0;               // Begun::id of the next batch.
  std::optional<absl::Time> waiting_since_ ABSL_GUARDED_BY(mutex_);   // Since when the next batch is waited for.
  std::optional<absl::Time> awaiting_since_ ABSL_GUARDED_BY(mutex_);  // While a thread waits: since when.
  absl::Time last_arrival_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  LoaderStats stats_ ABSL_GUARDED_BY(mutex_);
};

Loader::Impl::Impl(OpenedJob job)
    : job_(std::move(job)),
      identity_(job_.identity()),
      plan_(job_.plan),
      layout_(job_.field_bytes),
      part_ends_(std::make_shared<const std::vector<uint64_t>>(PartEnds(job_.description))),
      prefetch_(job_.prefetch()),
      ring_(std::make_shared<SlabRing>(job_.options.device, job_.slab_bytes(), prefetch_ + kHeldBatches)),
      source_(std::make_shared<SpanSource>(
          SpanSource::Options{.client = job_.client.get(),
                              .open = job_.stream_open(),
                              .description = job_.description,
                              .scheduler = {.max_bytes = job_.options.prefetch_bytes,
                                            .late = {.least_deadline = job_.options.span_deadline}},
                              .waited =
                                  [this] {
                                    absl::MutexLock lock(&mutex_);
                                    return Waited();
                                  },
                              .verify = job_.options.verify,
                              .on_difference = [this](const absl::Status& status) { OnDifference(status); }})),
      stage_(job_.options.device, job_.device_pipeline, layout_, job_.options.seed) {
  source_->Start();
}

Loader::Impl::~Impl() {
  if (getpid() == process_) {
    source_->Shutdown();
    while (job_.options.device->Reclaim()) {  // Slabs that the device keeps refer to the ring, and that to the device.
    }
  } else {  // A forked child has none of the threads that would end: it leaves them alone, and what they use.
    new std::tuple(source_, job_.client, ring_, job_.options.device, std::move(begun_));
  }
}

// ---- handing out ----

absl::Status Loader::Impl::CheckUsable() const {
  if (!error_.ok()) return error_;
  if (cancelled_) return absl::CancelledError("the loader was cancelled");
  if (getpid() != process_)
    return absl::FailedPreconditionError("the process was forked after the loader was made; make loaders in the child");
  return absl::OkStatus();
}

bool Loader::Impl::TellEpochEnd() {
  if (EpochEnded()) {
    iterating_.reset();
    return true;
  }
  if (!plan_.At(cursor_).has_value()) {  // A state was restored whose position is in a tail that is left out.
    MoveTo({cursor_.epoch + 1, 0});
    return true;
  }
  iterating_ = cursor_.epoch;
  return false;
}

absl::StatusOr<std::optional<Batch>> Loader::Impl::Next() {
  STOKER_ASSIGN_OR_RETURN(auto taken, Take());
  if (!taken.has_value()) return std::nullopt;
  auto batch = Finish(*taken);
  if (batch.ok()) SubmitAhead();
  absl::MutexLock lock(&mutex_);
  if (!batch.ok()) return error_ = batch.status();
  const BatchSpec& spec = taken->landed->spec;
  if (taken->moves == moves_) cursor_ = spec.next;  // Else another thread moved the loader on from this batch.
  ++stats_.batches;
  stats_.samples += spec.real;
  stats_.substituted += batch->substituted().size();
  return std::optional<Batch>(*std::move(batch));
}

void Loader::Impl::OnDifference(const absl::Status& status) {
  if (job_.options.verify_policy == VerifyPolicy::kWarn) return;  // The source's stats have it.
  absl::MutexLock lock(&mutex_);
  if (error_.ok()) error_ = status;
  changed_.SignalAll();
}

bool Loader::Impl::AwaitChecks(absl::Time until) {
  // How often it is looked whether the loader was cancelled meanwhile.
  constexpr absl::Duration kGlance = absl::Milliseconds(50);
  const absl::Time patience = SteadyNow() + job_.options.progress_timeout;
  while (true) {
    uint64_t epoch = 0;
    {
      absl::MutexLock lock(&mutex_);
      if (!CheckUsable().ok() || !EpochEnded()) return true;
      epoch = *iterating_;
    }
    const absl::Time now = SteadyNow();
    if (source_->AwaitChecks(epoch, std::min({now + kGlance, until, patience})) || now >= patience) return true;
    if (now >= until) return false;
  }
}

absl::StatusOr<std::optional<Loader::Impl::Taken>> Loader::Impl::Take() {
  AwaitChecks(absl::InfiniteFuture());
  while (true) {
    uint64_t moves = 0;
    {
      absl::MutexLock lock(&mutex_);
      STOKER_RETURN_IF_ERROR(CheckUsable());
      if (TellEpochEnd()) return std::nullopt;
      if (auto status = Fill(); !status.ok() && begun_.empty()) return status;
      if (!begun_.empty()) {
        STOKER_ASSIGN_OR_RETURN(auto taken, TakeBegun());
        if (taken.has_value()) return taken;
        continue;
      }
      moves = moves_;
    }
    STOKER_RETURN_IF_ERROR(BeginWithLateSlab(moves));
  }
}

absl::StatusOr<std::optional<Loader::Impl::Taken>> Loader::Impl::TakeBegun() {
  const uint64_t id = begun_.front().id;
  const absl::Status status = AwaitNext(id, absl::InfiniteFuture());
  if (!IsNext(id)) return std::nullopt;
  waiting_since_.reset();
  if (!status.ok()) return cancelled_ ? status : error_ = status;
  Begun& front = begun_.front();
  Taken taken = {.landed = front.assembly.landed(), .submitted = std::move(front.submitted), .moves = moves_};
  begun_.pop_front();
  Fill().IgnoreError();  // The next call meets it again, and this batch is whole.
  return taken;
}

absl::Status Loader::Impl::AwaitNext(uint64_t id, absl::Time until) {
  const TraceRange range("stoker: wait");
  const auto incomplete = [this, id]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return IsNext(id) && !begun_.front().assembly.whole();
  };
  const auto stalled_at = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return std::max(*waiting_since_, last_arrival_) + job_.options.progress_timeout;
  };
  awaiting_since_ = SteadyNow();
  if (!waiting_since_.has_value()) waiting_since_ = awaiting_since_;
  absl::Status status;
  while (incomplete() && status.ok() && SteadyNow() < until) {
    if (!error_.ok()) {  // It came meanwhile, see OnDifference.
      status = error_;
      break;
    }
    changed_.WaitWithTimeout(&mutex_, std::min(stalled_at(), until) - SteadyNow());
    if (cancelled_)
      status = absl::CancelledError("the loader was cancelled");
    else if (incomplete() && SteadyNow() >= stalled_at())
      status = absl::DeadlineExceededError(absl::StrCat(
          "no span arrived for ", absl::FormatDuration(job_.options.progress_timeout), " (", source_->Problems(), ")"));
  }
  stats_.waited = Waited();
  awaiting_since_.reset();
  if (!status.ok() || !IsNext(id)) return status;
  return begun_.front().assembly.status();
}

absl::Status Loader::Impl::Await(absl::Duration patience) {
  const absl::Time until = SteadyNow() + patience;
  if (!AwaitChecks(until)) return absl::DeadlineExceededError("the epoch's last spans are not verified yet");
  uint64_t moves = 0;
  bool late_slab = false;
  // Where Next() would not wait, it says itself what there is.
  {
    absl::MutexLock lock(&mutex_);
    if (!CheckUsable().ok() || EpochEnded() || !plan_.At(cursor_).has_value() || !Fill().ok()) return absl::OkStatus();
    moves = moves_;
    late_slab = begun_.empty();
  }
  if (late_slab && !BeginWithLateSlab(moves).ok()) return absl::OkStatus();
  absl::MutexLock lock(&mutex_);
  if (begun_.empty()) return absl::OkStatus();
  const uint64_t id = begun_.front().id;
  const bool would_wait = AwaitNext(id, until).ok() && IsNext(id) && !begun_.front().assembly.whole();
  return would_wait ? absl::DeadlineExceededError("the next batch is not there yet") : absl::OkStatus();
}

// ---- batches on their way ----

absl::Status Loader::Impl::Fill() {
  while (static_cast<int64_t>(begun_.size()) < prefetch_ && HasRoomAhead()) {
    const auto spec = plan_.At(ahead_);
    if (!spec.has_value()) {
      ahead_ = {ahead_.epoch + 1, 0};
      continue;
    }
    STOKER_ASSIGN_OR_RETURN(auto slab, ring_->TryTake());
    if (slab == nullptr) break;
    Begin(*spec, std::move(slab));
  }
  return absl::OkStatus();
}

absl::Status Loader::Impl::BeginWithLateSlab(uint64_t moves) {
  STOKER_ASSIGN_OR_RETURN(auto slab, ring_->TakeOrGrow());
  absl::MutexLock lock(&mutex_);
  const auto spec = plan_.At(ahead_);
  if (moves == moves_ && spec.has_value() && begun_.empty()) Begin(*spec, std::move(slab));
  return absl::OkStatus();
}

void Loader::Impl::Begin(const BatchSpec& spec, std::shared_ptr<HostSlab> slab) {
  const size_t variable = job_.layout.variable().size();
  std::shared_ptr<ValueArena> arena;
  if (variable > 0) {
    arena = std::make_shared<ValueArena>(job_.options.device, std::move(slab), layout_.bytes(spec.rows));
    slab = std::shared_ptr<HostSlab>(arena, arena->slab());
  }
  begun_.push_back({.id = next_id_++,
                    .assembly = Assembly(spec, std::move(slab), job_.span_samples(), job_.options.names, variable),
                    .arena = std::move(arena)});
  Begun& begun = begun_.back();
  std::vector<SpanSource::Request> requests;
  for (const Assembly::Part& part : begun.assembly.parts()) requests.push_back(RequestFor(begun, part));
  const auto tickets = source_->Fetch(std::move(requests));
  begun.tickets = {tickets.begin(), tickets.end()};
  ahead_ = spec.next;
}

SpanSource::Request Loader::Impl::RequestFor(const Begun& begun, const Assembly::Part& part) {
  const Assembly& assembly = begun.assembly;
  SpanSource::Request request{.span = part.span, .owner = assembly.slab()};
  for (size_t field = 0; field < layout_.fields(); ++field)
    request.destinations.push_back(
        layout_.Rows(assembly.slab()->bytes(), assembly.spec().rows, field, part.row, part.span.count));
  if (begun.arena == nullptr) {
    request.done = [this, id = begun.id, part](const auto& header) { OnSpan(id, part, header, {}); };
    return request;
  }
  const auto rooms = std::make_shared<SpanRooms>(begun.arena, job_.layout, part.span.count);
  request.room = [rooms](size_t field, uint64_t bytes) { return rooms->Take(field, bytes); };
  request.done = [this, id = begun.id, part, rooms](const auto& header) {
    OnSpan(id, part, header, header.ok() ? rooms->taken() : Values());
  };
  return request;
}

void Loader::Impl::OnSpan(uint64_t id, const Assembly::Part& part, const absl::StatusOr<v1::SpanHeader>& header,
                          const Values& values) {
  absl::MutexLock lock(&mutex_);
  last_arrival_ = SteadyNow();
  Begun* const begun = Find(id);
  if (begun == nullptr) return;
  if (header.ok())
    begun->assembly.Land(part, *header, values);
  else
    begun->assembly.Fail(part, header.status());
  if (!begun->assembly.whole()) return;
  changed_.SignalAll();
  if (begun->arena != nullptr) ring_->Enlarge(layout_.bytes(begun->assembly.spec().rows) + begun->arena->taken());
}

Loader::Impl::Begun* Loader::Impl::Find(uint64_t id) {
  const auto found = std::find_if(begun_.begin(), begun_.end(), [id](const Begun& begun) { return begun.id == id; });
  return found == begun_.end() ? nullptr : &*found;
}

// ---- the device ----

absl::StatusOr<Batch> Loader::Impl::Finish(Taken& taken) {
  LandedBatch& landed = *taken.landed;
  Batch batch;
  batch.landed_ = stage_.Landed(landed);
  if (taken.submitted.has_value()) {
    batch.tensors_ = *std::move(taken.submitted);
  } else {
    STOKER_ASSIGN_OR_RETURN(batch.tensors_, stage_.Submit(landed));
  }
  batch.epoch_ = landed.spec.cursor.epoch;
  batch.real_ = static_cast<int64_t>(landed.spec.real);
  batch.positions_ = std::move(landed.positions);
  batch.sample_ids_ = std::move(landed.sample_ids);
  batch.names_ = std::move(landed.names);
  batch.substituted_ = std::move(landed.substituted);
  batch.part_ends_ = part_ends_;
  return batch;
}

void Loader::Impl::SubmitAhead() {
  if (!stage_.asynchronous()) return;
  std::vector<std::pair<uint64_t, std::shared_ptr<const LandedBatch>>> whole;
  {
    absl::MutexLock lock(&mutex_);
    for (size_t i = 0; i < std::min(kSubmittedAhead, begun_.size()); ++i) {
      const Begun& begun = begun_[i];
      if (!begun.assembly.whole() || !begun.assembly.status().ok()) break;
      if (!begun.submitted.has_value()) whole.emplace_back(begun.id, begun.assembly.landed());
    }
  }
  for (const auto& [id, landed] : whole) {
    auto tensors = stage_.Submit(*landed);
    if (!tensors.ok()) return;  // The batch is submitted again when it is asked for, and fails then.
    absl::MutexLock lock(&mutex_);
    if (Begun* const begun = Find(id)) begun->submitted = *std::move(tensors);
  }
}

// ---- position ----

void Loader::Impl::MoveTo(Cursor cursor) {
  ++moves_;
  cursor_ = cursor;
  iterating_.reset();
  const bool foreseen = !begun_.empty() && begun_.front().assembly.spec().cursor == cursor;
  if (!foreseen) DropAhead();
}

void Loader::Impl::DropAhead() {
  std::set<SpanSource::Ticket> tickets;
  for (const Begun& begun : begun_) tickets.insert(begun.tickets.begin(), begun.tickets.end());
  source_->Forget(tickets);
  begun_.clear();
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
  return EncodeState(identity_, cursor_);
}

absl::Status Loader::Impl::Restore(const std::string& state, bool accept_other_pixels) {
  STOKER_ASSIGN_OR_RETURN(const Cursor cursor, DecodeState(state, identity_, accept_other_pixels));
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
    stats.waited = Waited();
  }
  static_cast<FleetStats&>(stats) = source_->stats();
  stats.transformed = stage_.transformed();
  stats.warnings = job_.options.device->Warnings();
  for (const std::string& difference : stats.differences) stats.warnings.push_back("verify: " + difference);
  return stats;
}

// ---- the public face ----

absl::StatusOr<std::unique_ptr<Loader>> Loader::Create(LoaderOptions options) {
  STOKER_ASSIGN_OR_RETURN(auto job, OpenJob(std::move(options)));
  return std::unique_ptr<Loader>(new Loader(std::make_unique<Impl>(std::move(job))));
}

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
DatasetIndex Loader::index() const { return impl_->index(); }
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
