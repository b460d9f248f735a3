#include "client/device/host/host_rows.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/fields/schema.h"

namespace stoker {
namespace {

// Memory of one tensor alone.
class OwnMemory : public TensorMemory {
 public:
  explicit OwnMemory(uint64_t bytes) : words_(std::make_unique_for_overwrite<Word[]>(bytes / sizeof(Word) + 1)) {}
  absl::Status UseOn(Stream) override { return absl::OkStatus(); }
  absl::Status Wait() override { return absl::OkStatus(); }
  uint8_t* data() { return words_[0].bytes; }

 private:
  struct alignas(64) Word {
    uint8_t bytes[64];
  };
  const std::unique_ptr<Word[]> words_;
};

// Returns a tensor of `rows` rows of `field` whose values are still to be written, to `out`.
Tensor NewTensor(const v1::Field& field, int64_t rows, uint8_t*& out) {
  Tensor tensor{.name = field.name(), .dtype = field.dtype(), .shape = {rows}};
  tensor.shape.insert(tensor.shape.end(), field.shape().begin(), field.shape().end());
  tensor.bytes = rows * RowBytes(field);
  const auto memory = std::make_shared<OwnMemory>(tensor.bytes);
  tensor.data = out = memory->data();
  tensor.memory = memory;
  return tensor;
}

// Writes `bytes` bytes of elements with the bits `fill`, each of `element_bytes`.
void FillElements(uint64_t fill, int64_t element_bytes, uint8_t* out, int64_t bytes) {
  if (bytes == 0) return;
  std::memcpy(out, &fill, element_bytes);
  for (int64_t done = element_bytes; done < bytes; done *= 2)
    std::memcpy(out + done, out, std::min(done, bytes - done));
}

}  // namespace

Tensor RowsTensor(const v1::Field& field, const HostBatch::Rows& rows) {
  uint8_t* out = nullptr;
  Tensor tensor = NewTensor(field, rows.offsets.back(), out);
  for (const std::span<const uint8_t> part : rows.parts) out = std::copy(part.begin(), part.end(), out);
  return tensor;
}

Tensor ScaledRowsTensor(const v1::Field& source, const v1::Field& made, const Scaling& scaling,
                        const HostBatch::Rows& rows) {
  uint8_t* out = nullptr;
  Tensor tensor = NewTensor(made, rows.offsets.back(), out);
  for (const std::span<const uint8_t> part : rows.parts) {  // Each begins with a row, and so with the first scale.
    CastNumbers(part, source.dtype(), scaling, made.dtype(), out);
    out += part.size() / ByteSize(source.dtype()) * ByteSize(made.dtype());
  }
  return tensor;
}

Tensor DenseTensor(const v1::Field& places, const v1::Field& made, const Tensor& values, const HostBatch::Rows& rows) {
  constexpr float kOne = 1;
  const auto samples = static_cast<int64_t>(rows.offsets.size()) - 1;
  uint8_t* out = nullptr;
  Tensor tensor = NewTensor(made, samples, out);
  std::fill_n(out, tensor.bytes, uint8_t{0});
  const Tensor in_order = RowsTensor(places, rows);
  const int64_t bytes = ByteSize(made.dtype()), sample_bytes = static_cast<int64_t>(RowBytes(made));
  for (int64_t sample = 0; sample < samples; ++sample, out += sample_bytes) {
    for (int64_t i = rows.offsets[sample]; i < rows.offsets[sample + 1]; ++i) {
      const void* value = &kOne;
      if (values.data != nullptr) value = static_cast<const uint8_t*>(values.data) + i * bytes;
      std::memcpy(out + WholeNumberAt(in_order.data, places.dtype(), i) * bytes, value, bytes);
    }
  }
  return tensor;
}

void PadRows(const v1::Field& source, const v1::Field& made, const DevicePipeline::FieldProgram& program,
             const HostBatch::Rows& rows, uint8_t* out) {
  const auto samples = static_cast<int64_t>(rows.offsets.size()) - 1;
  const int64_t element_bytes = ByteSize(made.dtype()), in_bytes = static_cast<int64_t>(RowBytes(source));
  const int64_t out_bytes = in_bytes / ByteSize(source.dtype()) * element_bytes;  // of a row
  int64_t sample = 0;
  for (const std::span<const uint8_t> part : rows.parts) {  // Each has whole samples.
    const int64_t first = rows.offsets[sample], end = first + std::ssize(part) / in_bytes;
    for (; sample < samples && rows.offsets[sample + 1] <= end; ++sample, out += program.padded_rows * out_bytes) {
      const int64_t has = rows.offsets[sample + 1] - rows.offsets[sample], kept = std::min(has, program.padded_rows);
      const auto bytes = part.subspan((rows.offsets[sample] - first) * in_bytes, kept * in_bytes);
      if (program.kind == DevicePipeline::FieldProgram::Kind::kScale) {
        CastNumbers(bytes, source.dtype(), {program.scale, program.bias}, made.dtype(), out);
      } else {
        std::copy(bytes.begin(), bytes.end(), out);
      }
      FillElements(program.fill, element_bytes, out + kept * out_bytes, (program.padded_rows - kept) * out_bytes);
    }
  }
  // Where no sample has any row there may be no part.
  FillElements(program.fill, element_bytes, out, (samples - sample) * program.padded_rows * out_bytes);
}

Tensor OffsetsTensor(const v1::Field& field, const HostBatch::Rows& rows) {
  v1::Field offsets;
  offsets.set_name(OffsetsName(field.name()));
  offsets.set_dtype(v1::DTYPE_INT64);
  uint8_t* out = nullptr;
  Tensor tensor = NewTensor(offsets, static_cast<int64_t>(rows.offsets.size()), out);
  std::copy(rows.offsets.begin(), rows.offsets.end(), reinterpret_cast<int64_t*>(out));
  return tensor;
}

}  // namespace stoker
