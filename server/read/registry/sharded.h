#ifndef STOKER_SERVER_READ_REGISTRY_SHARDED_H_
#define STOKER_SERVER_READ_REGISTRY_SHARDED_H_

#include <memory>

#include "absl/status/statusor.h"
#include "server/read/formats/parquet/parquet_dataset.h"
#include "server/read/staged/staging.h"
#include "server/read/stored/stored_dataset.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// This file and its .cc alone know all formats of shards. A new one takes a folder under server/read/formats with a
// class derived from ShardFormat, a message in proto/stoker/v1/config.proto, its lines in CreateFormat, and one in
// FindFormat.

// Opens the dataset whose format and paths `config` names. Errors name the key or object at fault.
// Shards that are compressed as a whole are staged, or refused without a `staging`.
absl::StatusOr<std::unique_ptr<StoredDataset>> OpenShards(const v1::DatasetConfig& config,
                                                          const StoredDataset::Options& options,
                                                          std::shared_ptr<Staging> staging = nullptr);

// Opens the Parquet files that `config` names. They are none of StoredDataset's shards, whose samples are ranges.
absl::StatusOr<std::unique_ptr<ParquetDataset>> OpenParquet(const v1::DatasetConfig& config,
                                                            const ParquetDataset::Options& options);

// Returns `config`, which says `data`, with the format in its place that the objects there have. InvalidArgument says
// what is there where no format is known for it.
absl::StatusOr<v1::DatasetConfig> FindFormat(const v1::DatasetConfig& config);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_REGISTRY_SHARDED_H_
