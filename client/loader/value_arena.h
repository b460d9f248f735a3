#ifndef STOKER_CLIENT_LOADER_VALUE_ARENA_H_
#define STOKER_CLIENT_LOADER_VALUE_ARENA_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/device/device.h"

namespace stoker {

// Gives a batch room for samples that differ in size, in the order in which they arrive: the end of the batch's slab,
// and further memory of the same kind where that is used up. It keeps the slab. Thread-safe.
class ValueArena {
 public:
  // The first `begin` bytes of the slab are not given away.
  ValueArena(std::shared_ptr<Device> device, std::shared_ptr<HostSlab> slab, uint64_t begin)
      : device_(std::move(device)), slab_(std::move(slab)), room_(slab_->bytes().subspan(begin)) {}

  // Returns room for `bytes` that nobody else has, for as long as the arena lives. ResourceExhausted if there is no
  // memory.
  absl::StatusOr<std::span<uint8_t>> Take(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  // Bytes that were given away so far.
  uint64_t taken() const ABSL_LOCKS_EXCLUDED(mutex_);

  HostSlab* slab() const { return slab_.get(); }

 private:
  const std::shared_ptr<Device> device_;
  const std::shared_ptr<HostSlab> slab_;

  mutable absl::Mutex mutex_;
  std::span<uint8_t> room_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<HostSlab>> more_ ABSL_GUARDED_BY(mutex_);
  uint64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_VALUE_ARENA_H_
