#include "client/device/cuda/batch_work.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/pipeline/schema.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr uint64_t kAlignment = 256;

// Room for `bytes` at the end of `all`; gives where.
uint64_t Reserve(uint64_t bytes, uint64_t& all) {
  const uint64_t at = all;
  all += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return at;
}

absl::StatusOr<Element> ElementOf(v1::Dtype dtype) {
  switch (dtype) {
    case v1::DTYPE_UINT8:
      return Element::kUint8;
    case v1::DTYPE_FLOAT16:
      return Element::kFloat16;
    case v1::DTYPE_BFLOAT16:
      return Element::kBfloat16;
    case v1::DTYPE_FLOAT32:
      return Element::kFloat32;
    default:
      return absl::UnimplementedError(absl::StrCat("ToDtype: no GPU kernel makes images of ", DtypeName(dtype)));
  }
}

absl::Status CheckRuns(const DevicePipeline& pipeline) {
  const DevicePipeline::ImageProgram& image = pipeline.image();
  bool runs = image.only_flips() && !image.erases && image.channels <= kMostChannels;
  for (const DevicePipeline::FieldProgram& program : pipeline.programs())
    runs = runs && (program.kind == DevicePipeline::FieldProgram::Kind::kAsItCame ||
                    program.kind == DevicePipeline::FieldProgram::Kind::kImage);
  if (runs) return absl::OkStatus();
  return absl::UnimplementedError("the GPU runs flips, ToDtype, Normalize and ToMemoryFormat only so far");
}

}  // namespace

absl::StatusOr<BatchWork> BatchWork::Create(const DevicePipeline& pipeline, const HostBatch& batch) {
  STOKER_CHECK(batch.fields.size() == pipeline.fields().size());
  BatchWork work;
  work.schema_ = pipeline.fields();
  work.rows_ = batch.rows();
  work.fields_.resize(batch.fields.size());
  for (size_t i = 0; i < batch.fields.size(); ++i) {
    Field& field = work.fields_[i];
    field.bytes = batch.fields[i].size();
    field.staged_at = Reserve(field.bytes, work.staging_bytes_);
    work.Upload(batch.fields[i], field.staged_at);
  }
  STOKER_RETURN_IF_ERROR(CheckRuns(pipeline));
  if (pipeline.image().field >= 0) {
    STOKER_ASSIGN_OR_RETURN(work.transform_.element, ElementOf(pipeline.image().dtype));
    work.AddImage(pipeline, batch);
  }
  for (size_t i = 0; i < work.fields_.size(); ++i) {
    Field& field = work.fields_[i];
    if (field.as_it_came) {
      field.made_bytes = field.bytes;
    } else {
      STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, ByteSize(work.schema_[i]));
      field.made_bytes = bytes * work.rows_;
    }
    field.made_at = Reserve(field.made_bytes, work.slot_bytes_);
  }
  work.parameters_at_ = Reserve(work.parameters_.size(), work.staging_bytes_);
  return work;
}

// Goes with the copy before it where both sides go on from there.
void BatchWork::Upload(std::span<const uint8_t> bytes, uint64_t to) {
  if (bytes.empty()) return;
  if (!uploads_.empty()) {
    Part& last = uploads_.back();
    if (last.from + last.bytes == bytes.data() && last.to + last.bytes == to) {
      last.bytes += bytes.size();
      return;
    }
  }
  uploads_.push_back({bytes.data(), to, bytes.size()});
}

void BatchWork::AddImage(const DevicePipeline& pipeline, const HostBatch& batch) {
  const DevicePipeline::ImageProgram& program = pipeline.image();
  image_ = program.field;
  fields_[image_].as_it_came = false;
  transform_.samples = rows_;
  transform_.height = static_cast<int32_t>(program.height);
  transform_.width = static_cast<int32_t>(program.width);
  transform_.channels = static_cast<int32_t>(program.channels);
  transform_.channels_first = program.channels_first;
  std::copy(program.scale.begin(), program.scale.end(), transform_.scale);
  std::copy(program.bias.begin(), program.bias.end(), transform_.bias);
  parameters_.resize(rows_);
  for (int64_t row = 0; row < rows_; ++row) {
    const auto flips = pipeline.Draw(batch.seed, batch.epoch, batch.positions[row]).flips;
    parameters_[row] = (flips.horizontal ? kFlipHorizontal : 0) | (flips.vertical ? kFlipVertical : 0);
    flips_ = flips_ || parameters_[row] != 0;
  }
  if (!flips_) parameters_.clear();
}

std::vector<KernelCall> BatchWork::Kernels(uint8_t* staging, uint8_t* slot) const {
  std::vector<KernelCall> calls;
  if (image_ < 0) return calls;
  const Field& field = fields_[image_];
  for (int64_t first = 0; first < rows_; first += kMostSamples) {
    TransformArguments arguments = transform_;
    arguments.samples = std::min(rows_ - first, kMostSamples);
    arguments.in = staging + field.staged_at + field.bytes / rows_ * first;
    arguments.out = slot + field.made_at + field.made_bytes / rows_ * first;
    arguments.flips = flips_ ? staging + parameters_at_ + first : nullptr;
    calls.emplace_back(arguments);
  }
  return calls;
}

std::vector<BatchWork::Part> BatchWork::Copies(const uint8_t* staging) const {
  std::vector<Part> copies;
  for (const Field& field : fields_)
    if (field.as_it_came && field.bytes > 0) copies.push_back({staging + field.staged_at, field.made_at, field.bytes});
  return copies;
}

std::vector<Tensor> BatchWork::Tensors(const uint8_t* slot, DeviceId device) const {
  std::vector<Tensor> tensors(fields_.size());
  for (size_t i = 0; i < fields_.size(); ++i) {
    Tensor& tensor = tensors[i];
    tensor.name = schema_[i].name();
    tensor.dtype = schema_[i].dtype();
    tensor.shape = {rows_};
    tensor.shape.insert(tensor.shape.end(), schema_[i].shape().begin(), schema_[i].shape().end());
    tensor.data = slot + fields_[i].made_at;
    tensor.bytes = fields_[i].made_bytes;
    tensor.device = device;
  }
  return tensors;
}

}  // namespace stoker
