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

// What a GPU does to make one batch, as plain values. It says what is copied from the host to staging memory on the
// GPU, and which kernels and copies make the tensors out of that in a slot:
//
//   staging memory                                                             slot
//   ┌────────┬────────┬───┬───────────┬───────────┬─────────┬────────────┐     ┌────────┬────────┬───┐
//   │field 0 │field 1 │ … │ scratch 0 │ scratch 1 │ between │ parameters │  →  │field 0 │field 1 │ … │
//   └────────┴────────┴───┴───────────┴───────────┴─────────┴────────────┘     └────────┴────────┴───┘
//    fields as they came    steps write in turn here          what was drawn    fields as handed out
//
// What lies between the scratch and the parameters is made by one kernel of a step for the next one.
//
// Samples that differ in size come in pieces, which the uploads put in order. Their offsets travel with the parameters.
// All parts begin at multiples of 256 bytes. Immutable. Refers to the pipeline and the batch, which must outlive it.
class BatchWork {
 public:
  // A copy of `bytes` bytes from the address `from` to the offset `to`.
  struct Part {
    const uint8_t* from = nullptr;
    uint64_t to = 0, bytes = 0;
  };

  // InvalidArgument names a label that has no class, or what is beyond the kernels' bounds.
  static absl::StatusOr<BatchWork> Create(const DevicePipeline& pipeline, const HostBatch& batch);

  // The copies of the batch's fields from the host to staging memory. They are as few as possible.
  const std::vector<Part>& uploads() const { return uploads_; }

  // What the samples drew. It must be copied to staging memory too, to the offset parameters_at().
  std::span<const uint8_t> parameters() const { return parameters_; }
  uint64_t parameters_at() const { return parameters_at_; }

  uint64_t staging_bytes() const { return staging_bytes_; }
  uint64_t slot_bytes() const { return slot_bytes_; }

  // The kernels to run, in order, after all copies to `staging`.
  std::vector<KernelCall> Kernels(uint8_t* staging, uint8_t* slot) const;

  // The copies from staging memory to the slot: fields that are handed out as they came.
  std::vector<Part> Copies(const uint8_t* staging) const;

  // The tensors that are handed out, which lie in `slot`. Their `memory` is null.
  std::vector<Tensor> Tensors(const uint8_t* slot, DeviceId device) const;

 private:
  using FieldKind = DevicePipeline::FieldProgram::Kind;

  struct Field {
    uint64_t staged_at = 0, bytes = 0;     // place in staging memory, as it came
    uint64_t made_at = 0, made_bytes = 0;  // place in the slot, as handed out
    uint64_t scale_at = 0, bias_at = 0;    // kScale: offsets in the parameters
    uint64_t shares_at = 0;                // kScale that is mixed, and kOneHot where each row draws: the same
    FieldKind kind = FieldKind::kAsItCame;

    // A field whose samples differ in size has its samples here, and where their offsets begin: in the parameters, and
    // in the slot.
    const HostBatch::Rows* rows = nullptr;
    uint64_t offsets_at = 0, offsets_made_at = 0;
    bool padded = false;  // The samples are handed out with as many rows each, and so without offsets.

    // Whether samples that differ in size are handed out so.
    bool ragged() const { return rows != nullptr && kind != FieldKind::kDense && !padded; }
  };

  // A step for which at least one sample drew something. Offsets count from the beginning of the parameters.
  struct Step {
    DeviceStep::Kind kind = DeviceStep::Kind::kGather;
    ImageSize in, out;
    uint64_t draws_at = 0;                   // one draw a sample; kBlur: the weights across; kResample: ResampledBox
    uint64_t down_at = 0;                    // kBlur: the weights down
    int32_t taps_across = 0, taps_down = 0;  // kBlur: weights of one sample; kResample: the most of any sample
    std::optional<uint64_t> gray_sums_at;    // kColors: one sum a sample, if a mean is needed
    bool tables = false;                     // kColors: whether tables are needed
    Resampling resampling = Resampling::kTriangle;
  };

  // The images of one field of kImage: what their program does to those of this batch. Offsets are those of parameters.
  struct Images {
    int field = 0;
    const DevicePipeline::ImageProgram* program = nullptr;
    Element element = Element::kUint8;
    int64_t samples = 0;  // images: rows of the batch, times views
    std::vector<Step> steps;
    std::optional<uint64_t> flips_at, erases_at;  // unset if no image drew any
    std::optional<uint64_t> quantiles_at;         // unset if nothing is erased with noise
    std::optional<uint64_t> mixes_at;             // each row's MixDraw, where these differ
  };

  // One of ImageProgram::map_moves. Offsets count from the beginning of the parameters.
  struct MapMove {
    ImageSize in, out;
    uint64_t draws_at = 0, binary_draws_at = 0;  // one GatherDraw a sample, for label maps and for binary maps
  };

  explicit BatchWork(const DevicePipeline& pipeline, const HostBatch& batch) : pipeline_(&pipeline), batch_(&batch) {}

  absl::Status CheckBounds() const;
  absl::Status AddFields();
  absl::Status AddField(size_t i);
  void AddRows(const HostBatch::Rows& rows);
  void AddScale(size_t i);
  void AddShares(size_t i);
  void Upload(std::span<const uint8_t> bytes, uint64_t to);
  absl::Status AddImages(int field);
  void AddStep(const DeviceStep& step, const std::vector<SampleDraw>& draws, size_t index, std::vector<Step>& steps);
  void ReserveScratch();
  void AddBlur(const std::vector<SampleDraw>& draws, size_t index, Step& step);
  void AddMapMoves(const std::vector<SampleDraw>& draws);
  void AddColors(const std::vector<ColorsDraw>& draws, Step& step);
  void AddResample(const std::vector<SampleDraw>& draws, size_t index, Step& step);
  template <typename T>
  uint64_t AddParameters(const std::vector<T>& values);

  // These append kernels to `calls`.
  void AppendSteps(const Images& images, uint8_t* staging, std::vector<KernelCall>& calls) const;
  void AppendStep(const Step& step, const ImagesArguments& images, uint8_t* staging,
                  std::vector<KernelCall>& calls) const;
  void AppendResample(const Step& step, const ImagesArguments& images, uint8_t* staging,
                      std::vector<KernelCall>& calls) const;
  void AppendTransform(const Images& images, uint8_t* staging, uint8_t* slot, std::vector<KernelCall>& calls) const;
  void AppendMap(size_t field, uint8_t* staging, uint8_t* slot, std::vector<KernelCall>& calls) const;
  KernelCall OneHot(size_t field, uint8_t* staging, uint8_t* slot) const;
  KernelCall Unpack(size_t field, uint8_t* staging, uint8_t* slot) const;
  KernelCall Widen(size_t field, uint8_t* staging, uint8_t* slot) const;
  ScaleArguments Scale(size_t field, uint8_t* staging, uint8_t* slot) const;
  KernelCall MixNumbers(size_t field, uint8_t* staging, uint8_t* slot) const;
  KernelCall Pad(size_t field, uint8_t* staging, uint8_t* slot) const;
  KernelCall Dense(size_t field, uint8_t* staging, uint8_t* slot) const;
  Tensor TensorOf(size_t field, const uint8_t* slot, DeviceId device) const;
  Tensor OffsetsOf(size_t field, const uint8_t* slot, DeviceId device) const;

  // Bytes that a step needs between its kernels.
  static uint64_t BetweenBytes(const Images& images, const Step& step);

  // The offset in staging memory of the images after `count` steps.
  uint64_t ImageAt(const Images& images, size_t count) const;

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

  std::vector<Images> images_;
  std::array<uint64_t, 2> scratch_at_ = {};  // offsets in staging memory; steps write there in turn
  uint64_t between_at_ = 0;                  // offset in staging memory
  std::vector<BatchDraw> mixes_;             // one a row; empty where the batch has none
  std::vector<MapMove> map_moves_;
  std::array<uint64_t, 2> map_scratch_at_ = {};  // offsets in staging memory; moves of maps write there in turn
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_BATCH_WORK_H_
