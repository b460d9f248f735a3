#ifndef STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_READER_H_
#define STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/child/child_pool.h"
#include "server/read/formats/parquet/messages.h"
#include "server/read/stores/store.h"

namespace stoker {

// The most that the values of one row group may take in memory: see ParquetReader::Decode.
inline constexpr uint64_t kMostRowGroupBytes = uint64_t{1} << 30;

// The decoded values of the wanted columns of one row group. Immutable.
class RowGroup {
 public:
  // The answer must be of the columns `columns` tells of, which point into it.
  RowGroup(ChildAnswer answer, DecodedColumns columns);

  uint64_t rows() const { return columns_.rows; }
  // Returns the shape that lists of the column have; empty where there are none or no row has a value.
  const std::vector<int64_t>& ShapeOf(size_t column) const { return columns_.columns[column].shape; }
  // Returns the size of a row's value, or one of kNullRow and its like.
  uint32_t SizeOf(size_t column, uint64_t row) const { return columns_.columns[column].sizes[row]; }
  // Requires that the row has a value.
  std::span<const uint8_t> ValueOf(size_t column, uint64_t row) const;

  // Returns the bytes of memory that it holds.
  uint64_t resident_bytes() const;

 private:
  const ChildAnswer answer_;
  const DecodedColumns columns_;
  std::vector<std::vector<uint64_t>> begins_;  // of each column's rows, constant after construction
};

// A row group as its shard's footer tells of it.
struct StoredRowGroup {
  const ObjectInfo* shard = nullptr;
  uint64_t rows = 0;
  std::string footer;                          // ParquetRowGroup::footer
  std::vector<DecodeRequest::Wanted> columns;  // that are wanted
  std::vector<ParquetChunk> chunks;            // of each of `columns`
};

// Takes Parquet files apart, by children that run stoker-parquet: the server itself reads bytes from the store alone.
// Thread-safe. Messages of errors begin with the shard's name.
class ParquetReader {
 public:
  // Children that run `program` are at most so many, each for one call.
  ParquetReader(std::string program, int children);

  // Returns where builds and installations have stoker-parquet: in lib/stoker, beside the folder of this program.
  static std::string DefaultProgram();

  // Reads what the footer of `shard` tells of. What it says of places lies in the shard. DataLoss for what is no
  // Parquet file; FailedPrecondition where this build has no program for it; else the store's errors and ChildPool's.
  absl::StatusOr<ParquetFooter> ReadFooter(Store& store, const ObjectInfo& shard);

  // Reads the chunks of a row group and decodes them. Errors are those of the store, and ChildPool's, which name the
  // row group `number`.
  absl::StatusOr<std::unique_ptr<const RowGroup>> Decode(Store& store, const StoredRowGroup& group, uint64_t number);

 private:
  ChildPool children_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_READER_H_
