#ifndef STOKER_SERVER_READ_REGISTRY_PREPARED_SHARDS_H_
#define STOKER_SERVER_READ_REGISTRY_PREPARED_SHARDS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "server/read/registry/open_source.h"
#include "server/read/stored/stored_dataset.h"

namespace stoker {

// Looks for the prepared.yaml that `stokerd prepare` leaves beside shards, and returns what was done to their images
// before; nothing where there is no such file, or images are stored as images. It is looked for where `source` lists
// it, or has only objects of one folder that are named as `stokerd prepare` does: a store may not be able to list.
// FailedPrecondition, which says what to do, where the shards may not be served (see CheckServable).
absl::StatusOr<std::optional<PreparedImages>> PreparedBeside(const Source& source);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_REGISTRY_PREPARED_SHARDS_H_
