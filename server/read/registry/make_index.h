#ifndef STOKER_SERVER_READ_REGISTRY_MAKE_INDEX_H_
#define STOKER_SERVER_READ_REGISTRY_MAKE_INDEX_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

struct MakeIndexProgress {
  uint64_t samples = 0;  // found so far
  uint64_t shards = 0;   // that they are in
  uint64_t of = 0;       // shards in all
};

struct MakeIndexOptions {
  int threads = 16;  // threads that index shards
  // If set, it is called now and then, by any thread, but by one at a time.
  std::function<void(const MakeIndexProgress&)> progress = nullptr;
  bool must_be_local = false;               // a store that is not is an error, which says that --output has to be given
  const std::atomic<bool>* stop = nullptr;  // once it is true, the result is Cancelled
};

// An index to lie beside its shards (PublishedIndex).
struct MadeIndex {
  std::string bytes;  // of the file
  uint64_t samples = 0, shards = 0;
  std::string description;  // what was indexed, and where it lies
  std::string place;        // where the file belongs: "/data/train/stoker.index", "s3://bucket/train/stoker.index"
  std::vector<std::string> warnings;
};

// Indexes the shards of the dataset that `config` names, whatever index of them there is. Errors are those of opening
// it, and Unimplemented for what has no shards, or has them compressed as a whole.
absl::StatusOr<MadeIndex> MakeIndex(const v1::DatasetConfig& config, const MakeIndexOptions& options);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_REGISTRY_MAKE_INDEX_H_
