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

// Device memory for one batch's tensors. A plain value; Slots frees the memory.
struct Slot {
  uint8_t* memory = nullptr;
  uint64_t bytes = 0;
  CudaRuntime::Event ready = nullptr;          // recorded after the work that makes the tensors
  std::vector<CudaRuntime::Event> used_until;  // recorded after work that reads the slot, which must end before reuse
};

// Lends the slots of a device, which are made once and reused. It makes more only when all are in use. Thread-safe. It
// must outlive what it lends.
class Slots {
 public:
  Slots(std::shared_ptr<CudaRuntime> runtime, Events* events) : runtime_(std::move(runtime)), events_(events) {}
  ~Slots();

  // Lends a slot of at least `bytes`, of several the one that came back first. ResourceExhausted if the GPU has no
  // memory.
  absl::StatusOr<std::unique_ptr<Slot>> Take(uint64_t bytes);

  // Allocates device memory. If there is none left it first frees all idle slots; not earlier, since freeing
  // waits for the GPU.
  absl::StatusOr<uint8_t*> Allocate(uint64_t bytes);

  // Takes a slot back. Whoever uses it next must wait for its `used_until`.
  void Return(std::unique_ptr<Slot> slot);

  // Takes a slot out of use, since because of the error `why` nobody knows when it is no longer read.
  void Abandon(std::unique_ptr<Slot> slot, const absl::Status& why);

  // Tells what a user could mend, a sentence each.
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
  std::vector<std::unique_ptr<Slot>> idle_ ABSL_GUARDED_BY(mutex_);  // in the order in which they came back
  std::vector<std::unique_ptr<Slot>> abandoned_ ABSL_GUARDED_BY(mutex_);
  absl::Status abandoned_why_ ABSL_GUARDED_BY(mutex_);  // the error of the first abandoned slot
  uint64_t lent_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_SLOTS_H_
