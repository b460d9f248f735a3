#include "server/read/formats/parquet/parquet_columns.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/formats/mapping/image_magic.h"

namespace stoker {
namespace {

constexpr char kBytes[] = ".bytes", kPath[] = ".path";

bool HasColumn(const std::vector<ParquetColumn>& columns, const std::string& name) {
  return std::any_of(columns.begin(), columns.end(), [&](const auto& column) { return column.name == name; });
}

// Returns the name of the struct of an image that `name` is a part of, or nothing.
std::string ImageOf(const std::string& name, const char* part, const char* other,
                    const std::vector<ParquetColumn>& columns) {
  if (!absl::EndsWith(name, part)) return "";
  const std::string image = name.substr(0, name.size() - std::string(part).size());
  return HasColumn(columns, image + other) && !HasColumn(columns, image) ? image : "";
}

v1::Dtype DtypeOf(ParquetType type) {
  switch (type) {
    case ParquetType::kUint8:
    case ParquetType::kFixed: return v1::DTYPE_UINT8;
    case ParquetType::kInt16: return v1::DTYPE_INT16;
    case ParquetType::kInt32: return v1::DTYPE_INT32;
    case ParquetType::kInt64: return v1::DTYPE_INT64;
    case ParquetType::kFloat16: return v1::DTYPE_FLOAT16;
    case ParquetType::kFloat32: return v1::DTYPE_FLOAT32;
    case ParquetType::kFloat64: return v1::DTYPE_FLOAT64;
    case ParquetType::kOther:
    case ParquetType::kBinary: break;
  }
  return v1::DTYPE_UNSPECIFIED;
}

}  // namespace

std::vector<uint32_t> CandidateColumns(const FieldMap& asked, const std::vector<ParquetColumn>& columns) {
  std::set<std::string> names;
  for (const auto& [name, from] : asked) {
    names.insert(from.from().empty() ? name : from.from());
    names.insert((from.from().empty() ? name : from.from()) + kBytes);
  }
  std::vector<uint32_t> candidates;
  for (uint32_t i = 0; i < columns.size(); ++i)
    if (columns[i].type != ParquetType::kOther && (asked.empty() || names.contains(columns[i].name)))
      candidates.push_back(i);
  return candidates;
}

absl::StatusOr<SourceField> FieldOf(const ParquetColumn& column, const RowGroup& group, size_t place, bool is_asked) {
  uint64_t row = 0;
  while (row < group.rows() && group.SizeOf(place, row) > kMostRowBytes) ++row;
  if (row == group.rows()) return absl::InvalidArgumentError("has no value in the first row group");
  for (uint64_t other = 0; !is_asked && other < group.rows(); ++other)
    if (group.SizeOf(place, other) == kOtherShapeRow) return absl::InvalidArgumentError("has lists of several lengths");
  SourceField field{.dtype = DtypeOf(column.type), .shape = group.ShapeOf(place)};
  if (column.type == ParquetType::kBinary) {
    if (!BeginsAsImage(group.ValueOf(place, row)))
      return absl::InvalidArgumentError("is bytes of no fixed size, and no image");
    field.kind = SourceField::Kind::kEncodedImage;
    return field;
  }
  if (column.type == ParquetType::kFixed) field.shape.push_back(column.width);
  if (DenseBytes(field) > kMaxSampleBytes)
    return absl::InvalidArgumentError(absl::StrCat("is ", FieldWords(field), ", above ", kMaxSampleBytes, " bytes"));
  return field;
}

absl::StatusOr<FieldMapping> MapColumns(const FieldMap& asked, const std::vector<ParquetColumn>& columns,
                                        const std::vector<absl::StatusOr<SourceField>>& fields) {
  std::vector<StoredColumn> stored;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string& name = columns[i].name;
    const std::string image = ImageOf(name, kBytes, kPath, columns);
    if (!image.empty()) stored.push_back({image, fields[i]});
    const bool has_other_name = !image.empty() || !ImageOf(name, kPath, kBytes, columns).empty();
    if (!asked.empty() || !has_other_name) stored.push_back({name, fields[i]});
  }
  STOKER_ASSIGN_OR_RETURN(FieldMapping mapping, MapFields(asked, stored, "column"));
  for (MappedField& field : mapping.fields)
    if (!HasColumn(columns, field.from)) field.from += kBytes;
  return mapping;
}

}  // namespace stoker
