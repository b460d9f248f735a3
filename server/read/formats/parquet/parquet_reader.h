#ifndef STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_READER_H_
#define STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/child/child_pool.h"
#include "server/read/formats/parquet/messages.h"
#include "server/read/rows/row_group.h"
#include "server/read/stores/store.h"

namespace stoker {

// A row group as its shard's footer tells of it.
struct StoredRowGroup {
  const ObjectInfo* shard = nullptr;
  uint64_t rows = 0;
  std::string footer;                          // ParquetRowGroup::footer
  std::vector<DecodeRequest::Wanted> columns;  // that are wanted
  std::vector<ParquetChunk> chunks;            // of each of `columns`
};

// Whether what a footer says of places lies in its shard, whose name begins the error.
absl::Status CheckPlaces(const ParquetFooter& footer, const ObjectInfo& shard);

// Takes Parquet files apart, by children that run stoker-parquet: the server itself reads bytes from the store alone.
// Thread-safe. Messages of errors begin with the shard's name.
class ParquetReader {
 public:
  // Children that run `program` are at most so many, each for one call.
  ParquetReader(std::string program, int children);

  static std::string DefaultProgram() { return ChildProgram("stoker-parquet"); }

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
