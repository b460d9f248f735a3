#include "server/scan/row_values.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/fields/cast.h"
#include "common/fields/companions.h"
#include "common/status_macros.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/formats/mapping/variable_field.h"

namespace stoker {
namespace {

// Returns the numbers of points as they are sent.
std::vector<float> PointsOf(const SourceField& field, std::span<const uint8_t> bytes) {
  std::vector<float> numbers(bytes.size() / ByteSize(field.dtype));
  CastNumbers(bytes, field.dtype, {}, v1::DTYPE_FLOAT32, reinterpret_cast<uint8_t*>(numbers.data()));
  return numbers;
}

absl::Status CheckBox(const float* box, v1::BoxFormat format, size_t row) {
  const bool has_corners = format == v1::BOX_FORMAT_XYXY || format == v1::BOX_FORMAT_UNSPECIFIED;
  const float width = has_corners ? box[2] - box[0] : box[2], height = has_corners ? box[3] - box[1] : box[3];
  if (width >= 0 && height >= 0) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("box ", row, " has a ", width < 0 ? "width" : "height",
                                          " below 0; box_format "
                                          "says what its numbers are"));
}

absl::Status CheckPoints(const SourceField& field, std::span<const uint8_t> bytes) {
  const std::vector<float> numbers = PointsOf(field, bytes);
  const size_t row_numbers = DenseBytes(field) / ByteSize(field.dtype);
  for (size_t i = 0; i < numbers.size(); ++i)
    if (!std::isfinite(numbers[i]))
      return absl::DataLossError(
          absl::StrCat("row ", i / row_numbers, " has ", numbers[i], ", which is no finite number"));
  for (size_t i = 0; field.meaning == v1::FIELD_KIND_BOXES && i < numbers.size(); i += row_numbers)
    STOKER_RETURN_IF_ERROR(CheckBox(&numbers[i], field.box_format, i / row_numbers));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRowValues(const SourceField& field, std::span<const uint8_t> bytes) {
  if (field.kind != SourceField::Kind::kRows) return absl::OkStatus();
  STOKER_RETURN_IF_ERROR(CheckRows(field, bytes));
  if (field.meaning == v1::FIELD_KIND_AUDIO) return absl::OkStatus();  // Its bounds are those of decoded audio.
  v1::Field sparse;
  for (const int64_t extent : field.dense_shape) sparse.add_dense_shape(extent);
  const uint64_t number_bytes = HasPoints(field.meaning)                 ? sizeof(float)
                                : field.meaning == v1::FIELD_KIND_SPARSE ? ByteSize(IndexDtype(sparse.dense_shape()))
                                                                         : ByteSize(field.dtype);
  const uint64_t sent = bytes.size() / ByteSize(field.dtype) * number_bytes;
  if (sent > field.max_bytes)
    return absl::OutOfRangeError(absl::StrCat("has ", sent, " bytes, above max_bytes, ", field.max_bytes));
  if (field.meaning == v1::FIELD_KIND_SPARSE)
    return CheckPlaces(bytes, field.dtype, DenseElements(sparse.dense_shape()));
  return HasPoints(field.meaning) ? CheckPoints(field, bytes) : absl::OkStatus();
}

}  // namespace stoker
