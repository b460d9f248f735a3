#include "server/read/formats/parquet/program/footer.h"

#include <parquet/metadata.h>
#include <parquet/schema.h>
#include <parquet/types.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace stoker {
namespace {

// Lists within lists that fields can be made of.
constexpr int kMostLists = 4;

bool IsList(const parquet::schema::Node& node) {
  return node.is_group() && (node.logical_type()->is_list() || node.converted_type() == parquet::ConvertedType::LIST);
}

bool IsMap(const parquet::schema::Node& node) {
  return node.is_group() && (node.logical_type()->is_map() || node.converted_type() == parquet::ConvertedType::MAP ||
                             node.converted_type() == parquet::ConvertedType::MAP_KEY_VALUE);
}

// Returns the leaf and the groups above it, the schema's root left out, in order from there.
std::vector<const parquet::schema::Node*> PathOf(const parquet::ColumnDescriptor& column) {
  std::vector<const parquet::schema::Node*> path;
  for (const auto* node = column.schema_node().get(); node->parent() != nullptr; node = node->parent())
    path.push_back(node);
  std::reverse(path.begin(), path.end());
  return path;
}

// Names of lists' inner groups are left out: what they are called depends on the writer.
std::string NameOf(const std::vector<const parquet::schema::Node*>& path) {
  std::string name;
  for (size_t i = 0; i < path.size(); ++i) {
    if (i > 0 && path[i]->is_repeated() && IsList(*path[i - 1])) continue;
    const bool is_element = i > 1 && path[i - 1]->is_repeated() && IsList(*path[i - 2]);
    if (is_element) continue;
    name += (name.empty() ? "" : ".") + path[i]->name();
  }
  return name;
}

std::pair<ColumnType, uint32_t> WholeNumber(const parquet::LogicalType& logical, int bits) {
  bool is_signed = true;
  if (logical.is_int()) {
    const auto& type = static_cast<const parquet::IntLogicalType&>(logical);
    bits = type.bit_width();
    is_signed = type.is_signed();
  } else if (!logical.is_none()) {
    return {ColumnType::kOther, 0};
  }
  if (bits == 8 && !is_signed) return {ColumnType::kUint8, 1};
  if (bits == 8 || (bits == 16 && is_signed)) return {ColumnType::kInt16, 2};
  if (bits == 16 || (bits == 32 && is_signed)) return {ColumnType::kInt32, 4};
  return {ColumnType::kInt64, 8};
}

bool IsText(const parquet::LogicalType& logical) {
  return logical.is_string() || logical.is_enum() || logical.is_JSON();
}

std::pair<ColumnType, uint32_t> TypeOf(const parquet::ColumnDescriptor& column) {
  const parquet::LogicalType& logical = *column.logical_type();
  switch (column.physical_type()) {
    case parquet::Type::BOOLEAN: return {ColumnType::kUint8, 1};
    case parquet::Type::INT32: return WholeNumber(logical, 32);
    case parquet::Type::INT64: return WholeNumber(logical, 64);
    case parquet::Type::FLOAT: return {ColumnType::kFloat32, 4};
    case parquet::Type::DOUBLE: return {ColumnType::kFloat64, 8};
    case parquet::Type::BYTE_ARRAY:
      if (IsText(logical) && column.max_repetition_level() == 0) return {ColumnType::kText, 0};
      return {logical.is_none() && column.max_repetition_level() == 0 ? ColumnType::kBinary : ColumnType::kOther, 0};
    case parquet::Type::FIXED_LEN_BYTE_ARRAY:
      if (logical.is_float16()) return {ColumnType::kFloat16, 2};
      if (logical.is_none() && column.type_length() > 0)
        return {ColumnType::kFixed, static_cast<uint32_t>(column.type_length())};
      break;
    default: break;
  }
  return {ColumnType::kOther, 0};
}

std::string WhyNot(const parquet::ColumnDescriptor& column) {
  const parquet::LogicalType& logical = *column.logical_type();
  if (column.physical_type() == parquet::Type::BYTE_ARRAY && column.max_repetition_level() > 0)
    return "is a list of texts or bytes";
  if (IsText(logical)) return "is text";
  return "is " + (logical.is_none() ? parquet::TypeToString(column.physical_type()) : logical.ToString());
}

ParquetColumn Describe(const parquet::ColumnDescriptor& column) {
  const auto path = PathOf(column);
  ParquetColumn described{.name = NameOf(path), .lists = static_cast<uint32_t>(column.max_repetition_level())};
  std::tie(described.type, described.width) = TypeOf(column);
  if (described.type == ColumnType::kOther || described.type == ColumnType::kText) described.why = WhyNot(column);
  if (std::any_of(path.begin(), path.end(), [](const auto* node) { return IsMap(*node); }))
    described.type = ColumnType::kOther, described.why = "is in a map";
  if (column.max_repetition_level() > kMostLists)
    described.type = ColumnType::kOther, described.why = "has lists within lists within lists";
  return described;
}

// Returns the bytes of a column's values when they are decoded, as far as the footer tells. Few bytes may stand for
// many numbers of lists.
uint64_t DecodedBytes(const parquet::ColumnChunkMetaData& chunk, const ParquetColumn& column) {
  constexpr uint64_t kMostValues = uint64_t{1} << 48;
  const auto bytes = static_cast<uint64_t>(chunk.total_uncompressed_size());
  if (column.lists == 0 || chunk.num_values() < 0) return bytes;
  return std::max(bytes, std::min(static_cast<uint64_t>(chunk.num_values()), kMostValues) * std::min(column.width, 8U));
}

ParquetChunk Describe(const parquet::ColumnChunkMetaData& chunk, const ParquetColumn& column) {
  if (!chunk.file_path().empty()) throw std::runtime_error("its values lie in another file");
  int64_t offset = chunk.data_page_offset();
  if (chunk.has_dictionary_page() && chunk.dictionary_page_offset() > 0)
    offset = std::min(offset, chunk.dictionary_page_offset());
  if (offset < 0 || chunk.total_compressed_size() < 0 || chunk.total_uncompressed_size() < 0)
    throw std::runtime_error("a column lies before the file");
  return {static_cast<uint64_t>(offset), static_cast<uint64_t>(chunk.total_compressed_size()),
          DecodedBytes(chunk, column)};
}

}  // namespace

ParquetFooter DescribeFooter(std::string_view bytes) {
  const auto metadata = parquet::FileMetaData::Make(bytes.data(), static_cast<int64_t>(bytes.size()));
  if (metadata->is_encryption_algorithm_set()) throw std::runtime_error("it is encrypted");
  ParquetFooter footer;
  const parquet::SchemaDescriptor& schema = *metadata->schema();
  for (int i = 0; i < schema.num_columns(); ++i) footer.columns.push_back(Describe(*schema.Column(i)));
  for (int i = 0; i < metadata->num_row_groups(); ++i) {
    const auto group = metadata->RowGroup(i);
    if (group->num_rows() < 0) throw std::runtime_error("a row group has fewer than no rows");
    if (group->num_columns() != schema.num_columns())
      throw std::runtime_error("a row group has other columns than the schema");
    ParquetRowGroup described{.rows = static_cast<uint64_t>(group->num_rows()),
                              .footer = metadata->Subset({i})->SerializeToString()};
    for (int column = 0; column < group->num_columns(); ++column)
      described.chunks.push_back(Describe(*group->ColumnChunk(column), footer.columns[column]));
    footer.row_groups.push_back(std::move(described));
  }
  return footer;
}

}  // namespace stoker
