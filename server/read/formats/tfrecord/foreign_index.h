#ifndef STOKER_SERVER_READ_FORMATS_TFRECORD_FOREIGN_INDEX_H_
#define STOKER_SERVER_READ_FORMATS_TFRECORD_FOREIGN_INDEX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/read/index/shard_index.h"

namespace stoker {

// The index files that DALI's and other tools' `tfrecord2idx` write: a line for each record with its offset and its
// bytes, framing included.

// Returns the names that the index of `shard` may have, beside it: "a.tfrecord.idx", "a.idx", "a.tfindex".
std::vector<std::string> ForeignIndexNames(const std::string& shard);

// Whether an object of that name is such an index.
bool IsForeignIndexName(std::string_view name);

// Adds the records that `text` tells of. Any bytes are safe. DataLoss where it does not fit a shard of `shard_bytes`:
// where records do not follow each other from its first byte to its last. So whatever it adds has the places that a
// walk would find, unless records disagree, which reading them notices.
absl::Status ParseForeignIndex(std::string_view text, uint64_t shard_bytes, ShardIndex::Rows& rows);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TFRECORD_FOREIGN_INDEX_H_
