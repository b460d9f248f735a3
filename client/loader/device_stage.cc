#include "client/loader/device_stage.h"

#include <utility>

#include "common/status_macros.h"
#include "common/time/steady_time.h"

namespace stoker {

absl::StatusOr<std::vector<Tensor>> DeviceStage::Submit(const LandedBatch& batch) {
  HostBatch host{
      .seed = seed_, .epoch = batch.spec.cursor.epoch, .positions = batch.drawn_positions, .slab = batch.slab};
  if (!batch.spec.runs.empty()) host.first_position = batch.spec.runs.front().start;
  const LandedFields landed(fields_, layout_, batch);
  host.fields = landed.fixed();
  host.variable = landed.variable();
  const absl::Time begun = SteadyNow();
  STOKER_ASSIGN_OR_RETURN(auto tensors, device_->Submit(pipeline_, host));
  absl::MutexLock lock(&mutex_);
  transformed_ += SteadyNow() - begun;
  return tensors;
}

absl::Duration DeviceStage::transformed() const {
  absl::MutexLock lock(&mutex_);
  return transformed_;
}

}  // namespace stoker
