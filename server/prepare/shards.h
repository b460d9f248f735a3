#ifndef STOKER_SERVER_PREPARE_SHARDS_H_
#define STOKER_SERVER_PREPARE_SHARDS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "server/prepare/output_folder.h"
#include "server/prepare/prepare.h"
#include "server/prepare/sample_source.h"
#include "server/prepare/shard_columns.h"

namespace stoker {

// The file beside shards that has the names of the classes, one a line, in the order of their labels (see
// PrintableName).
inline constexpr char kClassesFile[] = "classes.txt";

// Groups the samples of `source` into shards in `out`, with a column for each field: the second half of Prepare where
// options.format is one of shards. `prepared` has the validated mode and the format.
//
// Samples are in the source's order, cut where a shard would exceed options.shard_bytes. The bytes of shards do not
// depend on the number of workers, nor on where an earlier run was stopped. Each shard appears whole. Shards that exist
// are never changed: samples that the source got since go into new ones.
//
// FailedPrecondition, with what to do, where samples that are in shards have gone or changed, or classes have come that
// change labels. One shard and some samples for each worker are in memory.
absl::StatusOr<PrepareReport> PrepareShards(const PrepareOptions& options, const v1::Prepared& prepared,
                                            const SampleSource& source, std::vector<ShardColumn> columns,
                                            OutputFolder out);

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_SHARDS_H_
