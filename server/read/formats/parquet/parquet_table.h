#ifndef STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_TABLE_H_
#define STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/formats/parquet/messages.h"
#include "server/read/formats/parquet/parquet_columns.h"
#include "server/read/index/published_index.h"
#include "server/read/stores/store.h"

namespace stoker {

// The index of Parquet files: what their footers say, and what the first row group shows of the columns. It does not
// depend on which columns are wanted. A value type.
struct ParquetTable {
  struct Shard {
    ObjectInfo object;
    ParquetFooter footer;
  };
  std::vector<Shard> shards;  // in the bytewise order of their names

  // Says what the columns of the first shard that has rows are, as its first row group with rows shows them. A column
  // that nobody decoded is unknown.
  std::vector<ParquetColumnFacts> facts;
};

// The table as bytes: PublishedIndex::body, and so in the files that keep one. Of each number u64, little-endian:
//
//   shards   their number, and for each: its name, size and version; SerializeFooter's bytes
//   facts    their number, and for each: u8 which of its bits are set, the extents' number and each of them
//
// where names and bytes come after their number.
std::string SerializeTable(const ParquetTable& table);

// Any bytes are safe to parse, and parsing allocates no more than a small multiple of their number. DataLoss for those
// that are no table: footers that do not parse, or tell of what lies outside of their shards.
absl::StatusOr<ParquetTable> ParseTable(std::string_view bytes);

// Keeps of `table` the shards `objects`, which are in the bytewise order of their names, as they are now.
// FailedPrecondition names one that it lacks or that changed (CheckUnchanged).
absl::Status KeepShards(const std::vector<ObjectInfo>& objects, const IndexPlace& place, ParquetTable& table);

// Returns where the table of the shards `objects` is kept: a name by a hash of the store and the shards' names.
std::string TablePath(const std::string& cache_dir, const std::string& store, const std::vector<ObjectInfo>& objects);

// Reads the file at `path`, which only this server and its administrator may write. NotFound where there is none,
// PermissionDenied where others may write it, FailedPrecondition where it is of other shards or they have changed.
absl::StatusOr<ParquetTable> LoadTable(const std::string& path, const std::string& store,
                                       const std::vector<ObjectInfo>& objects);

// Writes the file at `path` in one step. Errors name it.
absl::Status StoreTable(const std::string& path, const std::string& store, const ParquetTable& table);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_PARQUET_PARQUET_TABLE_H_
