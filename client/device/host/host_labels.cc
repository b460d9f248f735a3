#include "client/device/host/host_labels.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/device/label_values.h"
#include "common/check.h"
#include "common/fields/cast.h"
#include "common/fields/half_precision.h"
#include "common/fields/schema.h"

namespace stoker {
namespace {

using FieldProgram = DevicePipeline::FieldProgram;

// The row that `row` is mixed with.
int64_t OtherRow(int64_t row, int64_t rows) { return (row == 0 ? rows : row) - 1; }

// The whole numbers of a field.
struct WholeNumbers {
  const uint8_t* data = nullptr;
  v1::Dtype dtype = v1::DTYPE_UINT8;
  int64_t rows = 0, in_row = 0, classes = 0;

  int64_t At(int64_t row, int64_t i) const { return WholeNumberAt(data, dtype, row * in_row + i); }
};

// Writes each number's classes as elements that are `to(value)`. Where there is no mixing only own classes are marked.
template <typename T, typename To>
void WriteOneHot(const WholeNumbers& numbers, const FieldProgram& program, std::span<const BatchDraw> draws,
                 const To& to, void* out) {
  auto* made = static_cast<T*>(out);
  for (int64_t row = 0; row < numbers.rows; ++row) {
    const LabelValues values = LabelValuesOf(program, draws[row]);
    for (int64_t i = 0; i < numbers.in_row; ++i, made += numbers.classes) {
      std::fill_n(made, numbers.classes, to(values[0]));
      const int64_t own = numbers.At(row, i);
      made[own] = to(values[1]);
      if (!program.mixed) continue;
      const int64_t other = numbers.At(OtherRow(row, numbers.rows), i);
      made[other] = to(values[other == own ? 3 : 2]);
    }
  }
}

// Sets `floats` to a row's numbers, each as x · scale + bias.
void LoadRow(const FieldProgram& program, Number type, const uint8_t* in, std::vector<float>& floats) {
  const size_t period = program.scale.size();
  for (size_t i = 0; i < floats.size(); ++i) {
    float x = LoadNumber(type, in + static_cast<int64_t>(i) * ByteSize(type));
    if (period > 0) {
      x = x * program.scale[i % period];
      x = x + program.bias[i % period];
    }
    floats[i] = x;
  }
}

}  // namespace

void MakeOneHot(const DevicePipeline& pipeline, const HostBatch& batch, int field, std::span<const BatchDraw> draws,
                void* out) {
  const v1::Field& source = pipeline.source_fields()[field];
  const FieldProgram& program = pipeline.programs()[field];
  const auto values = std::ssize(batch.fields[field]) / ByteSize(source.dtype());
  const WholeNumbers numbers = {batch.fields[field].data(), source.dtype(), batch.rows(), values / batch.rows(),
                                program.classes};
  const auto write = [&]<typename T>(T, const auto& to) { WriteOneHot<T>(numbers, program, draws, to, out); };
  switch (pipeline.fields()[field].dtype()) {
    case v1::DTYPE_FLOAT32: return write(float{}, [](float x) { return x; });
    case v1::DTYPE_FLOAT16: return write(uint16_t{}, ToFloat16);
    case v1::DTYPE_BFLOAT16: return write(uint16_t{}, ToBfloat16);
    case v1::DTYPE_UINT8: return write(uint8_t{}, [](float x) { return static_cast<uint8_t>(x); });
    case v1::DTYPE_INT64: return write(int64_t{}, [](float x) { return static_cast<int64_t>(x); });
    default: STOKER_CHECK(false);
  }
}

void MixNumbers(const DevicePipeline& pipeline, const HostBatch& batch, int field, std::span<const BatchDraw> draws,
                uint8_t* out) {
  const FieldProgram& program = pipeline.programs()[field];
  STOKER_CHECK(program.kind == FieldProgram::Kind::kScale && program.mixed);
  const Number from = NumberOf(pipeline.source_fields()[field].dtype()),
               to = NumberOf(pipeline.fields()[field].dtype());
  const int64_t row_bytes = std::ssize(batch.fields[field]) / batch.rows();
  std::vector<float> own(row_bytes / ByteSize(from)), other(own.size());
  const auto load = [&](int64_t row, std::vector<float>& floats) {
    LoadRow(program, from, batch.fields[field].data() + row * row_bytes, floats);
  };
  load(OtherRow(0, batch.rows()), other);
  for (int64_t row = 0; row < batch.rows(); ++row) {
    load(row, own);
    const MixShares shares = SharesOf(draws[row]);
    for (size_t i = 0; i < own.size(); ++i, out += ByteSize(to)) {
      float x = other[i] * shares.other + own[i] * shares.own;
      x = x * program.scale_after;
      x = x + program.bias_after;
      StoreFloat(to, x, out);
    }
    std::swap(own, other);
  }
}

}  // namespace stoker
