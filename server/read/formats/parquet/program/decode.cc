#include "server/read/formats/parquet/program/decode.h"

#include <parquet/column_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/schema.h>
#include <parquet/types.h>

#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "server/read/formats/parquet/program/footer.h"
#include "server/read/formats/parquet/program/ranges_file.h"
#include "server/read/formats/parquet/program/rows.h"

namespace stoker {
namespace {

constexpr int64_t kBatch = 1024;

template <typename To>
void AddAs(To value, int16_t repetition, RowGatherer& rows) {
  rows.Add(repetition, &value, sizeof value);
}

// Adds a value as the column's type in the answer.
template <typename Value>
void AddValue(const ParquetColumn& column, Value value, int16_t repetition, RowGatherer& rows) {
  if constexpr (std::is_same_v<Value, parquet::ByteArray>) {
    rows.Add(repetition, value.ptr, value.len);
  } else if constexpr (std::is_same_v<Value, parquet::FixedLenByteArray>) {
    rows.Add(repetition, value.ptr, column.width);
  } else if constexpr (std::is_integral_v<Value>) {
    switch (column.type) {
      case ColumnType::kUint8: return AddAs(static_cast<uint8_t>(value), repetition, rows);
      case ColumnType::kInt16: return AddAs(static_cast<int16_t>(value), repetition, rows);
      case ColumnType::kInt32: return AddAs(static_cast<int32_t>(value), repetition, rows);
      default: return AddAs(static_cast<int64_t>(value), repetition, rows);
    }
  } else {
    AddAs(value, repetition, rows);
  }
}

// Returns an unsigned number that its column's type has, from the signed one that is stored, or −1 where it is beyond
// what the answer's type has.
template <typename Value>
Value Unsigned(Value value, int bits) {
  if constexpr (std::is_same_v<Value, int32_t>) {
    return bits == 32 ? value : static_cast<int32_t>(static_cast<uint32_t>(value) & ((uint32_t{1} << bits) - 1));
  } else {
    return value;
  }
}

// Returns the definition level of a value whose outermost list is there and has no element; −1 where there is no list.
int16_t EmptyLevel(const parquet::ColumnDescriptor& column) {
  std::vector<const parquet::schema::Node*> path;
  for (const auto* node = column.schema_node().get(); node->parent() != nullptr; node = node->parent())
    path.push_back(node);
  int16_t level = 0;
  for (auto node = path.rbegin(); node != path.rend(); ++node) {
    if ((*node)->is_repeated()) return level;
    if ((*node)->is_optional()) ++level;
  }
  return -1;
}

template <typename Type>
void ReadAll(parquet::ColumnReader& untyped, const ParquetColumn& column, RowGatherer& rows) {
  using Value = typename Type::c_type;
  auto& reader = static_cast<parquet::TypedColumnReader<Type>&>(untyped);
  const parquet::ColumnDescriptor& descriptor = *reader.descr();
  const int16_t most = descriptor.max_definition_level(), lists = descriptor.max_repetition_level();
  const int16_t empty = EmptyLevel(descriptor);
  const parquet::LogicalType& logical = *descriptor.logical_type();
  const bool is_unsigned = logical.is_int() && !static_cast<const parquet::IntLogicalType&>(logical).is_signed();
  const int bits = logical.is_int() ? static_cast<const parquet::IntLogicalType&>(logical).bit_width() : 0;
  std::vector<int16_t> definitions(kBatch), repetitions(kBatch);
  const auto values = std::make_unique<Value[]>(kBatch);
  while (reader.HasNext()) {
    int64_t found = 0;
    const int64_t levels = reader.ReadBatch(kBatch, definitions.data(), repetitions.data(), values.get(), &found);
    if (levels <= 0) throw std::runtime_error("a column ends too early");
    int64_t next = 0;
    for (int64_t i = 0; i < levels; ++i) {
      const int16_t repetition = lists == 0 ? int16_t{0} : repetitions[i];
      if (most > 0 && definitions[i] != most) {
        const bool is_empty = repetition == 0 && definitions[i] == empty;
        is_empty ? rows.AddEmpty() : rows.AddMissing(repetition);
        continue;
      }
      if (next == found) throw std::runtime_error("a column has fewer values than levels");
      const Value value = values[next++];
      if constexpr (std::is_same_v<Value, int32_t> || std::is_same_v<Value, int64_t>) {
        if (is_unsigned && std::is_same_v<Value, int64_t> && value < 0) {
          rows.AddMissing(repetition, kTooLargeRow);
        } else if (is_unsigned && bits == 32) {
          AddAs(static_cast<int64_t>(static_cast<uint32_t>(value)), repetition, rows);
        } else {
          AddValue(column, is_unsigned ? Unsigned(value, bits) : value, repetition, rows);
        }
      } else {
        AddValue(column, value, repetition, rows);
      }
    }
  }
  rows.Finish();
}

void Read(parquet::ColumnReader& reader, const ParquetColumn& column, RowGatherer& rows) {
  switch (reader.type()) {
    case parquet::Type::BOOLEAN: return ReadAll<parquet::BooleanType>(reader, column, rows);
    case parquet::Type::INT32: return ReadAll<parquet::Int32Type>(reader, column, rows);
    case parquet::Type::INT64: return ReadAll<parquet::Int64Type>(reader, column, rows);
    case parquet::Type::FLOAT: return ReadAll<parquet::FloatType>(reader, column, rows);
    case parquet::Type::DOUBLE: return ReadAll<parquet::DoubleType>(reader, column, rows);
    case parquet::Type::BYTE_ARRAY: return ReadAll<parquet::ByteArrayType>(reader, column, rows);
    case parquet::Type::FIXED_LEN_BYTE_ARRAY: return ReadAll<parquet::FLBAType>(reader, column, rows);
    default: throw std::runtime_error("a column is of a type that fields do not have");
  }
}

}  // namespace

std::string DecodeColumns(const DecodeRequest& request, std::string_view bytes) {
  const ParquetFooter footer = DescribeFooter(request.footer);
  if (footer.row_groups.size() != 1 || footer.row_groups[0].rows != request.rows)
    throw std::runtime_error("the footer is not that of the row group");
  parquet::ReaderProperties properties = parquet::default_reader_properties();
  properties.set_page_checksum_verification(true);
  const auto metadata =
      parquet::FileMetaData::Make(request.footer.data(), static_cast<int64_t>(request.footer.size()), properties);
  const auto file = std::make_shared<RangesFile>(request, bytes);
  const auto reader = parquet::ParquetFileReader::Open(file, properties, metadata);
  const auto group = reader->RowGroup(0);
  std::vector<std::unique_ptr<RowGatherer>> gathered;
  uint64_t left = request.most_bytes;
  for (const DecodeRequest::Wanted& wanted : request.columns) {
    if (wanted.column >= footer.columns.size() || footer.columns[wanted.column].type == ColumnType::kOther)
      throw std::runtime_error("a column is not there any more");
    const ParquetColumn& column = footer.columns[wanted.column];
    gathered.push_back(std::make_unique<RowGatherer>(column.lists, wanted, request.rows, left));
    gathered.back()->Expect(footer.row_groups[0].chunks[wanted.column].decoded);
    Read(*group->Column(static_cast<int>(wanted.column)), column, *gathered.back());
    if (gathered.back()->sizes().size() != request.rows)
      throw std::runtime_error("the column " + column.name + " has " + std::to_string(gathered.back()->sizes().size()) +
                               " rows, where its row group has " + std::to_string(request.rows));
    left -= gathered.back()->bytes().size();
  }
  DecodedColumns decoded{.rows = request.rows};
  for (const auto& rows : gathered)
    decoded.columns.push_back(
        {rows->shape().value_or(std::vector<int64_t>()), std::move(rows->sizes()), rows->bytes()});
  return SerializeColumns(decoded);
}

}  // namespace stoker
