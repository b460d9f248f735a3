#include "client/device/cuda/cuda_device.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/device/cuda/batch_work.h"
#include "client/device/cuda/events.h"
#include "client/device/cuda/parameter_buffers.h"
#include "client/device/cuda/slabs.h"
#include "client/device/cuda/slots.h"
#include "client/device/trace.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

using Event = CudaRuntime::Event;

// Staging memory gets so many bytes more than the first batch needs, for batches that draw more. Otherwise it would
// have to be allocated anew, and freeing the old memory waits for the GPU.
constexpr uint64_t kParameterRoom = uint64_t{64} << 10;

constexpr Stream kLegacyStream = 1, kPerThreadStream = 2;

// What a device and the tensors that it made share; it lives as long as any of them. Thread-safe.
class Stage {
 public:
  static absl::StatusOr<std::shared_ptr<Stage>> Create(std::shared_ptr<CudaRuntime> runtime);
  ~Stage();

  CudaRuntime& runtime() { return *runtime_; }
  Events& events() { return events_; }
  Slots& slots() { return slots_; }

  // Queues a batch, whose tensors will lie in the returned slot. The slot's `ready` is recorded after the batch's work.
  absl::StatusOr<std::unique_ptr<Slot>> Queue(const BatchWork& work, std::shared_ptr<HostSlab> slab)
      ABSL_LOCKS_EXCLUDED(queue_mutex_, mutex_);

  // Drops the slabs that have been copied.
  void ReclaimCopied() ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until the oldest slab is copied, and drops it. False if there is none.
  bool Reclaim() ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns `status`, and keeps it for error() if it is the first error. LatchError does not keep a lack of memory,
  // after which one can go on; LatchAny does, for batches that were queued only in part.
  absl::Status LatchError(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status LatchAny(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);

  // The first error that was kept, or OK.
  absl::Status error() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Device memory that a batch is copied to, and from which its tensors are made.
  struct Staging {
    uint8_t* memory = nullptr;
    uint64_t bytes = 0;
    Event read = nullptr;  // recorded after the work that reads it
  };

  // Host memory that must be kept until it is copied.
  struct Upload {
    std::shared_ptr<HostSlab> slab;
    std::unique_ptr<ParameterBuffer> parameters;
    Event copied = nullptr;
    bool recorded = false;  // whether `copied` was recorded after the last copy
  };

  explicit Stage(std::shared_ptr<CudaRuntime> runtime)
      : runtime_(std::move(runtime)), events_(runtime_), slots_(runtime_, &events_), parameters_(runtime_) {}

  absl::Status Queue(const BatchWork& work, Staging& staging, Slot& slot, Upload upload)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(queue_mutex_);
  absl::StatusOr<Staging*> NextStaging(uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(queue_mutex_);
  absl::Status Copy(const BatchWork& work, Staging& staging, Upload& upload)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(queue_mutex_);
  absl::Status Transform(const BatchWork& work, Staging& staging, Slot& slot)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(queue_mutex_);
  void LetGo(Upload upload);

  const std::shared_ptr<CudaRuntime> runtime_;
  Events events_;
  Slots slots_;
  ParameterBuffers parameters_;
  Stream copying_ = 0, making_ = 0;

  absl::Mutex queue_mutex_;  // held while a batch is queued, so that batches are queued one after the other
  std::array<Staging, 2> staging_ ABSL_GUARDED_BY(queue_mutex_);
  size_t next_staging_ ABSL_GUARDED_BY(queue_mutex_) = 0;

  mutable absl::Mutex mutex_ ABSL_ACQUIRED_AFTER(queue_mutex_);
  std::deque<Upload> uploads_ ABSL_GUARDED_BY(mutex_);
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<std::shared_ptr<Stage>> Stage::Create(std::shared_ptr<CudaRuntime> runtime) {
  std::shared_ptr<Stage> stage(new Stage(std::move(runtime)));
  STOKER_ASSIGN_OR_RETURN(stage->copying_, stage->runtime_->CreateStream());
  STOKER_ASSIGN_OR_RETURN(stage->making_, stage->runtime_->CreateStream());
  absl::MutexLock lock(&stage->queue_mutex_);
  for (Staging& staging : stage->staging_) {
    STOKER_ASSIGN_OR_RETURN(staging.read, stage->runtime_->CreateEvent());
  }
  return stage;
}

// Ignores errors, since nobody is left to hear of them.
Stage::~Stage() {
  for (Stream stream : {copying_, making_})
    if (stream != 0) runtime_->Synchronize(stream).IgnoreError();
  for (const Upload& upload : uploads_) events_.Return(upload.copied);
  uploads_.clear();
  for (const Staging& staging : staging_) {
    if (staging.memory != nullptr) runtime_->FreeDevice(staging.memory).IgnoreError();
    if (staging.read != nullptr) runtime_->DestroyEvent(staging.read).IgnoreError();
  }
  for (Stream stream : {copying_, making_})
    if (stream != 0) runtime_->DestroyStream(stream).IgnoreError();
}

absl::Status Stage::LatchError(absl::Status status) {
  return absl::IsResourceExhausted(status) ? status : LatchAny(std::move(status));
}

absl::Status Stage::LatchAny(absl::Status status) {
  if (status.ok()) return status;
  absl::MutexLock lock(&mutex_);
  if (error_.ok()) error_ = status;
  return status;
}

absl::Status Stage::error() const {
  absl::MutexLock lock(&mutex_);
  return error_;
}

absl::StatusOr<std::unique_ptr<Slot>> Stage::Queue(const BatchWork& work, std::shared_ptr<HostSlab> slab) {
  STOKER_RETURN_IF_ERROR(error());
  absl::MutexLock lock(&queue_mutex_);
  auto staging = NextStaging(std::max<uint64_t>(1, work.staging_bytes()));
  if (!staging.ok()) return LatchError(staging.status());
  auto copied = events_.Take();
  if (!copied.ok()) return LatchError(copied.status());
  auto slot = slots_.Take(std::max<uint64_t>(1, work.slot_bytes()));
  if (!slot.ok()) {
    events_.Return(*copied);
    return LatchError(slot.status());
  }
  const absl::Status status = Queue(work, **staging, **slot, {.slab = std::move(slab), .copied = *copied});
  if (status.ok()) return slot;
  slots_.Abandon(*std::move(slot), status);
  return LatchAny(status);
}

absl::Status Stage::Queue(const BatchWork& work, Staging& staging, Slot& slot, Upload upload) {
  absl::Status status = Copy(work, staging, upload);
  if (status.ok()) status = runtime_->WaitFor(making_, upload.copied);
  {
    absl::MutexLock lock(&mutex_);
    uploads_.push_back(std::move(upload));
  }
  STOKER_RETURN_IF_ERROR(status);
  return Transform(work, staging, slot);
}

absl::StatusOr<Stage::Staging*> Stage::NextStaging(uint64_t bytes) {
  Staging& staging = staging_[next_staging_];
  next_staging_ = (next_staging_ + 1) % staging_.size();
  if (staging.bytes >= bytes) return &staging;
  if (staging.memory != nullptr) {
    STOKER_RETURN_IF_ERROR(runtime_->Synchronize(staging.read));
    STOKER_RETURN_IF_ERROR(runtime_->FreeDevice(std::exchange(staging.memory, nullptr)));
  }
  staging.bytes = 0;
  const uint64_t with_room = bytes + bytes / 16 + kParameterRoom;
  STOKER_ASSIGN_OR_RETURN(staging.memory, slots_.Allocate(with_room));
  staging.bytes = with_room;
  return &staging;
}

absl::Status Stage::Copy(const BatchWork& work, Staging& staging, Upload& upload) {
  const TraceRange range("stoker: upload");
  STOKER_RETURN_IF_ERROR(runtime_->WaitFor(copying_, staging.read));
  for (const BatchWork::Part& part : work.uploads())
    STOKER_RETURN_IF_ERROR(runtime_->CopyToDevice(staging.memory + part.to, part.from, part.bytes, copying_));
  if (const auto parameters = work.parameters(); !parameters.empty()) {
    STOKER_ASSIGN_OR_RETURN(upload.parameters, parameters_.Take(parameters.size()));
    std::memcpy(upload.parameters->memory(), parameters.data(), parameters.size());
    STOKER_RETURN_IF_ERROR(runtime_->CopyToDevice(staging.memory + work.parameters_at(), upload.parameters->memory(),
                                                  parameters.size(), copying_));
  }
  STOKER_RETURN_IF_ERROR(runtime_->Record(upload.copied, copying_));
  upload.recorded = true;
  return absl::OkStatus();
}

absl::Status Stage::Transform(const BatchWork& work, Staging& staging, Slot& slot) {
  const TraceRange range("stoker: transform");
  while (!slot.used_until.empty()) {
    STOKER_RETURN_IF_ERROR(runtime_->WaitFor(making_, slot.used_until.back()));
    events_.Return(slot.used_until.back());
    slot.used_until.pop_back();
  }
  for (const KernelCall& kernel : work.Kernels(staging.memory, slot.memory))
    STOKER_RETURN_IF_ERROR(runtime_->Launch(kernel, making_));
  for (const BatchWork::Part& part : work.Copies(staging.memory))
    STOKER_RETURN_IF_ERROR(runtime_->CopyOnDevice(slot.memory + part.to, part.from, part.bytes, making_));
  STOKER_RETURN_IF_ERROR(runtime_->Record(staging.read, making_));
  return runtime_->Record(slot.ready, making_);
}

void Stage::ReclaimCopied() {
  std::vector<Upload> copied;
  {
    absl::MutexLock lock(&mutex_);
    while (!uploads_.empty() && uploads_.front().recorded) {
      const auto done = runtime_->IsDone(uploads_.front().copied);
      if (!done.ok() && error_.ok()) error_ = done.status();
      if (!done.ok() || !*done) break;
      copied.push_back(std::move(uploads_.front()));
      uploads_.pop_front();
    }
  }
  for (Upload& upload : copied) LetGo(std::move(upload));
}

bool Stage::Reclaim() {
  Upload first;
  {
    absl::MutexLock lock(&mutex_);
    if (uploads_.empty()) return false;
    first = std::move(uploads_.front());
    uploads_.pop_front();
  }
  LatchError(first.recorded ? runtime_->Synchronize(first.copied) : runtime_->Synchronize(copying_)).IgnoreError();
  LetGo(std::move(first));
  return true;
}

// Must be called without a lock: dropping the last reference to a slab may destroy the slab's owner.
void Stage::LetGo(Upload upload) {
  events_.Return(upload.copied);
  if (upload.parameters != nullptr) parameters_.Return(std::move(upload.parameters));
}

// Lends a batch's slot to its tensors. The slot returns when the last tensor is dropped.
class SlotMemory : public TensorMemory {
 public:
  SlotMemory(std::shared_ptr<Stage> stage, std::unique_ptr<Slot> slot)
      : stage_(std::move(stage)), slot_(std::move(slot)) {}

  ~SlotMemory() override {
    const absl::Status status = RecordUses();
    if (status.ok()) {
      stage_->slots().Return(std::move(slot_));
    } else {
      stage_->slots().Abandon(std::move(slot_), status);
    }
  }

  absl::Status UseOn(Stream stream) override {
    STOKER_RETURN_IF_ERROR(stage_->error());
    absl::MutexLock lock(&mutex_);
    const bool known = std::any_of(uses_.begin(), uses_.end(), [&](const Use& use) { return use.stream == stream; });
    if (known && stream != kPerThreadStream) return absl::OkStatus();
    STOKER_RETURN_IF_ERROR(stage_->runtime().WaitFor(stream, slot_->ready));
    if (known) return absl::OkStatus();
    auto event = stage_->events().Take();
    if (!event.ok()) return stage_->LatchError(event.status());
    // Recording the event now only shows whether it can be done. Another GPU's stream can wait for our event, but our
    // event cannot be recorded on it.
    if (const absl::Status status = stage_->runtime().Record(*event, stream); !status.ok()) {
      stage_->events().Return(*event);
      return status;
    }
    uses_.push_back({stream, *event});
    return absl::OkStatus();
  }

  absl::Status Wait() override {
    STOKER_RETURN_IF_ERROR(stage_->error());
    return stage_->LatchError(stage_->runtime().Synchronize(slot_->ready));
  }

  const Slot& slot() const { return *slot_; }

 private:
  struct Use {
    Stream stream = 0;
    Event until = nullptr;
  };

  // Records the end of all uses. A thread's default stream cannot be named from another thread; the legacy stream
  // stands in, since it waits for all of these.
  absl::Status RecordUses() {
    absl::MutexLock lock(&mutex_);
    absl::Status status;
    for (const Use& use : uses_) {
      slot_->used_until.push_back(use.until);
      const Stream stream = use.stream == kPerThreadStream ? kLegacyStream : use.stream;
      status.Update(stage_->runtime().Record(use.until, stream));
    }
    return status;
  }

  const std::shared_ptr<Stage> stage_;
  std::unique_ptr<Slot> slot_;
  absl::Mutex mutex_;
  std::vector<Use> uses_ ABSL_GUARDED_BY(mutex_);
};

class CudaDevice : public Device {
 public:
  CudaDevice(std::shared_ptr<Stage> stage, std::shared_ptr<Slabs> slabs)
      : stage_(std::move(stage)), slabs_(std::move(slabs)) {}

  DeviceId id() const override { return {DeviceId::Kind::kCuda, stage_->runtime().ordinal()}; }

  absl::StatusOr<std::unique_ptr<HostSlab>> AllocateSlab(uint64_t bytes, bool needed) override {
    return slabs_->Allocate(bytes, needed);
  }

  absl::StatusOr<std::vector<Tensor>> Submit(const DevicePipeline& pipeline, const HostBatch& batch) override {
    stage_->ReclaimCopied();
    STOKER_ASSIGN_OR_RETURN(const BatchWork work, BatchWork::Create(pipeline, batch));
    STOKER_ASSIGN_OR_RETURN(auto slot, stage_->Queue(work, batch.slab));
    const auto memory = std::make_shared<SlotMemory>(stage_, std::move(slot));
    std::vector<Tensor> tensors = work.Tensors(memory->slot().memory, id());
    for (Tensor& tensor : tensors) tensor.memory = memory;
    return tensors;
  }

  bool asynchronous() const override { return true; }
  bool Reclaim() override { return stage_->Reclaim(); }
  std::vector<std::string> Warnings() const override {
    std::vector<std::string> warnings = slabs_->Warnings();
    for (std::string& warning : stage_->slots().Warnings()) warnings.push_back(std::move(warning));
    return warnings;
  }

 private:
  const std::shared_ptr<Stage> stage_;
  const std::shared_ptr<Slabs> slabs_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Device>> OpenCudaDevice(std::shared_ptr<CudaRuntime> runtime,
                                                       const DeviceOptions& options) {
  auto slabs = std::make_shared<Slabs>(runtime, options);
  STOKER_ASSIGN_OR_RETURN(auto stage, Stage::Create(std::move(runtime)));
  return std::make_shared<CudaDevice>(std::move(stage), std::move(slabs));
}

}  // namespace stoker
