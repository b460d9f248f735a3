#ifndef STOKER_CLIENT_DEVICE_CUDA_PARAMETER_BUFFERS_H_
#define STOKER_CLIENT_DEVICE_CUDA_PARAMETER_BUFFERS_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/device/cuda/runtime.h"

namespace stoker {

// A little host memory, from which a batch's draws are copied to the GPU. It is page-locked, or pageable if `pinned` is
// null.
class ParameterBuffer {
 public:
  ParameterBuffer(std::shared_ptr<CudaRuntime> runtime, uint8_t* pinned, uint64_t bytes)
      : runtime_(std::move(runtime)), pinned_(pinned), bytes_(bytes) {
    if (pinned == nullptr) pageable_.resize(bytes);
  }
  ~ParameterBuffer() {
    if (pinned_ != nullptr) runtime_->FreePinned(pinned_).IgnoreError();
  }
  ParameterBuffer(const ParameterBuffer&) = delete;
  ParameterBuffer& operator=(const ParameterBuffer&) = delete;

  uint8_t* memory() { return pinned_ != nullptr ? pinned_ : pageable_.data(); }
  uint64_t bytes() const { return bytes_; }

 private:
  const std::shared_ptr<CudaRuntime> runtime_;
  uint8_t* const pinned_;
  const uint64_t bytes_;
  std::vector<uint8_t> pageable_;
};

// Lends parameter buffers, which are made once and reused. Thread-safe.
class ParameterBuffers {
 public:
  explicit ParameterBuffers(std::shared_ptr<CudaRuntime> runtime) : runtime_(std::move(runtime)) {}

  // Lends a buffer of at least `bytes`. If no memory can be page-locked it is pageable; other errors are CUDA's.
  absl::StatusOr<std::unique_ptr<ParameterBuffer>> Take(uint64_t bytes);

  void Return(std::unique_ptr<ParameterBuffer> buffer);

 private:
  const std::shared_ptr<CudaRuntime> runtime_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<ParameterBuffer>> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_PARAMETER_BUFFERS_H_
