#ifndef STOKER_CLIENT_DEVICE_CUDA_BATCH_WORK_H_
#define STOKER_CLIENT_DEVICE_CUDA_BATCH_WORK_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "client/device/cuda/runtime.h"
#include "client/device/device.h"
#include "common/pipeline/device_pipeline.h"

namespace stoker {

// What a GPU does to make one batch, as plain values: what is copied to its staging memory, and which kernels and copies
// make the tensors in a slot out of that. All parts begin at multiples of 256 bytes. Immutable. Refers to the batch.
class BatchWork {
 public:
  // `bytes` from `from` to the offset `to`.
  struct Part {
    const uint8_t* from = nullptr;
    uint64_t to = 0, bytes = 0;
  };

  // Unimplemented names an op that this device lacks.
  static absl::StatusOr<BatchWork> Create(const DevicePipeline& pipeline, const HostBatch& batch);

  // Host memory to staging memory, as few copies as possible.
  const std::vector<Part>& uploads() const { return uploads_; }

  // What the samples drew, to staging memory too.
  std::span<const uint8_t> parameters() const { return parameters_; }
  uint64_t parameters_at() const { return parameters_at_; }

  uint64_t staging_bytes() const { return staging_bytes_; }
  uint64_t slot_bytes() const { return slot_bytes_; }

  // The kernels in order, and then staging memory to slot: the fields handed out as they came.
  std::vector<KernelCall> Kernels(uint8_t* staging, uint8_t* slot) const;
  std::vector<Part> Copies(const uint8_t* staging) const;

  // The fields as handed out, in a slot.
  std::vector<Tensor> Tensors(const uint8_t* slot, DeviceId device) const;

 private:
  struct Field {
    uint64_t staged_at = 0, bytes = 0;     // as it came
    uint64_t made_at = 0, made_bytes = 0;  // as handed out
    bool as_it_came = true;
  };

  void Upload(std::span<const uint8_t> bytes, uint64_t to);
  void AddImage(const DevicePipeline& pipeline, const HostBatch& batch);

  std::vector<v1::Field> schema_;
  int64_t rows_ = 0;
  std::vector<Field> fields_;
  std::vector<Part> uploads_;
  std::vector<uint8_t> parameters_;
  uint64_t parameters_at_ = 0, staging_bytes_ = 0, slot_bytes_ = 0;
  bool flips_ = false;
  int image_ = -1;
  TransformArguments transform_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_BATCH_WORK_H_
