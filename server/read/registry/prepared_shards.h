#ifndef STOKER_SERVER_READ_REGISTRY_PREPARED_SHARDS_H_
#define STOKER_SERVER_READ_REGISTRY_PREPARED_SHARDS_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/registry/open_source.h"
#include "server/read/stored/stored_dataset.h"
#include "stoker/v1/prepared.pb.h"

namespace stoker {

// What `stokerd prepare` says of shards. A plain value.
struct PreparedShards {
  std::optional<PreparedImages> images;     // what was done to their images before; nothing where images are images
  std::vector<v1::PreparedColumn> columns;  // what the fields became, where they are others than image and label
};

// Looks for the prepared.yaml that `stokerd prepare` leaves beside shards, and returns what it says; nothing of it
// where there is no such file. It is looked for where `source` lists it, or has only objects of one folder that are
// named as `stokerd prepare` does: a store may not be able to list. FailedPrecondition, which says what to do, where
// the shards may not be served (see CheckServable).
absl::StatusOr<PreparedShards> PreparedBeside(const Source& source);

// Returns `config` with the fields that tar shards were prepared of, unless it has some.
v1::DatasetConfig WithFields(v1::DatasetConfig config, const std::vector<v1::PreparedColumn>& columns);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_REGISTRY_PREPARED_SHARDS_H_
