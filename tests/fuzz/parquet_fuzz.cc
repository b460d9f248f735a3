// Fuzzes Parquet: u8 what, then
//   0  what a child says of a footer
//   1  what a child says of a row group; each row's value lies in it
//   3  a kept table of what footers say
//   2  a file, which stoker-parquet takes apart where it is built; every row group is read, or an error

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "server/read/formats/parquet/messages.h"
#include "server/read/formats/parquet/parquet_columns.h"
#include "server/read/formats/parquet/parquet_reader.h"
#include "server/read/formats/parquet/parquet_table.h"
#include "tests/fuzz/memory_store.h"

namespace stoker {
namespace {

constexpr uint64_t kMostRows = 10000;

void FuzzFooter(std::string_view message) {
  ParquetFooter footer;
  if (!ParseFooter(message, footer)) return;
  for (const ParquetRowGroup& group : footer.row_groups)
    if (group.chunks.size() != footer.columns.size()) std::abort();
}

void FuzzTable(std::string_view bytes) {
  const auto table = ParseTable(bytes);
  if (!table.ok()) return;
  for (const auto& [object, footer] : table->shards)
    for (const ParquetRowGroup& group : footer.row_groups)
      for (const ParquetChunk& chunk : group.chunks)
        if (chunk.offset > object.size || chunk.size > object.size - chunk.offset) std::abort();
  for (const ParquetColumnFacts& facts : table->facts)
    for (const ParquetColumn& column :
         table->shards.empty() ? std::vector<ParquetColumn>() : table->shards[0].footer.columns)
      if (const auto field = FieldOf(column, facts, true); field.ok() && field->shape.size() < column.lists)
        std::abort();
}

// Reads all values, and returns how many bytes they have.
uint64_t WalkValues(const RowGroup& group, size_t columns) {
  uint64_t bytes = 0;
  for (size_t column = 0; column < columns; ++column)
    for (uint64_t row = 0; row < group.rows(); ++row)
      if (group.SizeOf(column, row) <= kMostRowBytes)
        for (const uint8_t byte : group.ValueOf(column, row)) bytes += 1 + (byte & 0);
  return bytes;
}

void FuzzColumns(std::string_view message) {
  ChildAnswer answer{ChildVerdict::kDone, std::make_unique<uint8_t[]>(message.size()), message.size()};
  std::copy(message.begin(), message.end(), answer.data.get());
  const std::string_view held(reinterpret_cast<const char*>(answer.data.get()), answer.size);
  DecodedColumns columns;
  if (!ParseColumns(held, columns)) return;
  const size_t count = columns.columns.size();
  if (WalkValues(RowGroup(std::move(answer), std::move(columns)), count) > message.size()) std::abort();
}

void FuzzFile(std::string_view file) {
  static ParquetReader reader(ParquetReader::DefaultProgram(), 1);
  MemoryStore store({{"f.parquet", {file.begin(), file.end()}}}, false);
  const ObjectInfo object = store.Object("f.parquet");
  const auto footer = reader.ReadFooter(store, object);
  if (!footer.ok()) return;
  for (const ParquetRowGroup& stored : footer->row_groups) {
    if (stored.rows > kMostRows) continue;
    StoredRowGroup group{.shard = &object, .rows = stored.rows, .footer = stored.footer};
    for (const uint32_t column : CandidateColumns({}, footer->columns)) {
      group.columns.push_back({.column = column});
      group.chunks.push_back(stored.chunks[column]);
    }
    const auto decoded = reader.Decode(store, group, 0);
    if (decoded.ok()) WalkValues(**decoded, group.columns.size());
  }
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 4) {
    case 0: stoker::FuzzFooter(rest); break;
    case 1: stoker::FuzzColumns(rest); break;
    case 3: stoker::FuzzTable(rest); break;
    default: stoker::FuzzFile(rest); break;
  }
  return 0;
}
