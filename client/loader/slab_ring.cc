#include "client/loader/slab_ring.h"

#include <utility>

#include "common/status_macros.h"

namespace stoker {

absl::StatusOr<std::shared_ptr<HostSlab>> SlabRing::TryTake() {
  std::unique_ptr<HostSlab> slab;
  {
    absl::MutexLock lock(&mutex_);
    if (!idle_.empty()) {
      slab = std::move(idle_.back());
      idle_.pop_back();
    } else if (allocated_ == slabs_) {
      return nullptr;
    } else {
      STOKER_ASSIGN_OR_RETURN(slab, device_->AllocateSlab(slab_bytes_));
      ++allocated_;
    }
  }
  return std::shared_ptr<HostSlab>(slab.release(), [ring = shared_from_this()](HostSlab* returned) {
    ring->Return(std::unique_ptr<HostSlab>(returned));
  });
}

void SlabRing::Return(std::unique_ptr<HostSlab> slab) {
  absl::MutexLock lock(&mutex_);
  idle_.push_back(std::move(slab));
}

}  // namespace stoker
