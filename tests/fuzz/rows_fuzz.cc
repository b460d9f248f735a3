// Whatever sizes a server claims of samples that differ in size, a client finds those that cannot be, and what it takes
// lies within the bytes that came. The first byte says how many samples a span has, the second how many fields, each of
// which has two more: its rows' bytes, and the most that a sample may have. With the highest bit set in the second
// byte, a field of images of native size stands before them, and with the next one a sparse field with values. Then
// come each field's bytes in all, eight for each, and the payload.

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/fleet/span_checks.h"
#include "client/loader/landed_fields.h"
#include "common/check.h"
#include "common/fields/companions.h"
#include "common/fields/schema.h"
#include "common/fields/span_layout.h"

namespace stoker {
namespace {

using Bytes = std::span<const uint8_t>;

// Takes bytes off the front of an input; zeros where it ends.
uint64_t Take(Bytes& input, size_t bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < bytes && !input.empty(); ++i, input = input.subspan(1)) number |= uint64_t{input[0]} << 8 * i;
  return number;
}

void AddImages(std::vector<v1::Field>& fields) {
  v1::Field& images = fields.emplace_back();
  images.set_name("image"), images.set_dtype(v1::DTYPE_UINT8), images.add_shape(3);
  images.set_kind(v1::FIELD_KIND_RAGGED_IMAGE), images.set_max_bytes(90);
  v1::Field& sizes = fields.emplace_back();
  sizes.set_name(SizesName("image")), sizes.set_dtype(v1::DTYPE_INT32), sizes.add_shape(2);
}

void AddSparse(std::vector<v1::Field>& fields) {
  v1::Field& places = fields.emplace_back();
  places.set_name("words"), places.set_dtype(v1::DTYPE_INT32), places.set_kind(v1::FIELD_KIND_SPARSE);
  places.add_dense_shape(3), places.add_dense_shape(100), places.set_max_bytes(80);
  v1::Field& values = fields.emplace_back();
  values.set_name(ValuesName("words")), values.set_dtype(v1::DTYPE_INT16), values.set_kind(v1::FIELD_KIND_RAGGED);
  values.set_max_bytes(40);
}

// Checks that a program may write to the places of each sample.
void CheckPlacesOf(const Tensor& places, const Tensor& values, const int64_t* begin, uint64_t count) {
  STOKER_CHECK(places.shape[0] == values.shape[0]);
  for (uint64_t sample = 0; sample < count; ++sample) {
    int64_t before = -1;
    for (int64_t i = begin[sample]; i < begin[sample + 1]; ++i) {
      const int64_t place = WholeNumberAt(places.data, places.dtype, i);
      STOKER_CHECK(place > before && place < 300);
      before = place;
    }
  }
}

// Returns the pixels that heights and widths of `count` images make.
int64_t PixelsOf(const Tensor& sizes, uint64_t count) {
  int64_t pixels = 0;
  for (uint64_t i = 0; i < count; ++i) {
    int32_t sides[2];
    std::memcpy(sides, static_cast<const uint8_t*>(sizes.data) + i * sizeof sides, sizeof sides);
    STOKER_CHECK(sides[0] > 0 && sides[1] > 0);
    pixels += int64_t{sides[0]} * sides[1];
  }
  return pixels;
}

std::vector<v1::Field> TakeFields(Bytes& input) {
  std::vector<v1::Field> fields;
  const uint64_t first = Take(input, 1);
  if ((first & 128) != 0) AddImages(fields);
  if ((first & 64) != 0) AddSparse(fields);
  const size_t others = fields.size();
  fields.resize(others + first % 64 % 5);
  for (v1::Field& field : std::span(fields).subspan(others)) {
    field.set_name(absl::StrCat("f", &field - fields.data()));
    field.set_dtype(v1::DTYPE_UINT8);
    const uint64_t row = Take(input, 1), most = Take(input, 1);
    field.add_shape(1 + static_cast<int64_t>(row % 7));
    if (row < 64) continue;  // All its samples have one size.
    field.set_kind(v1::FIELD_KIND_RAGGED);
    field.set_max_bytes(1 + row % 7 + most);
  }
  return fields;
}

class Slab : public HostSlab {
 public:
  explicit Slab(uint64_t bytes) : bytes_(bytes) {}
  std::span<uint8_t> bytes() override { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

// Copies the parts of a payload to where a client has them, and returns each field's samples.
std::vector<FieldSamples> Land(const std::vector<SpanLayout::Part>& parts, Bytes payload, const SlabLayout& layout,
                               uint64_t count, LandedBatch& batch) {
  std::vector<FieldSamples> fields(layout.fields());
  for (const SpanLayout::Part& part : parts) {
    const Bytes from = payload.first(part.bytes);
    payload = payload.subspan(part.bytes);
    FieldSamples& field = fields[part.field];
    if (part.holds == SpanLayout::Part::Holds::kValues) {
      field.bytes = from;
      batch.values.push_back({{0, from}});
      continue;
    }
    const std::span<uint8_t> to = layout.Field(batch.slab->bytes(), count, part.field);
    STOKER_CHECK(to.size() == from.size());
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
    (part.holds == SpanLayout::Part::Holds::kSizes ? field.sizes : field.bytes) = to;
  }
  STOKER_CHECK(payload.empty());
  return fields;
}

void CheckTensors(const std::vector<v1::Field>& fields, const std::vector<Tensor>& tensors, uint64_t count) {
  size_t next = fields.size();
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!IsVariable(fields[i].kind())) {
      STOKER_CHECK(tensors[i].shape[0] == static_cast<int64_t>(count));
      continue;
    }
    const Tensor& offsets = tensors[next++];
    const auto* begin = static_cast<const int64_t*>(offsets.data);
    STOKER_CHECK(offsets.shape[0] == static_cast<int64_t>(count + 1) && begin[0] == 0);
    for (uint64_t sample = 0; sample < count; ++sample) STOKER_CHECK(begin[sample] <= begin[sample + 1]);
    STOKER_CHECK(begin[count] == tensors[i].shape[0]);
    STOKER_CHECK(tensors[i].bytes == begin[count] * RowBytes(fields[i]));
    if (fields[i].kind() == v1::FIELD_KIND_SPARSE) CheckPlacesOf(tensors[i], tensors[i + 1], begin, count);
    if (fields[i].kind() == v1::FIELD_KIND_RAGGED_IMAGE)
      STOKER_CHECK(PixelsOf(tensors[i + 1], count) == tensors[i].shape[0]);
  }
  STOKER_CHECK(next == tensors.size());
}

void CheckSpan(Bytes input) {
  v1::SpanHeader header;
  header.set_count(1 + Take(input, 1) % 9);
  const auto fields = std::make_shared<const std::vector<v1::Field>>(TakeFields(input));
  for (const v1::Field& field : *fields) STOKER_CHECK(CheckKind(field).ok());
  STOKER_CHECK(CheckCompanions(*fields).ok());
  const SpanLayout layout(*fields);
  for (size_t i = 0; i < layout.variable().size(); ++i) header.add_values_bytes(Take(input, 8));
  for (uint32_t i = 0; i < header.count(); ++i) header.add_sample_ids(i);
  if (layout.PayloadBytes(header) != input.size()) return;
  std::vector<uint64_t> field_bytes;
  for (const v1::Field& field : *fields)
    field_bytes.push_back(IsVariable(field.kind()) ? kLengthBytes : *ByteSize(field));
  const SlabLayout slab(field_bytes);
  LandedBatch batch;
  batch.spec.rows = header.count();
  batch.slab = std::make_shared<Slab>(slab.bytes(header.count()));
  const auto samples = Land(layout.PartsOf(header), input, slab, header.count(), batch);
  for (size_t field : layout.variable())
    if (!layout.CheckSizes(field, samples[field].sizes, samples[field].bytes.size()).ok()) return;
  if (!CheckTogether(*fields, samples).ok()) return;
  CheckTensors(*fields, LandedFields(fields, slab, batch).Tensors(), header.count());
  STOKER_CHECK(LookAt(0, "", header, samples, 1).samples.size() == header.count());
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stoker::CheckSpan({data, size});
  return 0;
}
