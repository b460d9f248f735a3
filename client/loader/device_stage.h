#ifndef STOKER_CLIENT_LOADER_DEVICE_STAGE_H_
#define STOKER_CLIENT_LOADER_DEVICE_STAGE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/device/device.h"
#include "client/loader/assembly.h"
#include "client/loader/landed_fields.h"
#include "client/loader/slab_layout.h"
#include "common/pipeline/device_pipeline.h"

namespace stoker {

// Makes tensors of batches that landed: as the servers made them, and as the pipeline's device ops make them of that.
// Thread-safe.
class DeviceStage {
 public:
  // `layout` is that of the fields that `pipeline` takes.
  DeviceStage(std::shared_ptr<Device> device, DevicePipeline pipeline, SlabLayout layout, uint64_t seed)
      : device_(std::move(device)),
        pipeline_(std::move(pipeline)),
        fields_(std::make_shared<const std::vector<v1::Field>>(pipeline_.source_fields())),
        layout_(std::move(layout)),
        seed_(seed) {}

  // The fields as they came.
  std::shared_ptr<const LandedFields> Landed(const LandedBatch& batch) const {
    return std::make_shared<const LandedFields>(fields_, layout_, batch);
  }

  // The fields as they are handed out. An asynchronous device only queues the work, and keeps the slab until it is
  // done. The errors are Device::Submit's.
  absl::StatusOr<std::vector<Tensor>> Submit(const LandedBatch& batch) ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether it pays to submit a batch before it is asked for.
  bool asynchronous() const { return device_->asynchronous(); }

  // Time spent in Submit so far.
  absl::Duration transformed() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const std::shared_ptr<Device> device_;
  const DevicePipeline pipeline_;
  const std::shared_ptr<const std::vector<v1::Field>> fields_;  // as they come
  const SlabLayout layout_;
  const uint64_t seed_;

  mutable absl::Mutex mutex_;
  absl::Duration transformed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_DEVICE_STAGE_H_
