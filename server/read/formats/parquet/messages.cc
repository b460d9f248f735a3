#include "server/read/formats/parquet/messages.h"

#include <utility>

#include "server/read/binary.h"

namespace stoker {
namespace {

// Whether a column is of texts, as indexes say that were written before these had a type of their own.
bool IsOldText(const ParquetColumn& column) {
  return column.type == ColumnType::kOther && column.lists == 0 && column.why == "is text";
}

}  // namespace

std::string SerializeFooter(const ParquetFooter& footer) {
  BinaryWriter writer;
  writer.Put<uint64_t>(footer.columns.size());
  for (const ParquetColumn& column : footer.columns) {
    writer.PutBytes(column.name);
    writer.Put(static_cast<uint8_t>(column.type));
    writer.Put(column.width);
    writer.Put(column.lists);
    writer.PutBytes(column.why);
  }
  writer.Put<uint64_t>(footer.row_groups.size());
  for (const ParquetRowGroup& group : footer.row_groups) {
    writer.Put(group.rows);
    writer.PutBytes(group.footer);
    for (const ParquetChunk& chunk : group.chunks) {
      writer.Put(chunk.offset);
      writer.Put(chunk.size);
      writer.Put(chunk.decoded);
    }
  }
  return std::move(writer.bytes);
}

bool ParseFooter(std::string_view message, ParquetFooter& footer) {
  BinaryReader reader(message);
  footer = {};
  footer.columns.resize(reader.GetCount(2 * kNumberBytes + 9));
  for (ParquetColumn& column : footer.columns) {
    column.name = reader.GetBytes();
    const auto type = reader.Get<uint8_t>();
    if (type >= kColumnTypes) return false;
    column.type = static_cast<ColumnType>(type);
    column.width = reader.Get<uint32_t>();
    column.lists = reader.Get<uint32_t>();
    column.why = reader.GetBytes();
    if (IsOldText(column)) column.type = ColumnType::kText;
  }
  footer.row_groups.resize(reader.GetCount(2 * kNumberBytes + 3 * kNumberBytes * footer.columns.size()));
  for (ParquetRowGroup& group : footer.row_groups) {
    group.rows = reader.Get<uint64_t>();
    group.footer = reader.GetBytes();
    group.chunks.resize(footer.columns.size());
    for (ParquetChunk& chunk : group.chunks) {
      chunk.offset = reader.Get<uint64_t>();
      chunk.size = reader.Get<uint64_t>();
      chunk.decoded = reader.Get<uint64_t>();
    }
  }
  return reader.done();
}

std::string SerializeRequest(const DecodeRequest& request) {
  BinaryWriter writer;
  writer.Put(request.file_size);
  writer.Put(request.rows);
  writer.Put(request.most_bytes);
  writer.PutBytes(request.footer);
  writer.Put<uint64_t>(request.columns.size());
  for (const auto& [column, has_shape, shape, has_any_length] : request.columns) {
    writer.Put(column);
    writer.Put(static_cast<uint8_t>(has_shape));
    writer.Put(static_cast<uint8_t>(has_any_length));
    writer.Put<uint64_t>(shape.size());
    writer.PutArray(shape);
  }
  writer.Put<uint64_t>(request.ranges.size());
  for (const auto& [offset, size] : request.ranges) {
    writer.Put(offset);
    writer.Put(size);
  }
  BinaryWriter whole;
  whole.Put<uint8_t>('d');
  whole.PutBytes(writer.bytes);
  return std::move(whole.bytes);
}

bool ParseRequest(std::string_view message, DecodeRequest& request, std::string_view& bytes) {
  BinaryReader whole(message);
  request = {};
  if (whole.Get<uint8_t>() != 'd') return false;
  const std::string_view head = whole.GetBytes();
  BinaryReader reader(head);
  request.file_size = reader.Get<uint64_t>();
  request.rows = reader.Get<uint64_t>();
  request.most_bytes = reader.Get<uint64_t>();
  request.footer = reader.GetBytes();
  request.columns.resize(reader.GetCount(kNumberBytes + 6));
  for (auto& [column, has_shape, shape, has_any_length] : request.columns) {
    column = reader.Get<uint32_t>();
    has_shape = reader.Get<uint8_t>() != 0;
    has_any_length = reader.Get<uint8_t>() != 0;
    shape = reader.GetArray<int64_t>(reader.GetCount(kNumberBytes));
  }
  request.ranges.resize(reader.GetCount(2 * kNumberBytes));
  uint64_t total = 0;
  for (auto& [offset, size] : request.ranges) {
    offset = reader.Get<uint64_t>();
    size = reader.Get<uint64_t>();
    if (size > message.size()) return false;
    total += size;
  }
  bytes = whole.Take(total);
  return reader.done() && whole.done();
}

}  // namespace stoker
