#include "server/read/rows/row_fields.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/config/byte_size.h"
#include "common/status_macros.h"
#include "server/read/dataset.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/formats/mapping/variable_field.h"
#include "server/read/printable_name.h"

namespace stoker {

v1::Dtype DtypeOf(ColumnType type) {
  switch (type) {
    case ColumnType::kUint8:
    case ColumnType::kFixed: return v1::DTYPE_UINT8;
    case ColumnType::kInt16: return v1::DTYPE_INT16;
    case ColumnType::kInt32: return v1::DTYPE_INT32;
    case ColumnType::kInt64: return v1::DTYPE_INT64;
    case ColumnType::kFloat16: return v1::DTYPE_FLOAT16;
    case ColumnType::kFloat32: return v1::DTYPE_FLOAT32;
    case ColumnType::kFloat64: return v1::DTYPE_FLOAT64;
    case ColumnType::kOther:
    case ColumnType::kText:
    case ColumnType::kBinary: break;
  }
  return v1::DTYPE_UNSPECIFIED;
}

absl::StatusOr<SourceField> DenseField(ColumnType type, std::vector<int64_t> shape) {
  SourceField field{.dtype = DtypeOf(type), .shape = std::move(shape)};
  if (DenseBytes(field) > kMaxSampleBytes)
    return absl::InvalidArgumentError(absl::StrCat("is ", FieldWords(field), ", above ", kMaxSampleBytes, " bytes"));
  return field;
}

absl::StatusOr<SourceField> FieldOfBytes(bool is_image, std::vector<int64_t> shape, uint32_t width) {
  if (is_image) {
    SourceField field{.dtype = v1::DTYPE_UNSPECIFIED, .shape = std::move(shape)};
    field.kind = SourceField::Kind::kEncodedImage;
    return field;
  }
  if (width == 0) return absl::InvalidArgumentError("is bytes of no fixed size, and no image");
  shape.push_back(width);
  return DenseField(ColumnType::kFixed, std::move(shape));
}

absl::Status CheckRow(uint32_t size, const SourceField& field) {
  const bool is_dense = field.kind == SourceField::Kind::kDense;
  if (size == kNullRow) return absl::DataLossError("is null, or a list of nothing or with a null in it");
  if (size == kTooLargeRow) return absl::DataLossError("is above what int64 holds");
  if (size == kOtherShapeRow || (is_dense && size != DenseBytes(field)))
    return absl::DataLossError(absl::StrCat("is of another shape than ", FieldWords(field)));
  if (size > kMaxSampleBytes) return absl::DataLossError(absl::StrCat("has more than ", kMaxSampleBytes, " bytes"));
  return absl::OkStatus();
}

absl::Status TakeRow(const RowGroup& group, size_t column, uint64_t row, const SourceField& field,
                     std::vector<uint8_t>& bytes) {
  STOKER_RETURN_IF_ERROR(CheckRow(group.SizeOf(column, row), field));
  const auto value = group.ValueOf(column, row);
  STOKER_RETURN_IF_ERROR(CheckRows(field, value));
  bytes.assign(value.begin(), value.end());
  return absl::OkStatus();
}

absl::Status RowError(const std::string& dataset, const std::string& sample, const absl::Status& status) {
  const std::string text =
      absl::StrCat(dataset, dataset.empty() ? "" : ": ", ShortPrintableName(sample), ": ", status.message());
  if (absl::IsFailedPrecondition(status))
    return absl::UnavailableError(
        absl::StrCat(text, "; restore the object, or restart the server to index its shards anew"));
  if (absl::IsDataLoss(status) || absl::IsNotFound(status)) return absl::Status(status.code(), text);
  return absl::UnavailableError(text);
}

absl::StatusOr<uint64_t> CacheBytes(const std::string& asked, const DecodedSizes& sizes, const std::string& what,
                                    std::vector<std::string>& warnings) {
  constexpr uint64_t kDefaultCacheBytes = uint64_t{256} << 20;
  uint64_t bytes = kDefaultCacheBytes;
  if (!asked.empty()) {
    const auto parsed = ParseByteSize(asked);
    if (!parsed.ok()) return parsed.status();
    bytes = *parsed;
  }
  if (sizes.all > bytes) {
    const uint64_t kept = std::max<uint64_t>(bytes / sizes.largest, 1);
    warnings.push_back(absl::StrCat(
        "reading a sample decodes its ", what, ", of up to ", sizes.rows, " rows and ", FormatByteSize(sizes.largest),
        "; of ", sizes.count, " with ", FormatByteSize(sizes.all), ", `cache` keeps ", FormatByteSize(bytes),
        ". Under a full shuffle most are decoded again for each sample. Let jobs ask for shuffle {mode: block, "
        "block_samples: ",
        sizes.rows, ", window_blocks: ", std::max<uint64_t>(kept / 2, 1), "}, or raise `cache`"));
  }
  return std::max(std::min(bytes, sizes.all + sizes.largest), sizes.largest);
}

}  // namespace stoker
