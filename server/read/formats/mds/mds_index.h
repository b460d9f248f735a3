#ifndef STOKER_SERVER_READ_FORMATS_MDS_MDS_INDEX_H_
#define STOKER_SERVER_READ_FORMATS_MDS_MDS_INDEX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// A column of each sample.
struct MdsColumn {
  std::string name;
  std::string encoding;  // "jpeg", "int", "ndarray:float32:3,2"
  uint64_t bytes = 0;    // of each value; 0 where each has its own size

  bool operator==(const MdsColumn&) const = default;
};

// What the index.json of an MDS dataset says (mosaicml-streaming, version 2). Hashes of shards are not looked at.
struct MdsIndex {
  struct Shard {
    std::string name;    // relative to index.json's folder
    uint64_t bytes = 0;  // of the shard, uncompressed
    uint64_t samples = 0;
    std::string compression;  // empty where there is none
  };
  std::vector<MdsColumn> columns;  // of all shards, in the order in which they are stored
  std::vector<Shard> shards;
};

// The largest index.json that is read, in bytes.
inline constexpr uint64_t kMostMdsIndexBytes = uint64_t{64} << 20;

// Parses an index.json. Any bytes are safe. DataLoss says which shard, by its place, and which key is wrong: another
// version or format, names that lead elsewhere than below the folder, shards whose columns differ.
absl::StatusOr<MdsIndex> ParseMdsIndex(std::string_view text);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_MDS_MDS_INDEX_H_
