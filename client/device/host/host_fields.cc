#include "client/device/host/host_fields.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "common/check.h"
#include "common/fields/cast.h"
#include "common/fields/half_precision.h"
#include "common/fields/schema.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

using FieldProgram = DevicePipeline::FieldProgram;

template <typename T>
void SetOnes(const HostBatch& batch, int field, const v1::Field& source, int64_t classes, int64_t count, T one,
             void* out) {
  auto* const to = static_cast<T*>(out);
  for (int64_t i = 0; i < count; ++i)
    to[i * classes + WholeNumberAt(batch.fields[field].data(), source.dtype(), i)] = one;
}

// Writes the one-hot rows of `count` whole numbers to `out`, which must be all zero.
void OneHot(const HostBatch& batch, int field, const v1::Field& source, v1::Dtype dtype, int64_t classes, int64_t count,
            void* out) {
  switch (dtype) {
    case v1::DTYPE_FLOAT32: return SetOnes(batch, field, source, classes, count, 1.0f, out);
    case v1::DTYPE_FLOAT16: return SetOnes(batch, field, source, classes, count, ToFloat16(1), out);
    case v1::DTYPE_BFLOAT16: return SetOnes(batch, field, source, classes, count, ToBfloat16(1), out);
    case v1::DTYPE_UINT8: return SetOnes(batch, field, source, classes, count, uint8_t{1}, out);
    case v1::DTYPE_INT64: return SetOnes(batch, field, source, classes, count, int64_t{1}, out);
    default: STOKER_CHECK(false);
  }
}

// Writes mixed one-hot labels: torchvision's rolled · (1 − λ) + label · λ. `out` must be all zero.
void MixLabels(const HostBatch& batch, int field, const v1::Field& source, int64_t classes, double lambda, float* out) {
  const float of_own = static_cast<float>(lambda), of_other = static_cast<float>(1 - lambda);
  const auto label = [&](int64_t row) { return WholeNumberAt(batch.fields[field].data(), source.dtype(), row); };
  for (int64_t row = 0; row < batch.rows(); ++row, out += classes) {
    out[label(row == 0 ? batch.rows() - 1 : row - 1)] = of_other;
    out[label(row)] += of_own;
  }
}

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
  const int64_t count = batch.rows() * static_cast<int64_t>(in_bytes / ByteSize(source.dtype()));
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
  if (batch.rows() == 0) return absl::OkStatus();
  std::memset(out, 0, out_bytes * batch.rows());
  if (program.kind == FieldProgram::Kind::kOneHot) {
    OneHot(batch, field, source, made.dtype(), program.classes, count, out);
  } else {
    STOKER_CHECK(program.kind == FieldProgram::Kind::kMixedLabel);
    const BatchDraw draw = pipeline.DrawBatch(batch.seed, batch.epoch, batch.FirstPosition());
    MixLabels(batch, field, source, program.classes, draw.lambda, static_cast<float*>(out));
  }
  return absl::OkStatus();
}

}  // namespace stoker
