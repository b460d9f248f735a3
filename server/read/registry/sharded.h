#ifndef STOKER_SERVER_READ_REGISTRY_SHARDED_H_
#define STOKER_SERVER_READ_REGISTRY_SHARDED_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/formats/hdf5/hdf5_dataset.h"
#include "server/read/formats/parquet/parquet_dataset.h"
#include "server/read/formats/shard_format.h"
#include "server/read/registry/open_source.h"
#include "server/read/staged/staged_store.h"
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

// Returns the paths of a dataset of shards.
std::vector<std::string> ShardPaths(const v1::DatasetConfig& config);

// Makes the format that `config` names for the objects of `source`, whose store is `staged`. Drops those that are none
// of its shards, and stages those that are compressed.
absl::StatusOr<std::unique_ptr<ShardFormat>> CreateFormat(const v1::DatasetConfig& config, StagedStore& staged,
                                                          Source& source);

// Returns the key of `config` that names the format: "webdataset".
std::string SourceKey(const v1::DatasetConfig& config);

// Finds the Parquet files that `config` names.
absl::StatusOr<Source> FindParquet(const v1::DatasetConfig& config);

// Opens the HDF5 files that `config` names, likewise. Those that are not local are staged, or refused without a
// `staging`.
absl::StatusOr<std::unique_ptr<Hdf5Dataset>> OpenHdf5(const v1::DatasetConfig& config,
                                                      const Hdf5Dataset::Options& options,
                                                      std::shared_ptr<Staging> staging = nullptr);

// Returns `config`, which says `data`, with the format in its place that the objects there have. InvalidArgument says
// what is there where no format is known for it.
absl::StatusOr<v1::DatasetConfig> FindFormat(const v1::DatasetConfig& config);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_REGISTRY_SHARDED_H_
