#include "client/device/cuda/slots.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace stoker {

Slots::~Slots() {
  for (auto& slot : idle_) Free(*slot).IgnoreError();
  for (auto& slot : abandoned_) Free(*slot).IgnoreError();
}

absl::StatusOr<std::unique_ptr<Slot>> Slots::Take(uint64_t bytes) {
  std::unique_ptr<Slot> slot = TakeIdle(bytes);
  if (slot == nullptr) {
    if (auto small = TakeTooSmall(); small != nullptr) STOKER_RETURN_IF_ERROR(Free(*small));
    STOKER_ASSIGN_OR_RETURN(slot, Make(bytes));
  }
  absl::MutexLock lock(&mutex_);
  lent_bytes_ += slot->bytes;
  return slot;
}

absl::StatusOr<std::unique_ptr<Slot>> Slots::Make(uint64_t bytes) {
  auto slot = std::make_unique<Slot>();
  slot->bytes = bytes;
  STOKER_ASSIGN_OR_RETURN(slot->ready, runtime_->CreateEvent());
  auto memory = Allocate(bytes);
  if (memory.ok()) {
    slot->memory = *memory;
    return slot;
  }
  runtime_->DestroyEvent(slot->ready).IgnoreError();
  if (!absl::IsResourceExhausted(memory.status())) return memory.status();
  absl::MutexLock lock(&mutex_);
  return absl::ResourceExhaustedError(absl::StrCat(memory.status().message(), ": no room for a batch of ", bytes,
                                                   " bytes beside ", lent_bytes_, " of batches in use"));
}

absl::StatusOr<uint8_t*> Slots::Allocate(uint64_t bytes) {
  auto memory = runtime_->AllocateDevice(bytes);
  if (!absl::IsResourceExhausted(memory.status())) return memory;
  STOKER_RETURN_IF_ERROR(FreeIdle());
  return runtime_->AllocateDevice(bytes);
}

std::unique_ptr<Slot> Slots::TakeIdle(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  for (auto i = idle_.begin(); i != idle_.end(); ++i) {
    if ((*i)->bytes < bytes) continue;
    std::unique_ptr<Slot> slot = std::move(*i);
    idle_.erase(i);
    return slot;
  }
  return nullptr;
}

// Returns any idle slot, or null. It is called when no idle slot was large enough, so the one that it returns is too
// small.
std::unique_ptr<Slot> Slots::TakeTooSmall() {
  absl::MutexLock lock(&mutex_);
  if (idle_.empty()) return nullptr;
  std::unique_ptr<Slot> slot = std::move(idle_.front());
  idle_.erase(idle_.begin());
  return slot;
}

void Slots::Return(std::unique_ptr<Slot> slot) {
  absl::MutexLock lock(&mutex_);
  lent_bytes_ -= slot->bytes;
  idle_.push_back(std::move(slot));
}

void Slots::Abandon(std::unique_ptr<Slot> slot, const absl::Status& why) {
  absl::MutexLock lock(&mutex_);
  abandoned_.push_back(std::move(slot));
  abandoned_why_.Update(why);
}

std::vector<std::string> Slots::Warnings() const {
  absl::MutexLock lock(&mutex_);
  if (abandoned_.empty()) return {};
  return {absl::StrCat("the GPU memory of ", abandoned_.size(),
                       " batches is not reused, since a stream they were used on was gone or in the wrong state (",
                       abandoned_why_.message(), ")")};
}

absl::Status Slots::FreeIdle() {
  std::vector<std::unique_ptr<Slot>> idle;
  {
    absl::MutexLock lock(&mutex_);
    idle.swap(idle_);
  }
  absl::Status status;
  for (auto& slot : idle) status.Update(Free(*slot));
  return status;
}

absl::Status Slots::Free(Slot& slot) {
  absl::Status status = runtime_->Synchronize(slot.ready);
  for (CudaRuntime::Event event : slot.used_until) {
    status.Update(runtime_->Synchronize(event));
    events_->Return(event);
  }
  status.Update(runtime_->FreeDevice(slot.memory));
  status.Update(runtime_->DestroyEvent(slot.ready));
  return status;
}

}  // namespace stoker
