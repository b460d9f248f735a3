#include "client/loader/device_stage.h"

#include <utility>

#include "common/status_macros.h"
#include "common/time/steady_time.h"

namespace stoker {

std::vector<Tensor> DeviceStage::ServerTensors(const LandedBatch& batch) const {
  const std::shared_ptr<TensorMemory> memory = MemoryOf(batch.slab);
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < layout_.fields(); ++i) {
    const v1::Field& field = pipeline_.source_fields()[i];
    const auto bytes = layout_.Field(batch.slab->bytes(), batch.spec.rows, i);
    Tensor tensor{.name = field.name(),
                  .dtype = field.dtype(),
                  .shape = {static_cast<int64_t>(batch.spec.rows)},
                  .data = bytes.data(),
                  .bytes = bytes.size(),
                  .memory = memory};
    tensor.shape.insert(tensor.shape.end(), field.shape().begin(), field.shape().end());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

absl::StatusOr<std::vector<Tensor>> DeviceStage::Submit(const LandedBatch& batch) {
  HostBatch host{
      .seed = seed_, .epoch = batch.spec.cursor.epoch, .positions = batch.drawn_positions, .slab = batch.slab};
  if (!batch.spec.runs.empty()) host.first_position = batch.spec.runs.front().start;
  for (size_t i = 0; i < layout_.fields(); ++i)
    host.fields.push_back(layout_.Field(batch.slab->bytes(), batch.spec.rows, i));
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
