#ifndef STOKER_SERVER_READ_REGISTRY_OPEN_DATASET_H_
#define STOKER_SERVER_READ_REGISTRY_OPEN_DATASET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/cached/raw_cache.h"
#include "server/read/dataset.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

class Staging;

// This folder alone knows all kinds of datasets. A new kind takes a message in proto/stoker/v1/config.proto, a folder
// under server/read/formats with a class derived from Dataset, and its lines in open_dataset.cc, which does not compile
// without them.

// Returns the dataset's name: the configured one, the base name of its folder, or "synthetic". Returns InvalidArgument
// where that is not 1 to 128 letters, digits, '.', '_' and '-', or starts with a dot. It touches no disk.
absl::StatusOr<std::string> DatasetName(const v1::DatasetConfig& config);

struct OpenDatasetOptions {
  std::string cache_dir;  // the folder that keeps manifests; where it is empty, none are kept
  int threads = 16;       // threads that index a folder; they wait for the disk rather than the CPU
  // If set, they are called now and then with the number of samples found, or read for their content, so far; by any
  // thread, but by one at a time.
  std::function<void(uint64_t files)> progress;
  std::function<void(uint64_t samples)> content_progress;
  std::shared_ptr<RawCache> raw_cache;  // keeps what is read from slow storage; null: nothing does
  // Where shards that are compressed as a whole are kept decompressed; null: they are refused.
  std::shared_ptr<Staging> staging = nullptr;
  // Returns a dataset that was opened before, by its name, or null: a mix is made of them.
  std::function<std::shared_ptr<const Dataset>(const std::string& name)> find =
      [](const std::string&) -> std::shared_ptr<const Dataset> { return nullptr; };
};

struct OpenedDataset {
  std::string name;
  std::unique_ptr<Dataset> dataset;
  std::vector<std::string> warnings;  // lines for the log
};

// Opens the source that `config` names, of whatever kind. Errors begin with the dataset's name and name the path or
// field that is wrong. Which codes they have, each kind's own header says.
absl::StatusOr<OpenedDataset> OpenDataset(const v1::DatasetConfig& config, const OpenDatasetOptions& options);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_REGISTRY_OPEN_DATASET_H_
