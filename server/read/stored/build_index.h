#ifndef STOKER_SERVER_READ_STORED_BUILD_INDEX_H_
#define STOKER_SERVER_READ_STORED_BUILD_INDEX_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/formats/shard_format.h"
#include "server/read/index/shard_index.h"
#include "server/read/stores/store.h"

namespace stoker {

// Finds the samples of all shards by at most `threads` threads, each of which has one shard at a time. `objects` are in
// the bytewise order of their names. `progress`, if set, is called with the samples found so far, by one thread at a
// time. The first error ends it, and so does `stop`, if given, between shards: Cancelled.
absl::StatusOr<ShardIndex> BuildIndex(Store& store, const ShardFormat& format, std::vector<ObjectInfo> objects,
                                      int threads, const std::function<void(uint64_t samples)>& progress,
                                      const std::atomic<bool>* stop = nullptr);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORED_BUILD_INDEX_H_
