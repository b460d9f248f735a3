#include "client/loader/landed_fields.h"

#include <utility>

#include "client/device/host/host_rows.h"
#include "common/fields/schema.h"
#include "common/fields/span_layout.h"

namespace stoker {
namespace {

// Returns where each sample's rows begin, and where the last one's end.
std::vector<int64_t> OffsetsOf(std::span<const uint8_t> sizes, uint64_t row_bytes, uint64_t samples) {
  std::vector<int64_t> offsets = {0};
  offsets.reserve(samples + 1);
  for (uint64_t i = 0; i < samples; ++i)
    offsets.push_back(offsets.back() + static_cast<int64_t>(SizeAt(sizes, i) / row_bytes));
  return offsets;
}

}  // namespace

LandedFields::LandedFields(std::shared_ptr<const std::vector<v1::Field>> fields, const SlabLayout& layout,
                           const LandedBatch& batch)
    : fields_(std::move(fields)), slab_(batch.slab), rows_(static_cast<int64_t>(batch.spec.rows)) {
  fixed_.resize(fields_->size());
  for (size_t i = 0; i < fields_->size(); ++i) {
    const v1::Field& field = (*fields_)[i];
    const std::span<const uint8_t> bytes = layout.Field(slab_->bytes(), batch.spec.rows, i);
    if (!IsVariable(field.kind())) {
      fixed_[i] = bytes;
      continue;
    }
    HostBatch::Rows& rows = variable_.emplace_back();
    rows.field = i;
    rows.offsets = OffsetsOf(bytes, RowBytes(field), batch.spec.rows);
    for (const LandedBatch::Values& values : batch.values[variable_.size() - 1]) rows.parts.push_back(values.bytes);
  }
}

const std::vector<Tensor>& LandedFields::Tensors() const {
  absl::call_once(once_, [this] { tensors_ = MakeTensors(); });
  return tensors_;
}

std::vector<Tensor> LandedFields::MakeTensors() const {
  const std::shared_ptr<TensorMemory> memory = MemoryOf(slab_);
  std::vector<Tensor> tensors, offsets;
  for (size_t i = 0; i < fields_->size(); ++i) {
    const v1::Field& field = (*fields_)[i];
    if (IsVariable(field.kind())) {
      const HostBatch::Rows& rows = variable_[offsets.size()];
      tensors.push_back(RowsTensor(field, rows));
      offsets.push_back(OffsetsTensor(field, rows));
      continue;
    }
    Tensor tensor{.name = field.name(),
                  .dtype = field.dtype(),
                  .shape = {rows_},
                  .data = fixed_[i].data(),
                  .bytes = fixed_[i].size(),
                  .memory = memory};
    tensor.shape.insert(tensor.shape.end(), field.shape().begin(), field.shape().end());
    tensors.push_back(std::move(tensor));
  }
  tensors.insert(tensors.end(), offsets.begin(), offsets.end());
  return tensors;
}

}  // namespace stoker
