#include "client/loader/slab_ring.h"

#include <algorithm>
#include <utility>

#include "common/status_macros.h"

namespace stoker {
namespace {

// A loader cannot go on with fewer: one is filled, one is copied from, and one is with the caller.
constexpr int64_t kFewestSlabs = 3;

}  // namespace

void SlabRing::Enlarge(uint64_t slab_bytes) {
  absl::MutexLock lock(&mutex_);
  if (slab_bytes > slab_bytes_) slab_bytes_ = slab_bytes + slab_bytes / 4;
}

uint64_t SlabRing::slab_bytes() const {
  absl::MutexLock lock(&mutex_);
  return slab_bytes_;
}

void SlabRing::DropSmall() {
  const auto is_small = [this](const std::unique_ptr<HostSlab>& slab) {
    mutex_.AssertHeld();
    return slab->bytes().size() < slab_bytes_;
  };
  allocated_ -= static_cast<int64_t>(std::erase_if(idle_, is_small));
}

absl::StatusOr<std::shared_ptr<HostSlab>> SlabRing::TryTake() {
  absl::MutexLock lock(&mutex_);
  DropSmall();
  if (idle_.empty() && allocated_ < slabs_) {
    const bool needed = allocated_ < kFewestSlabs;
    auto slab = device_->AllocateSlab(slab_bytes_, needed);
    if (!slab.ok() && needed) return slab.status();
    if (!slab.ok()) {
      slabs_ = allocated_;
      return nullptr;
    }
    ++allocated_;
    return Lend(*std::move(slab));
  }
  if (idle_.empty()) return nullptr;
  auto slab = std::move(idle_.back());
  idle_.pop_back();
  return Lend(std::move(slab));
}

absl::StatusOr<std::shared_ptr<HostSlab>> SlabRing::TakeOrGrow() {
  while (device_->Reclaim()) {
    STOKER_ASSIGN_OR_RETURN(auto slab, TryTake());
    if (slab != nullptr) return slab;
  }
  return Grow();
}

absl::StatusOr<std::shared_ptr<HostSlab>> SlabRing::Grow() {
  absl::MutexLock lock(&mutex_);
  STOKER_ASSIGN_OR_RETURN(auto slab, device_->AllocateSlab(slab_bytes_, /*needed=*/true));
  slabs_ = std::max(slabs_, ++allocated_);
  return Lend(std::move(slab));
}

std::shared_ptr<HostSlab> SlabRing::Lend(std::unique_ptr<HostSlab> slab) {
  return {slab.release(),
          [ring = shared_from_this()](HostSlab* returned) { ring->Return(std::unique_ptr<HostSlab>(returned)); }};
}

void SlabRing::Return(std::unique_ptr<HostSlab> slab) {
  absl::MutexLock lock(&mutex_);
  idle_.push_back(std::move(slab));
}

}  // namespace stoker
