#ifndef STOKER_CLIENT_DEVICE_CUDA_BATCH_WORK_H_
#define STOKER_CLIENT_DEVICE_CUDA_BATCH_WORK_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/device/cuda/kernel_arguments.h"
#include "client/device/device.h"
#include "common/pipeline/device_pipeline.h"

namespace stoker {

// What a GPU does to make one batch, as plain values: what is copied to its staging memory, and which kernels and
// copies make the tensors in a slot out of that. All parts begin at multiples of 256 bytes. Immutable. Refers to the
// pipeline and the batch.
class BatchWork {
 public:
  // `bytes` from `from` to the offset `to`.
  struct Part {
    const uint8_t* from = nullptr;
    uint64_t to = 0, bytes = 0;
  };

  // InvalidArgument names a label that has no class, or what is beyond the kernels' bounds.
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
  using FieldKind = DevicePipeline::FieldProgram::Kind;

  struct Field {
    uint64_t staged_at = 0, bytes = 0;     // as it came
    uint64_t made_at = 0, made_bytes = 0;  // as handed out
    FieldKind kind = FieldKind::kAsItCame;
  };

  // A step that somebody drew. Offsets are of parameters.
  struct Step {
    DeviceStep::Kind kind = DeviceStep::Kind::kGather;
    ImageSize in, out;
    uint64_t draws_at = 0;  // of a blur, the weights across
    uint64_t down_at = 0;   // of a blur
    int32_t taps_across = 0, taps_down = 0;
    std::optional<uint64_t> gray_sums_at;
  };

  explicit BatchWork(const DevicePipeline& pipeline, const HostBatch& batch) : pipeline_(&pipeline), batch_(&batch) {}

  absl::Status CheckBounds() const;
  absl::Status AddFields();
  void Upload(std::span<const uint8_t> bytes, uint64_t to);
  void AddImage();
  void AddStep(const DeviceStep& step, const std::vector<SampleDraw>& draws, size_t index);
  void AddBlur(const std::vector<SampleDraw>& draws, size_t index, Step& step);
  template <typename T>
  uint64_t AddParameters(const std::vector<T>& values);

  // Each appends kernels.
  void AppendSteps(uint8_t* staging, std::vector<KernelCall>& calls) const;
  void AppendStep(const Step& step, const ImagesArguments& images, uint8_t* staging,
                  std::vector<KernelCall>& calls) const;
  void AppendImage(uint8_t* staging, uint8_t* slot, std::vector<KernelCall>& calls) const;
  KernelCall OneHot(size_t field, uint8_t* staging, uint8_t* slot) const;
  KernelCall Unpack(size_t field, uint8_t* staging, uint8_t* slot) const;

  // Where the image is that step number `count` would take.
  uint64_t ImageAt(size_t count) const;

  template <typename T>
  T* Parameters(uint8_t* staging, uint64_t at) const {
    return reinterpret_cast<T*>(staging + parameters_at_ + at);
  }

  const DevicePipeline* pipeline_;
  const HostBatch* batch_;
  std::vector<Field> fields_;
  std::vector<Part> uploads_;
  std::vector<uint8_t> parameters_;
  uint64_t parameters_at_ = 0, staging_bytes_ = 0, slot_bytes_ = 0;

  // Of the image.
  Element element_ = Element::kUint8;
  std::vector<Step> steps_;
  std::array<uint64_t, 2> scratch_at_ = {};  // Steps write to the one and the other in turn.
  uint64_t blurred_at_ = 0;
  std::optional<uint64_t> flips_at_, erases_at_;
  BatchDraw mix_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_BATCH_WORK_H_
