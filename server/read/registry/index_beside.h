#ifndef STOKER_SERVER_READ_REGISTRY_INDEX_BESIDE_H_
#define STOKER_SERVER_READ_REGISTRY_INDEX_BESIDE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/formats/shard_format.h"
#include "server/read/index/first_reads.h"
#include "server/read/index/published_index.h"
#include "server/read/registry/open_source.h"

namespace stoker {

// The index that may lie beside the shards of a source: see PublishedIndex. What it says is compared with what the
// store says before it is used. Where it does not fit, the dataset is opened as if it were not there. Not thread-safe.
class IndexBeside {
 public:
  // Reads the index, if there is one in the source's root.
  static IndexBeside Find(const Source& source);

  // Whether there is one, of whatever state.
  bool is_there() const { return is_there_; }

  // Returns why one that is there cannot be read.
  const absl::Status& status() const { return status_; }

  // Returns the key of a DatasetConfig that names the shards' format. Requires is_there() and an OK status.
  const std::string& source() const { return index_.source; }

  // Fills in the objects of a source whose store cannot list (Source::is_unlisted) by the names that the index has.
  // Does nothing for others. The listing's error where there is no index, and the index's where it cannot be used.
  absl::Status NameShards(Source& source) const;

  // Returns a store through which a format is made: it has what the index remembers. `store` itself, and null, where
  // there is nothing.
  std::shared_ptr<ReplayingStore> Replaying(std::shared_ptr<Store> store);

  // Returns the body and forgets it: how the format keeps its index. FailedPrecondition where it is of another format
  // than the key `source` names; else the error of status().
  absl::StatusOr<std::string> TakeBody(const std::string& source);

  const IndexPlace& place() const { return place_; }

 private:
  bool is_there_ = false;
  absl::Status status_;
  PublishedIndex index_;
  IndexPlace place_;
};

// Returns what `body` says of the shards `objects`, which are in the bytewise order of their names; it may tell of
// others too. FailedPrecondition says what does not fit: other fields, an object that it lacks or that changed;
// DataLoss says what is damaged.
absl::StatusOr<ShardIndex> IndexFromBody(const std::string& body, const IndexPlace& place, const ShardFormat& format,
                                         const std::vector<ObjectInfo>& objects);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_REGISTRY_INDEX_BESIDE_H_
