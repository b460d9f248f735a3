#ifndef STOKER_SERVER_READ_FORMATS_TAR_WIDS_INDEX_H_
#define STOKER_SERVER_READ_FORMATS_TAR_WIDS_INDEX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// A shard of the JSON lists that webdataset's wids writes.
struct WidsShard {
  std::string name;      // below the folder of the list
  uint64_t samples = 0;  // that it has
};

// Parses {"wids_version": 1, "shardlist": [{"url": "a.tar", "nsamples": 1000}, …]}. InvalidArgument where it is no such
// list, or a URL leads anywhere but below the list's own folder. Any bytes are safe.
absl::StatusOr<std::vector<WidsShard>> ParseWidsIndex(std::string_view text);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TAR_WIDS_INDEX_H_
