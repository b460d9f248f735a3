#include "server/read/rows/columns.h"

#include <utility>

#include "server/read/binary.h"

namespace stoker {

std::string SerializeColumns(const DecodedColumns& columns) {
  BinaryWriter writer;
  uint64_t bytes = 4 * kNumberBytes;
  for (const auto& column : columns.columns)
    bytes += 16 * kNumberBytes + column.sizes.size() * sizeof(uint32_t) + column.bytes.size();
  writer.bytes.reserve(bytes);
  writer.Put(columns.rows);
  writer.Put<uint64_t>(columns.columns.size());
  for (const auto& column : columns.columns) {
    writer.Put<uint64_t>(column.shape.size());
    writer.PutArray(column.shape);
    writer.PutArray(column.sizes);
  }
  for (const auto& column : columns.columns) writer.bytes += column.bytes;
  return std::move(writer.bytes);
}

bool ParseColumns(std::string_view message, DecodedColumns& columns) {
  BinaryReader reader(message);
  columns = {};
  columns.rows = reader.Get<uint64_t>();
  columns.columns.resize(reader.GetCount(kNumberBytes));
  for (auto& column : columns.columns) {
    column.shape = reader.GetArray<int64_t>(reader.GetCount(kNumberBytes));
    column.sizes = reader.GetArray<uint32_t>(columns.rows);
    if (column.sizes.size() != columns.rows) return false;
  }
  for (auto& column : columns.columns) {
    uint64_t total = 0;
    for (const uint32_t size : column.sizes)
      if (size <= kMostRowBytes) total += size;
    column.bytes = reader.Take(total);
  }
  return reader.done();
}

}  // namespace stoker
