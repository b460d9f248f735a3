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

// Allocates the host memory that a GPU copies from. It is page-locked, and near the GPU if the machine tells where that
// is. DeviceOptions::pinned_bytes bounds it. If memory cannot be locked and Pin::kAuto allows it, slabs that are needed
// are pageable instead; others are refused, and the caller goes on with fewer. Thread-safe. Slabs may outlive it.
class Slabs : public std::enable_shared_from_this<Slabs> {
 public:
  Slabs(std::shared_ptr<CudaRuntime> runtime, const DeviceOptions& options);

  // Allocates a slab: see Device::AllocateSlab. ResourceExhausted names what is exhausted.
  absl::StatusOr<std::unique_ptr<HostSlab>> Allocate(uint64_t bytes, bool needed);

  // Tells what a user could mend, a sentence each.
  std::vector<std::string> Warnings() const;

 private:
  class Pinned;

  absl::StatusOr<std::unique_ptr<HostSlab>> AllocatePinned(uint64_t bytes);
  void Free(uint8_t* memory, uint64_t bytes);

  const std::shared_ptr<CudaRuntime> runtime_;
  const DeviceOptions options_;
  const int numa_node_;

  mutable absl::Mutex mutex_;
  uint64_t pinned_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // bytes of all pinned slabs that exist now
  int pinned_ ABSL_GUARDED_BY(mutex_) = 0;             // number of pinned slabs that exist now
  int pageable_ ABSL_GUARDED_BY(mutex_) = 0;           // number of pageable slabs that were made instead of pinned ones
  int refused_at_ ABSL_GUARDED_BY(mutex_) = 0;         // how many pinned slabs there were when the last was refused
  absl::Status problem_ ABSL_GUARDED_BY(mutex_);       // the last error of page-locking
  absl::Status free_problem_ ABSL_GUARDED_BY(mutex_);  // the first error of freeing page-locked memory
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_SLABS_H_
