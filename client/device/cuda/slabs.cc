#include "client/device/cuda/slabs.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/device/cuda/numa.h"
#include "common/status_macros.h"

namespace stoker {

class Slabs::Pinned : public HostSlab {
 public:
  Pinned(std::shared_ptr<Slabs> slabs, uint8_t* memory, uint64_t bytes)
      : slabs_(std::move(slabs)), memory_(memory), bytes_(bytes) {}
  ~Pinned() override { slabs_->Free(memory_, bytes_); }
  std::span<uint8_t> bytes() override { return {memory_, bytes_}; }

 private:
  const std::shared_ptr<Slabs> slabs_;
  uint8_t* const memory_;
  const uint64_t bytes_;
};

Slabs::Slabs(std::shared_ptr<CudaRuntime> runtime, const DeviceOptions& options)
    : runtime_(std::move(runtime)), options_(options), numa_node_(NumaNodeOfPciDevice(runtime_->PciId())) {}

absl::StatusOr<std::unique_ptr<HostSlab>> Slabs::Allocate(uint64_t bytes, bool needed) {
  if (options_.pin == Pin::kOff) return HostDevice()->AllocateSlab(bytes, needed);
  auto slab = AllocatePinned(bytes);
  if (slab.ok() || options_.pin == Pin::kOn) return slab;
  {
    absl::MutexLock lock(&mutex_);
    problem_ = slab.status();
    if (!needed) {
      refused_at_ = pinned_;
      return slab;
    }
    ++pageable_;
  }
  return HostDevice()->AllocateSlab(bytes, needed);
}

absl::StatusOr<std::unique_ptr<HostSlab>> Slabs::AllocatePinned(uint64_t bytes) {
  {
    absl::MutexLock lock(&mutex_);
    if (options_.pinned_bytes > 0 && pinned_bytes_ + bytes > options_.pinned_bytes)
      return absl::ResourceExhaustedError(
          absl::StrCat("pinned_bytes: ", pinned_bytes_, " + ", bytes, " exceed ", options_.pinned_bytes));
    pinned_bytes_ += bytes;
    ++pinned_;
  }
  absl::StatusOr<uint8_t*> memory;
  {
    const PreferredNumaNode near_the_gpu(numa_node_);
    memory = runtime_->AllocatePinned(bytes);
  }
  if (memory.ok()) return std::make_unique<Pinned>(shared_from_this(), *memory, bytes);
  absl::MutexLock lock(&mutex_);
  pinned_bytes_ -= bytes;
  --pinned_;
  return absl::ResourceExhaustedError(
      absl::StrCat("page-locking ", bytes, " bytes failed: ", memory.status().message()));
}

void Slabs::Free(uint8_t* memory, uint64_t bytes) {
  const absl::Status status = runtime_->FreePinned(memory);
  absl::MutexLock lock(&mutex_);
  free_problem_.Update(status);
  pinned_bytes_ -= bytes;
  --pinned_;
}

std::vector<std::string> Slabs::Warnings() const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::string> warnings;
  if (pageable_ > 0)
    warnings.push_back(absl::StrCat(pageable_, " slabs are not page-locked, so copies to the GPU are slow (",
                                    problem_.message(), ")"));
  if (refused_at_ > 0)
    warnings.push_back(absl::StrCat("batches go round in ", refused_at_, " page-locked slabs, fewer than wanted (",
                                    problem_.message(), ")"));
  if (!free_problem_.ok())
    warnings.push_back(absl::StrCat("page-locked memory could not be given back (", free_problem_.message(), ")"));
  return warnings;
}

}  // namespace stoker
