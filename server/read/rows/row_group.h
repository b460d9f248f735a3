#ifndef STOKER_SERVER_READ_ROWS_ROW_GROUP_H_
#define STOKER_SERVER_READ_ROWS_ROW_GROUP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "server/read/child/child_process.h"
#include "server/read/rows/columns.h"

namespace stoker {

// The most that the values of one row group may take in memory.
inline constexpr uint64_t kMostRowGroupBytes = uint64_t{1} << 30;

// Decoded values of rows that follow each other in a file, of the wanted columns. Immutable.
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

}  // namespace stoker

#endif  // STOKER_SERVER_READ_ROWS_ROW_GROUP_H_
