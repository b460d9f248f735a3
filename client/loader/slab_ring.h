#ifndef STOKER_CLIENT_LOADER_SLAB_RING_H_
#define STOKER_CLIENT_LOADER_SLAB_RING_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/device/device.h"

namespace stoker {

// The few slabs that a loader's batches go round in, allocated once each, when first needed; fewer where the device has
// memory for three but not for all. Thread-safe. Slabs may outlive it.
class SlabRing : public std::enable_shared_from_this<SlabRing> {
 public:
  SlabRing(std::shared_ptr<Device> device, uint64_t slab_bytes, int64_t slabs)
      : device_(std::move(device)), slab_bytes_(slab_bytes), slabs_(slabs) {}

  // A slab that comes back when its last owner lets go; null if all are out. ResourceExhausted if it cannot be
  // allocated.
  absl::StatusOr<std::shared_ptr<HostSlab>> TryTake();

  // Another slab, beyond the few: for a caller that keeps those. It goes round with them from then on.
  absl::StatusOr<std::shared_ptr<HostSlab>> Grow();

 private:
  std::shared_ptr<HostSlab> Lend(std::unique_ptr<HostSlab> slab);
  void Return(std::unique_ptr<HostSlab> slab);

  const std::shared_ptr<Device> device_;
  const uint64_t slab_bytes_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<HostSlab>> idle_ ABSL_GUARDED_BY(mutex_);
  int64_t slabs_ ABSL_GUARDED_BY(mutex_);  // At most.
  int64_t allocated_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_SLAB_RING_H_
