#ifndef STOKER_CLIENT_DEVICE_CUDA_EVENTS_H_
#define STOKER_CLIENT_DEVICE_CUDA_EVENTS_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/device/cuda/runtime.h"

namespace stoker {

// Lends events, which are made once and reused. Thread-safe. It must outlive what it lends.
class Events {
 public:
  explicit Events(std::shared_ptr<CudaRuntime> runtime) : runtime_(std::move(runtime)) {}

  ~Events() {
    for (CudaRuntime::Event event : idle_) runtime_->DestroyEvent(event).IgnoreError();
  }

  absl::StatusOr<CudaRuntime::Event> Take() {
    {
      absl::MutexLock lock(&mutex_);
      if (!idle_.empty()) {
        const CudaRuntime::Event event = idle_.back();
        idle_.pop_back();
        return event;
      }
    }
    return runtime_->CreateEvent();
  }

  // Takes an event back. Work that was queued to wait for it still waits for what it was recorded after then, even if
  // the event is recorded anew.
  void Return(CudaRuntime::Event event) {
    absl::MutexLock lock(&mutex_);
    idle_.push_back(event);
  }

 private:
  const std::shared_ptr<CudaRuntime> runtime_;
  absl::Mutex mutex_;
  std::vector<CudaRuntime::Event> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_EVENTS_H_
