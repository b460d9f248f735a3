#ifndef STOKER_CLIENT_DEVICE_CUDA_SLABS_H_
#define STOKER_CLIENT_DEVICE_CUDA_SLABS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/device/cuda/runtime.h"
#include "client/device/options.h"

namespace stoker {

// Allocates the host memory that a GPU copies from: page-locked, near the GPU where the machine tells where that is,
// and within bounds. Where memory cannot be locked, slabs that are needed are pageable instead, if that is allowed;
// others are refused, and who wanted them goes on with fewer. Thread-safe. Slabs may outlive it.
class Slabs : public std::enable_shared_from_this<Slabs> {
 public:
  Slabs(std::shared_ptr<CudaRuntime> runtime, const DeviceOptions& options);

  // ResourceExhausted names what is exhausted.
  absl::StatusOr<std::unique_ptr<HostSlab>> Allocate(uint64_t bytes, bool needed);

  // What a user could mend, a sentence each.
  std::vector<std::string> Warnings() const;

 private:
  class Pinned;

  absl::StatusOr<std::unique_ptr<HostSlab>> AllocatePinned(uint64_t bytes);
  void Free(uint8_t* memory, uint64_t bytes);

  const std::shared_ptr<CudaRuntime> runtime_;
  const DeviceOptions options_;
  const int numa_node_;

  mutable absl::Mutex mutex_;
  uint64_t pinned_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int pinned_ ABSL_GUARDED_BY(mutex_) = 0;             // Slabs, now.
  int pageable_ ABSL_GUARDED_BY(mutex_) = 0;           // Slabs instead of pinned ones, ever.
  int refused_at_ ABSL_GUARDED_BY(mutex_) = 0;         // Pinned slabs when another was refused.
  absl::Status problem_ ABSL_GUARDED_BY(mutex_);       // The last with page-locking.
  absl::Status free_problem_ ABSL_GUARDED_BY(mutex_);  // The first with its end.
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_SLABS_H_
