#include "common/fields/companions.h"

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/fields/schema.h"
#include "common/fields/span_layout.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr char kSizes[] = ".sizes", kValues[] = ".values";
constexpr uint64_t kPixelBytes = 3;

int64_t SideAt(std::span<const uint8_t> sides, size_t i) {
  return WholeNumberAt(sides.data(), v1::DTYPE_INT32, static_cast<int64_t>(i));
}

// Checks that each image has as many pixels as its height and width say.
absl::Status CheckImages(const FieldSamples& pixels, const FieldSamples& sizes) {
  for (size_t i = 0; i < pixels.sizes.size() / kLengthBytes; ++i) {
    const int64_t height = SideAt(sizes.bytes, 2 * i), width = SideAt(sizes.bytes, 2 * i + 1);
    const uint64_t bytes = SizeAt(pixels.sizes, i);
    // Both sides have 31 bits, and so their product 62.
    if (height < 1 || width < 1 || static_cast<uint64_t>(height) * static_cast<uint64_t>(width) != bytes / kPixelBytes)
      return absl::DataLossError(
          absl::StrCat("a span with an image of ", width, "×", height, " pixels that has ", bytes, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status CheckAllPlaces(const v1::Field& field, const FieldSamples& samples) {
  uint64_t begin = 0;
  for (size_t i = 0; i < samples.sizes.size() / kLengthBytes; ++i) {
    const uint64_t bytes = SizeAt(samples.sizes, i);
    const absl::Status status =
        CheckPlaces(samples.bytes.subspan(begin, bytes), field.dtype(), DenseElements(field.dense_shape()));
    if (!status.ok()) return absl::DataLossError(absl::StrCat("a span where ", status.message()));
    begin += bytes;
  }
  return absl::OkStatus();
}

// Checks that there is a value for each place.
absl::Status CheckCounts(const FieldSamples& places, uint64_t place_bytes, const FieldSamples& values,
                         uint64_t value_bytes) {
  for (size_t i = 0; i < places.sizes.size() / kLengthBytes; ++i) {
    const uint64_t count = SizeAt(places.sizes, i) / place_bytes, found = SizeAt(values.sizes, i) / value_bytes;
    if (found != count)
      return absl::DataLossError(absl::StrCat("a span with a sample of ", count, " indices and ", found, " values"));
  }
  return absl::OkStatus();
}

bool IsSizes(const v1::Field& field) {
  return field.kind() == v1::FIELD_KIND_UNSPECIFIED && field.dtype() == v1::DTYPE_INT32 && field.shape_size() == 1 &&
         field.shape(0) == 2;
}

}  // namespace

std::string SizesName(const std::string& field) { return field + kSizes; }

std::string ValuesName(const std::string& field) { return field + kValues; }

bool IsCompanion(const std::string& name) { return absl::EndsWith(name, kSizes) || absl::EndsWith(name, kValues); }

uint64_t DenseElements(const google::protobuf::RepeatedField<int64_t>& shape) {
  uint64_t elements = shape.empty() ? 0 : 1;
  for (const int64_t extent : shape) {
    if (extent < 1 || elements > kMostDenseElements / static_cast<uint64_t>(extent)) return 0;
    elements *= extent;
  }
  return elements;
}

v1::Dtype IndexDtype(const google::protobuf::RepeatedField<int64_t>& shape) {
  const uint64_t elements = DenseElements(shape);
  if (elements == 0) return v1::DTYPE_UNSPECIFIED;
  return elements > uint64_t{1} << 31 ? v1::DTYPE_INT64 : v1::DTYPE_INT32;
}

absl::Status CheckCompanions(std::span<const v1::Field> fields) {
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string& name = fields[i].name();
    const v1::Field* const next = i + 1 < fields.size() ? &fields[i + 1] : nullptr;
    if (fields[i].kind() == v1::FIELD_KIND_RAGGED_IMAGE &&
        (next == nullptr || next->name() != SizesName(name) || !IsSizes(*next)))
      return absl::InvalidArgumentError(
          absl::StrCat("field '", name, "' is a ragged_image, and no heights and widths follow it"));
    if (fields[i].kind() == v1::FIELD_KIND_SPARSE && next != nullptr && next->name() == ValuesName(name) &&
        (next->kind() != v1::FIELD_KIND_RAGGED || !next->shape().empty()))
      return absl::InvalidArgumentError(absl::StrCat("field '", next->name(), "' is not a number for each place"));
  }
  return absl::OkStatus();
}

absl::Status CheckTogether(std::span<const v1::Field> fields, std::span<const FieldSamples> samples) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].kind() == v1::FIELD_KIND_RAGGED_IMAGE)
      STOKER_RETURN_IF_ERROR(CheckImages(samples[i], samples[i + 1]));
    if (fields[i].kind() != v1::FIELD_KIND_SPARSE) continue;
    STOKER_RETURN_IF_ERROR(CheckAllPlaces(fields[i], samples[i]));
    if (i + 1 < fields.size() && fields[i + 1].name() == ValuesName(fields[i].name()))
      STOKER_RETURN_IF_ERROR(CheckCounts(samples[i], RowBytes(fields[i]), samples[i + 1], RowBytes(fields[i + 1])));
  }
  return absl::OkStatus();
}

absl::Status CheckPlaces(std::span<const uint8_t> places, v1::Dtype dtype, uint64_t elements) {
  int64_t before = -1;
  for (uint64_t i = 0; i < places.size() / ByteSize(dtype); ++i) {
    const int64_t place = WholeNumberAt(places.data(), dtype, static_cast<int64_t>(i));
    if (place < 0 || static_cast<uint64_t>(place) >= elements)
      return absl::DataLossError(
          absl::StrCat("index ", i, " is ", place, ", and the array of its dense_shape has ", elements, " elements"));
    if (place <= before)
      return absl::DataLossError(absl::StrCat("index ", i, " is ", place, " and the one before it ", before,
                                              "; indices must ascend, and none may stand twice"));
    before = place;
  }
  return absl::OkStatus();
}

}  // namespace stoker
