#include "server/read/formats/hdf5/hdf5_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr uint64_t kMostColumnsAnswer = uint64_t{64} << 20;
constexpr uint64_t kMostPlacesAnswer = uint64_t{256} << 20;
constexpr uint64_t kMostRows = uint64_t{1} << 48;  // of a file

ChildPool::Options ChildOptions(std::string program, int children, absl::Duration cpu_time) {
  return {{.program = std::move(program),
           .environment = {"LC_ALL=C"},
           .address_space_bytes = 4 * kMostRowGroupBytes,
           .cpu_time = cpu_time,
           .deadline = absl::Seconds(300)},
          children};
}

bool LieInFile(const Hdf5Places& places, uint64_t rows, uint64_t file_size) {
  if (places.runs.empty()) return true;
  if (rows == 0 || places.run_rows == 0 || places.row_bytes == 0 || places.row_bytes > kMostRowBytes) return false;
  if (places.are_references && places.row_bytes != kReferenceBytes) return false;
  if (places.runs.size() != (rows - 1) / places.run_rows + 1) return false;
  for (size_t i = 0; i < places.runs.size(); ++i) {
    const uint64_t in_run = std::min(places.run_rows, rows - i * places.run_rows);
    if (places.runs[i] > file_size || in_run > (file_size - places.runs[i]) / places.row_bytes) return false;
  }
  return true;
}

std::string_view TextOf(const ChildAnswer& answer) {
  return {reinterpret_cast<const char*>(answer.data.get()), answer.size};
}

}  // namespace

Hdf5Reader::Hdf5Reader(std::shared_ptr<Store> store, std::string program, int children, absl::Duration cpu_time)
    : store_(std::move(store)), children_(ChildOptions(std::move(program), children, cpu_time)) {}

absl::StatusOr<ChildAnswer> Hdf5Reader::Ask(const File& file, Hdf5Request request, uint64_t most_bytes) {
  const ObjectInfo& shard = *file.shard;
  request.file = file.number;
  request.file_size = shard.size;
  const std::string message = SerializeRequest(request);
  // The store's errors name the shard by themselves.
  bool is_of_store = false;
  const auto fetch = [&](uint64_t offset, std::span<uint8_t> into) -> absl::Status {
    if (offset > shard.size || into.size() > shard.size - offset)
      return absl::DataLossError("the process that read it asked for what lies beyond its end");
    const absl::Status read = ReadNow(*store_, {&shard, offset, into});
    is_of_store = !read.ok();
    return read;
  };
  auto answer = children_.Ask({{reinterpret_cast<const uint8_t*>(message.data()), message.size()}}, most_bytes, fetch);
  if (answer.ok() || is_of_store) return answer;
  if (!absl::IsNotFound(answer.status())) return NamedError(shard.name, answer.status());
  return absl::FailedPreconditionError(absl::StrCat(
      "this build cannot read HDF5, since it was made without libhdf5: `./dev setup` gets it, and the next "
      "build has it (",
      answer.status().message(), ")"));
}

absl::StatusOr<std::vector<Hdf5Column>> Hdf5Reader::Describe(const File& file) {
  STOKER_ASSIGN_OR_RETURN(const ChildAnswer answer, Ask(file, {}, kMostColumnsAnswer));
  std::vector<Hdf5Column> columns;
  if (!ParseHdf5Columns(TextOf(answer), columns))
    return NamedError(file.shard->name, absl::DataLossError("what it has cannot be"));
  for (Hdf5Column& column : columns) {
    const bool can_be = column.rows <= kMostRows && column.block_rows <= column.rows;
    if (column.type != ColumnType::kOther && !can_be)
      return NamedError(file.shard->name, absl::DataLossError("what it has cannot be"));
    column.why = PrintableName(column.why);
  }
  return columns;
}

absl::StatusOr<std::vector<Hdf5Places>> Hdf5Reader::Places(const File& file, const std::vector<std::string>& paths,
                                                           uint64_t rows) {
  STOKER_ASSIGN_OR_RETURN(const ChildAnswer answer,
                          Ask(file, {.paths = paths, .asks_places = true}, kMostPlacesAnswer));
  std::vector<Hdf5Places> places;
  bool can_be = ParsePlaces(TextOf(answer), places) && places.size() == paths.size();
  for (const Hdf5Places& column : places) can_be = can_be && LieInFile(column, rows, file.shard->size);
  if (!can_be) return NamedError(file.shard->name, absl::DataLossError("what it has cannot be"));
  return places;
}

absl::StatusOr<std::unique_ptr<const RowGroup>> Hdf5Reader::Read(const File& file,
                                                                 const std::vector<std::string>& paths, uint64_t begin,
                                                                 uint64_t count) {
  const Hdf5Request request = {.begin = begin, .count = count, .most_bytes = kMostRowGroupBytes, .paths = paths};
  STOKER_ASSIGN_OR_RETURN(ChildAnswer answer, Ask(file, request, 2 * kMostRowGroupBytes));
  DecodedColumns columns;
  if (!ParseColumns(TextOf(answer), columns) || columns.rows != count || columns.columns.size() != paths.size())
    return NamedError(file.shard->name, absl::DataLossError("what was read of it cannot be"));
  return std::make_unique<const RowGroup>(std::move(answer), std::move(columns));
}

}  // namespace stoker
