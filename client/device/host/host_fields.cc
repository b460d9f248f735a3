#include "client/device/host/host_fields.h"

#include <algorithm>
#include <span>

#include "absl/strings/string_view.h"
#include "client/device/host/host_labels.h"
#include "client/device/host/host_maps.h"
#include "common/check.h"
#include "common/fields/cast.h"
#include "common/fields/schema.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

using FieldProgram = DevicePipeline::FieldProgram;

// Writes the whole numbers of a field as int64.
void Widen(std::span<const uint8_t> numbers, v1::Dtype dtype, int64_t count, int64_t* out) {
  if (dtype == v1::DTYPE_UINT8) {
    std::copy_n(numbers.data(), count, out);
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = WholeNumberAt(numbers.data(), dtype, i);
  }
}

// Writes `bits` values of 0 or 1 from one sample's bytes.
void UnpackBits(const uint8_t* in, int64_t bits, bool least_significant_first, uint8_t* out) {
  for (int64_t i = 0; i < bits; ++i) out[i] = in[i / 8] >> (least_significant_first ? i % 8 : 7 - i % 8) & 1;
}

}  // namespace

absl::Status MakeField(const DevicePipeline& pipeline, const HostBatch& batch, int field, void* out) {
  const FieldProgram& program = pipeline.programs()[field];
  const v1::Field &source = pipeline.source_fields()[field], &made = pipeline.fields()[field];
  STOKER_ASSIGN_OR_RETURN(const uint64_t in_bytes, ByteSize(source));
  STOKER_ASSIGN_OR_RETURN(const uint64_t out_bytes, ByteSize(made));
  STOKER_CHECK(batch.fields[field].size() == in_bytes * batch.rows());
  if (program.kind == FieldProgram::Kind::kUnpackBits) {
    for (int64_t row = 0; row < batch.rows(); ++row)
      UnpackBits(batch.fields[field].data() + row * in_bytes, static_cast<int64_t>(out_bytes),
                 program.least_significant_first, static_cast<uint8_t*>(out) + row * out_bytes);
    return absl::OkStatus();
  }
  if (program.kind == FieldProgram::Kind::kMovedMap) {
    MoveMaps(pipeline, batch, field, out);
    return absl::OkStatus();
  }
  const int64_t count = batch.rows() * static_cast<int64_t>(in_bytes / ByteSize(source.dtype()));
  const auto draws = [&] { return pipeline.DrawRows(batch.seed, batch.epoch, batch.FirstPosition(), batch.positions); };
  if (program.kind == FieldProgram::Kind::kScale && program.mixed) {
    if (batch.rows() > 0) MixNumbers(pipeline, batch, field, draws(), static_cast<uint8_t*>(out));
    return absl::OkStatus();
  }
  if (program.kind == FieldProgram::Kind::kScale) {
    CastNumbers(batch.fields[field], source.dtype(), {program.scale, program.bias}, made.dtype(),
                static_cast<uint8_t*>(out));
    return absl::OkStatus();
  }
  if (program.kind == FieldProgram::Kind::kWiden) {
    Widen(batch.fields[field], source.dtype(), count, static_cast<int64_t*>(out));
    return absl::OkStatus();
  }
  STOKER_RETURN_IF_ERROR(pipeline.CheckClasses(field, batch.fields[field].data(), count));
  STOKER_CHECK(program.kind == FieldProgram::Kind::kOneHot);
  if (batch.rows() > 0) MakeOneHot(pipeline, batch, field, draws(), out);
  return absl::OkStatus();
}

}  // namespace stoker
