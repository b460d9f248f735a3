#ifndef STOKER_SERVER_READ_INDEX_INDEX_FILE_H_
#define STOKER_SERVER_READ_INDEX_INDEX_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/index/shard_index.h"

namespace stoker {

// Files that keep an index of shards.
//
// In the layout u32 and u64 are little-endian. "bytes" stands for their number (u64), followed by the bytes themselves.
//
//   magic              16 bytes, "STOKER SHARDS 1\n"
//   file size          u64, with the magic and the checksum
//   store, format      bytes: IndexKey
//   shards             u64, and for each: bytes name, u64 size, bytes version, u64 one past the id of its last sample
//   parts              u64, of each sample
//   samples            u64 N
//   offsets            N × u64
//   sizes              N × u32
//   parts              N × parts × (u32 offset, u32 size)
//   names              bytes
//   name ends          u64, N or 0, and for each: u64
//   checksum           u64, XXH3-64 of all the bytes before
//
// The checksum finds damage, not malice. So an index that anybody else could have written is not read (OpenOwn).

// What an index in the cache is of.
struct IndexKey {
  std::string store;   // Store::description
  std::string format;  // ShardFormat::identity
};

// Returns where the index of the shards `objects` is kept: a name by a hash of the key and the shards' names.
std::string IndexPath(const std::string& cache_dir, const IndexKey& key, const std::vector<ObjectInfo>& objects);

std::string SerializeIndex(const IndexKey& key, const ShardIndex& index);

// An index as a file has it.
struct KeptIndex {
  IndexKey key;
  ShardIndex index;
};

// Returns the index that `bytes` hold, of whatever shards. Any bytes are safe to parse, and parsing allocates no more
// than a small multiple of their number. DataLoss for bytes that are damaged or no index.
absl::StatusOr<KeptIndex> ParseAnyIndex(std::string_view bytes);

// The same for one of `key` and of the shards `objects`. FailedPrecondition for one of another key, or of other shards:
// other names, sizes or versions.
absl::StatusOr<ShardIndex> ParseIndex(std::string_view bytes, const IndexKey& key,
                                      const std::vector<ObjectInfo>& objects);

// Reads the file at `path` as ParseIndex does; NotFound where there is none, PermissionDenied where others may write
// it.
absl::StatusOr<ShardIndex> LoadIndex(const std::string& path, const IndexKey& key,
                                     const std::vector<ObjectInfo>& objects);

// Writes the file at `path` in one step. Errors name it.
absl::Status StoreIndex(const std::string& path, const IndexKey& key, const ShardIndex& index);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_INDEX_INDEX_FILE_H_
