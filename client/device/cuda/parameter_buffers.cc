#include "client/device/cuda/parameter_buffers.h"

namespace stoker {
namespace {

// Buffers' sizes are multiples of this, so that a batch that needs a little more still finds one.
constexpr uint64_t kStep = uint64_t{64} << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<ParameterBuffer>> ParameterBuffers::Take(uint64_t bytes) {
  {
    absl::MutexLock lock(&mutex_);
    while (!idle_.empty()) {
      std::unique_ptr<ParameterBuffer> buffer = std::move(idle_.back());
      idle_.pop_back();
      if (buffer->bytes() >= bytes) return buffer;
    }
  }
  const uint64_t rounded = (bytes + kStep - 1) / kStep * kStep;
  auto pinned = runtime_->AllocatePinned(rounded);
  if (!pinned.ok() && !absl::IsResourceExhausted(pinned.status())) return pinned.status();
  return std::make_unique<ParameterBuffer>(runtime_, pinned.ok() ? *pinned : nullptr, rounded);
}

void ParameterBuffers::Return(std::unique_ptr<ParameterBuffer> buffer) {
  absl::MutexLock lock(&mutex_);
  idle_.push_back(std::move(buffer));
}

}  // namespace stoker
