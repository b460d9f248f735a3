#ifndef STOKER_CLIENT_DEVICE_CUDA_SLOTS_H_
#define STOKER_CLIENT_DEVICE_CUDA_SLOTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/device/cuda/events.h"
#include "client/device/cuda/runtime.h"

namespace stoker {

// Device memory for one batch's tensors.
struct Slot {
  uint8_t* memory = nullptr;
  uint64_t bytes = 0;
  CudaRuntime::Event ready = nullptr;          // Recorded when its tensors are made.
  std::vector<CudaRuntime::Event> used_until;  // Work that must be done before it is written to again.
};

// The slots of a device, made once and reused; more of them only when all are in use. Thread-safe. Outlives what it
// lends.
class Slots {
 public:
  Slots(std::shared_ptr<CudaRuntime> runtime, Events* events) : runtime_(std::move(runtime)), events_(events) {}
  ~Slots();

  // A slot of at least so many bytes, the one that came back first. ResourceExhausted if the GPU has no memory.
  absl::StatusOr<std::unique_ptr<Slot>> Take(uint64_t bytes);

  // Device memory. All idle slots are freed if there is no other, and never before: freeing waits for the GPU.
  absl::StatusOr<uint8_t*> Allocate(uint64_t bytes);

  void Return(std::unique_ptr<Slot> slot);

  // For a slot of which nobody knows when it is no longer used, by `why`: its memory is not given to anyone again.
  void Abandon(std::unique_ptr<Slot> slot, const absl::Status& why);

  std::vector<std::string> Warnings() const;

 private:
  absl::StatusOr<std::unique_ptr<Slot>> Make(uint64_t bytes);
  std::unique_ptr<Slot> TakeIdle(uint64_t bytes);
  std::unique_ptr<Slot> TakeTooSmall();
  absl::Status FreeIdle();
  absl::Status Free(Slot& slot);

  const std::shared_ptr<CudaRuntime> runtime_;
  Events* const events_;
  mutable absl::Mutex mutex_;
  std::vector<std::unique_ptr<Slot>> idle_ ABSL_GUARDED_BY(mutex_);  // That came back first, first.
  std::vector<std::unique_ptr<Slot>> abandoned_ ABSL_GUARDED_BY(mutex_);
  absl::Status abandoned_why_ ABSL_GUARDED_BY(mutex_);  // The first.
  uint64_t lent_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_SLOTS_H_
