#ifndef STOKER_SERVER_PREPARE_SHARDS_H_
#define STOKER_SERVER_PREPARE_SHARDS_H_

#include "absl/status/statusor.h"
#include "server/prepare/output_folder.h"
#include "server/prepare/prepare.h"
#include "server/read/formats/folder/image_folder.h"

namespace stoker {

// The file beside shards that has the names of the classes, one a line, in the order of their labels (see
// PrintableName).
inline constexpr char kClassesFile[] = "classes.txt";

// Groups the files of `source` into shards in `out`: the second half of Prepare where options.format is one of shards.
// `prepared` has the validated mode and the format.
//
// Files are in the source's order, cut where a shard would exceed options.shard_bytes. The bytes of shards do not
// depend on the number of workers, nor on where an earlier run was stopped. Each shard appears whole. Shards that exist
// are never changed: files that the source got since go into new ones.
//
// FailedPrecondition, with what to do, where files that are in shards have gone or changed, or classes have come that
// change labels. One shard and some files for each worker are in memory.
absl::StatusOr<PrepareReport> PrepareShards(const PrepareOptions& options, const v1::Prepared& prepared,
                                            const ImageFolder& source, OutputFolder out);

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_SHARDS_H_
