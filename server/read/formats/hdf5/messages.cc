#include "server/read/formats/hdf5/messages.h"

#include <utility>

#include "server/read/binary.h"

namespace stoker {

namespace {

bool TakeFlag(BinaryReader& reader, bool& flag) {
  const auto byte = reader.Get<uint8_t>();
  flag = byte == 1;
  return byte <= 1;
}

}  // namespace

std::string SerializeRequest(const Hdf5Request& request) {
  BinaryWriter writer;
  for (const uint64_t number : {request.file, request.file_size, request.begin, request.count, request.most_bytes})
    writer.Put(number);
  writer.Put<uint64_t>(request.paths.size());
  for (const std::string& path : request.paths) writer.PutBytes(path);
  writer.Put<uint8_t>(request.asks_places);
  return std::move(writer.bytes);
}

bool ParseRequest(std::string_view message, Hdf5Request& request) {
  BinaryReader reader(message);
  request = {};
  for (uint64_t* number : {&request.file, &request.file_size, &request.begin, &request.count, &request.most_bytes})
    *number = reader.Get<uint64_t>();
  request.paths.resize(reader.GetCount(kNumberBytes));
  for (std::string& path : request.paths) path = reader.GetBytes();
  return TakeFlag(reader, request.asks_places) && reader.done();
}

std::string SerializeHdf5Columns(const std::vector<Hdf5Column>& columns) {
  BinaryWriter writer;
  writer.Put<uint64_t>(columns.size());
  for (const Hdf5Column& column : columns) {
    writer.PutBytes(column.path);
    writer.Put(static_cast<uint8_t>(column.type));
    writer.Put(column.width);
    writer.Put(column.rows);
    writer.Put<uint64_t>(column.shape.size());
    writer.PutArray(column.shape);
    writer.Put(column.block_rows);
    writer.PutBytes(column.why);
  }
  return std::move(writer.bytes);
}

bool ParseHdf5Columns(std::string_view message, std::vector<Hdf5Column>& columns) {
  BinaryReader reader(message);
  columns.clear();
  columns.resize(reader.GetCount(5 * kNumberBytes + 5));
  for (Hdf5Column& column : columns) {
    column.path = reader.GetBytes();
    const auto type = reader.Get<uint8_t>();
    if (type >= kColumnTypes || static_cast<ColumnType>(type) == ColumnType::kText) return false;
    column.type = static_cast<ColumnType>(type);
    column.width = reader.Get<uint32_t>();
    column.rows = reader.Get<uint64_t>();
    column.shape = reader.GetArray<int64_t>(reader.GetCount(kNumberBytes));
    column.block_rows = reader.Get<uint64_t>();
    column.why = reader.GetBytes();
  }
  return reader.done();
}

std::string SerializePlaces(const std::vector<Hdf5Places>& places) {
  BinaryWriter writer;
  writer.Put<uint64_t>(places.size());
  for (const Hdf5Places& column : places) {
    writer.Put<uint64_t>(column.runs.size());
    writer.PutArray(column.runs);
    writer.Put(column.run_rows);
    writer.Put(column.row_bytes);
    writer.Put<uint8_t>(column.are_references);
  }
  return std::move(writer.bytes);
}

bool ParsePlaces(std::string_view message, std::vector<Hdf5Places>& places) {
  BinaryReader reader(message);
  places.clear();
  places.resize(reader.GetCount(3 * kNumberBytes + 1));
  for (Hdf5Places& column : places) {
    column.runs = reader.GetArray<uint64_t>(reader.GetCount(kNumberBytes));
    column.run_rows = reader.Get<uint64_t>();
    column.row_bytes = reader.Get<uint64_t>();
    if (!TakeFlag(reader, column.are_references)) return false;
  }
  return reader.done();
}

}  // namespace stoker
