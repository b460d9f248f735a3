#include "server/read/formats/parquet/parquet_columns.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "server/read/formats/mapping/image_magic.h"
#include "server/read/rows/row_fields.h"

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

}  // namespace

std::vector<uint32_t> CandidateColumns(const FieldMap& asked, const std::vector<ParquetColumn>& columns) {
  std::set<std::string> names;
  for (const auto& [name, from] : asked) {
    names.insert(from.from().empty() ? name : from.from());
    names.insert((from.from().empty() ? name : from.from()) + kBytes);
    names.insert(from.values());
  }
  std::vector<uint32_t> candidates;
  for (uint32_t i = 0; i < columns.size(); ++i)
    if (columns[i].type != ColumnType::kOther && columns[i].type != ColumnType::kText &&
        (asked.empty() || names.contains(columns[i].name)))
      candidates.push_back(i);
  return candidates;
}

ParquetColumnFacts FactsOf(const ParquetColumn& column, const RowGroup& group, size_t place) {
  ParquetColumnFacts facts{.is_known = true};
  uint64_t row = 0;
  while (row < group.rows() && group.SizeOf(place, row) > kMostRowBytes) ++row;
  facts.has_value = row < group.rows();
  if (!facts.has_value) return facts;
  for (uint64_t other = 0; other < group.rows(); ++other)
    facts.has_other_shape = facts.has_other_shape || group.SizeOf(place, other) == kOtherShapeRow;
  facts.is_image = column.type == ColumnType::kBinary && BeginsAsImage(group.ValueOf(place, row));
  facts.shape = group.ShapeOf(place);
  return facts;
}

absl::StatusOr<SourceField> FieldOf(const ParquetColumn& column, const ParquetColumnFacts& facts, bool is_asked) {
  if (!facts.has_value) return absl::InvalidArgumentError("has no value in the first row group");
  if (!is_asked && facts.has_other_shape) return absl::InvalidArgumentError("has lists of several lengths");
  if (facts.shape.size() != column.lists) return absl::InvalidArgumentError("has lists of a shape that cannot be");
  std::vector<int64_t> shape = facts.shape;
  if (column.type == ColumnType::kBinary) return FieldOfBytes(facts.is_image, std::move(shape), 0);
  if (column.type == ColumnType::kFixed) shape.push_back(column.width);
  return DenseField(column.type, std::move(shape));
}

std::optional<StoredRows> RowsOf(const ParquetColumn& column, const ParquetColumnFacts& facts) {
  const bool has_bytes = column.type == ColumnType::kBinary || column.type == ColumnType::kText;
  if (has_bytes || (column.type == ColumnType::kFixed && column.lists == 0)) return StoredRows{.are_bytes = true};
  if (column.type == ColumnType::kOther || column.type == ColumnType::kFixed || column.lists == 0) return std::nullopt;
  StoredRows rows{.dtype = DtypeOf(column.type)};
  if (facts.shape.size() == column.lists) rows.shape = RowShapeOf(facts.shape);
  return rows;
}

absl::StatusOr<DecodeRequest::Wanted> WantedOf(const ParquetColumn& column, const SourceField& field) {
  DecodeRequest::Wanted wanted{.has_shape = column.lists > 0};
  if (column.lists == 0) return wanted;
  if (field.kind != SourceField::Kind::kRows) {
    wanted.shape.assign(field.shape.begin(), field.shape.begin() + column.lists);
    return wanted;
  }
  wanted.has_any_length = true;
  wanted.shape = column.lists > 1 ? field.shape : std::vector<int64_t>();
  if (column.lists == 1 || field.shape.size() == column.lists - 1) return wanted;
  return absl::InvalidArgumentError(absl::StrCat("shape: [", absl::StrJoin(field.shape, ", "), "] is not of the ",
                                                 column.lists - 1, " dimensions that a row has here"));
}

absl::StatusOr<FieldMapping> MapColumns(const FieldMap& asked, const std::vector<ParquetColumn>& columns,
                                        const std::vector<absl::StatusOr<SourceField>>& fields,
                                        const std::vector<std::optional<StoredRows>>& rows) {
  std::vector<StoredColumn> stored;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string& name = columns[i].name;
    const std::string image = ImageOf(name, kBytes, kPath, columns);
    if (!image.empty()) stored.push_back({image, fields[i], rows[i]});
    const bool has_other_name = !image.empty() || !ImageOf(name, kPath, kBytes, columns).empty();
    if (!asked.empty() || !has_other_name) stored.push_back({name, fields[i], rows[i]});
  }
  STOKER_ASSIGN_OR_RETURN(FieldMapping mapping, MapFields(asked, stored, "column"));
  for (MappedField& field : mapping.fields)
    if (!HasColumn(columns, field.from)) field.from += kBytes;
  return mapping;
}

}  // namespace stoker
