#ifndef STOKER_CLIENT_LOADER_SLAB_RING_H_
#define STOKER_CLIENT_LOADER_SLAB_RING_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/device/device.h"

namespace stoker {

// The few slabs that a loader's batches go round in. Each is allocated when it is first needed; there are fewer of them
// where the device has memory for three but not for all. A slab that was taken comes back when its last owner lets go.
//
// Thread-safe. Slabs may outlive the ring's owner: each one that is out keeps the ring.
class SlabRing : public std::enable_shared_from_this<SlabRing> {
 public:
  // `slabs` slabs at most, unless TakeOrGrow adds to them.
  SlabRing(std::shared_ptr<Device> device, uint64_t slab_bytes, int64_t slabs)
      : device_(std::move(device)), slab_bytes_(slab_bytes), slabs_(slabs) {}

  // Slabs have at least `slab_bytes` from now on, and a quarter more where they had less: those that are idle are
  // allocated anew when they are needed.
  void Enlarge(uint64_t slab_bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  // The bytes of a slab that is allocated now.
  uint64_t slab_bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

  // A slab, or null if all are out. ResourceExhausted if it cannot be allocated.
  absl::StatusOr<std::shared_ptr<HostSlab>> TryTake() ABSL_LOCKS_EXCLUDED(mutex_);

  // A slab, whatever is out. Waits for the device to be done with one; if the device keeps none, since the caller does,
  // the ring gets one more for good. ResourceExhausted if that cannot be allocated.
  absl::StatusOr<std::shared_ptr<HostSlab>> TakeOrGrow() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::StatusOr<std::shared_ptr<HostSlab>> Grow() ABSL_LOCKS_EXCLUDED(mutex_);
  std::shared_ptr<HostSlab> Lend(std::unique_ptr<HostSlab> slab);

  // Lets go of idle slabs that are too small.
  void DropSmall() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Return(std::unique_ptr<HostSlab> slab) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::shared_ptr<Device> device_;
  mutable absl::Mutex mutex_;
  uint64_t slab_bytes_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<HostSlab>> idle_ ABSL_GUARDED_BY(mutex_);
  int64_t slabs_ ABSL_GUARDED_BY(mutex_);  // May be allocated.
  int64_t allocated_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_SLAB_RING_H_
